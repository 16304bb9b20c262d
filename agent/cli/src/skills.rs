//! The skills of the user and of the project. Without the feature `skill`, there are none.

#[cfg(not(feature = "skill"))]
mod absent;
#[cfg(feature = "skill")]
mod library;
#[cfg(feature = "skill")]
mod report;
#[cfg(feature = "skill")]
mod session;

#[cfg(not(feature = "skill"))]
pub(crate) use absent::{
    Library, control_files, findings, insert, report, section, warn, warn_for,
};
#[cfg(feature = "skill")]
use library::clash_text;
#[cfg(feature = "skill")]
pub(crate) use library::{Library, Shelved, approval_command};
#[cfg(feature = "skill")]
pub(crate) use report::{findings, report};
#[cfg(feature = "skill")]
pub(crate) use session::{control_files, insert, section, warn, warn_for};
