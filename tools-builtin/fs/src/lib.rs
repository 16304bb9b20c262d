#![doc = include_str!("../README.md")]

#[cfg(target_os = "linux")]
mod abandoned;
mod confined;
mod diff;
mod directory;
mod draft;
mod draft_name;
mod edit;
mod encoding;
mod error;
mod excerpt;
mod glob;
mod hidden;
mod ignored;
mod kind;
mod line_end;
mod list;
mod nearest;
mod note;
mod path;
mod pattern;
mod picture;
mod place;
mod read;
mod relocate;
mod remove;
mod rename;
mod replacement;
mod rule;
mod scan;
mod search;
mod slot;
mod subtree;
mod tree;
mod view;
mod workspace;
mod write;

#[cfg(test)]
mod fixture;

use tools::{Catalog, RegisterError};

pub use kind::Kind;
pub use list::DirEntry;
pub use workspace::Workspace;

/// Adds the tools of this crate to a catalog, for hosts that do not rely on linking.
///
/// # Errors
/// [`RegisterError`] when a name is taken; the catalog is then as it was.
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
