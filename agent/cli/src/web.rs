//! The HTTP client, the search backend and the channels of tools. Without the feature `web`, there is none of them.

#[cfg(not(feature = "web"))]
mod absent;
#[cfg(feature = "web")]
mod channels;
#[cfg(feature = "web")]
mod client;
#[cfg(feature = "web")]
mod report;
#[cfg(feature = "web")]
mod search;
#[cfg(feature = "web")]
mod services;

#[cfg(not(feature = "web"))]
pub(crate) use absent::{access, channel_names, faults, insert, missing_channels, report, warn_missing, with_replies};
#[cfg(all(feature = "journal", feature = "web"))]
pub(crate) use channels::find as find_channel;
#[cfg(feature = "web")]
pub(crate) use channels::{missing as missing_channels, names as channel_names, with_replies};
#[cfg(feature = "tts")]
pub(crate) use client::backend_client;
#[cfg(all(feature = "mcp", feature = "web"))]
pub(crate) use client::server_options;
#[cfg(feature = "web")]
pub(crate) use report::{faults, report, warn_missing};
#[cfg(feature = "tts")]
pub(crate) use search::{unusable, with_targets};
#[cfg(feature = "web")]
pub(crate) use services::{access, insert};
