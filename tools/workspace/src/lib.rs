#![doc = include_str!("../README.md")]

mod hidden;
mod kinds;
mod loaded_by_name;
mod workspace;

pub use hidden::{HiddenSnapshot, Identity};
pub use kinds::{is_output, is_repository_data, is_repository_setting, is_script, reads_as_script};
pub use loaded_by_name::is_loaded_by_name;
pub use workspace::Workspace;
