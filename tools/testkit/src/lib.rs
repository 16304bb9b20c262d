#![doc = include_str!("../README.md")]

mod approver;
mod host;
mod house_rules;
#[cfg(feature = "http")]
pub mod http;
mod into_catalog;
mod person;
mod progress;
mod screen;
mod workspace;

pub use approver::{RecordedApproval, RecordingApprover};
pub use host::TestHost;
pub use house_rules::HouseRules;
pub use into_catalog::IntoCatalog;
pub use person::RecordingPerson;
pub use progress::{RecordedProgress, RecordingProgress};
pub use screen::Screen;
pub use tools::lint::{Fault, LintRule};
pub use workspace::TempWorkspace;
