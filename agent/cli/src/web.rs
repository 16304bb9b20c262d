//! The HTTP client and the search backend of tools. Without the feature `web`, there is neither.

#[cfg(not(feature = "web"))]
mod absent;
#[cfg(feature = "web")]
mod client;
#[cfg(feature = "web")]
mod report;
#[cfg(feature = "web")]
mod search;
#[cfg(feature = "web")]
mod services;

#[cfg(not(feature = "web"))]
pub(crate) use absent::{access, faults, insert, report, warn_missing};
#[cfg(feature = "tts")]
pub(crate) use client::backend_client;
#[cfg(all(feature = "mcp", feature = "web"))]
pub(crate) use client::server_options;
#[cfg(feature = "web")]
pub(crate) use report::{faults, report, warn_missing};
#[cfg(feature = "web")]
pub(crate) use search::access;
#[cfg(feature = "tts")]
pub(crate) use search::{unusable, with_targets};
#[cfg(feature = "web")]
pub(crate) use services::insert;
