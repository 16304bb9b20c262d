#![doc = include_str!("../README.md")]

mod hidden;
mod kinds;
mod workspace;

pub use hidden::{HiddenSnapshot, Identity};
pub use kinds::{is_output, is_repository_data, is_repository_setting, is_script, reads_as_script};
pub use workspace::Workspace;
