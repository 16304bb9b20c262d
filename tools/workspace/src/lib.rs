#![doc = include_str!("../README.md")]

mod hidden;
mod kinds;
mod loaded_by_name;
mod stray_link;
mod workspace;

pub use hidden::{HiddenSnapshot, Identity};
pub use kinds::{
    is_checkout, is_folder_of_git, is_output, is_repository_data, is_repository_folder,
    is_repository_part, is_repository_setting, is_script, reads_as_script,
};
pub use loaded_by_name::is_loaded_by_name;
pub use stray_link::leads_astray;
pub use workspace::Workspace;
