//! The skills of the user and of the project. In the lean build, there are none.

#[cfg(not(feature = "default"))]
mod absent;
#[cfg(feature = "default")]
mod library;
#[cfg(feature = "default")]
mod report;
#[cfg(feature = "default")]
mod session;

#[cfg(not(feature = "default"))]
pub(crate) use absent::{
    Library, control_files, findings, insert, report, section, warn, warn_for,
};
#[cfg(feature = "default")]
use library::clash_text;
#[cfg(feature = "default")]
pub(crate) use library::{Library, Shelved, approval_command};
#[cfg(feature = "default")]
pub(crate) use report::{findings, report};
#[cfg(feature = "default")]
pub(crate) use session::{control_files, insert, section, warn, warn_for};
