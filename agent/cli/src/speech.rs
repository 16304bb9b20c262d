//! The service of `tts.speak`, from the settings. Without the feature `tts`, there is none.

#[cfg(not(feature = "tts"))]
mod absent;
#[cfg(feature = "tts")]
mod report;
#[cfg(feature = "tts")]
mod service;

#[cfg(not(feature = "tts"))]
pub(crate) use absent::{access, fault, faults, insert, is_missing, report};
#[cfg(feature = "tts")]
pub(crate) use report::{fault, faults, is_missing, report};
#[cfg(feature = "tts")]
pub(crate) use service::{access, insert};
