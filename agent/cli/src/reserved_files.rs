//! Creates the missing files of secrets and channels inside the root.
//!
//! The walls of programs hide files that exist. A program could create a missing one, and choose thereby what a later session takes for a
//! secret, for the address of a channel or for messages from outside.

use std::path::Path;

use tools::Services;
#[cfg(feature = "builtin")]
use tools_store::private;

use crate::error::Error;

/// Creates each of these files that is missing and lies inside the root: empty, and for the user alone.
///
/// # Errors
/// Returns an error that names the file if it cannot be created.
#[cfg(feature = "builtin")]
pub(crate) fn create<'a>(services: &Services, files: impl Iterator<Item = &'a Path>) -> Result<(), Error> {
    let Some(workspace) = services.get::<tools_builtin::fs::Workspace>() else { return Ok(()) };
    for file in files.filter(|file| !file.exists() && !workspace.paths_to(file).is_empty()) {
        let parent = file.parent().filter(|parent| !parent.exists());
        let created = parent.map_or(Ok(()), private::prepare_folder).and_then(|()| private::create_file(file));
        created.map_err(|error| Error::Reserved { path: file.to_owned(), reason: error.to_string() })?;
    }
    Ok(())
}

#[cfg(not(feature = "builtin"))]
pub(crate) fn create<'a>(_services: &Services, _files: impl Iterator<Item = &'a Path>) -> Result<(), Error> {
    Ok(())
}
