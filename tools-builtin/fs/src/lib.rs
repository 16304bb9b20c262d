#![doc = include_str!("../README.md")]

#[cfg(target_os = "linux")]
mod abandoned;
mod counted;
mod diff;
mod draft;
mod draft_name;
mod edit;
mod encoding;
mod error;
mod excerpt;
mod extension;
mod files;
mod glob;
mod hidden;
mod ignore_rule;
mod ignore_rules;
mod kind;
mod lines;
mod list;
mod listing;
mod nearest;
mod new_script;
mod path;
mod planned_move;
mod planned_removal;
mod planned_write;
mod read;
mod relocate;
mod removal_question;
mod remove;
mod rename;
mod replacement;
mod repository;
mod resolved_entry;
mod scan;
mod search;
mod shown;
mod slot;
mod stray_link;
mod subtree;
mod text_style;
mod tree_walk;
mod view;
mod whole_file;
mod workspace;
mod workspace_access;
mod write;

#[cfg(test)]
mod fixture;

use tools::{Catalog, RegisterError};

pub use kind::Kind;
pub use listing::DirEntry;
pub use new_script::reads_as_script;
pub use removal_question::is_output;
pub use repository::{
    is_checkout, is_folder_of_git, is_repository_data, is_repository_part, is_repository_setting,
};
pub use stray_link::leads_astray;
pub use workspace::Workspace;

/// Registers the tools of this crate in a catalog, for hosts that do not rely on link-time registration.
///
/// # Errors
/// Returns [`RegisterError`] if a name is taken. The catalog is then unchanged.
pub fn register(catalog: &mut Catalog) -> Result<(), RegisterError> {
    catalog.submit(&[
        &edit::EDIT_TOOL,
        &glob::GLOB_TOOL,
        &list::LIST_TOOL,
        &read::READ_TOOL,
        &relocate::RELOCATE_TOOL,
        &remove::REMOVE_TOOL,
        &search::SEARCH_TOOL,
        &write::WRITE_TOOL,
    ])
}
