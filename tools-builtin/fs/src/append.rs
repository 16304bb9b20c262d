//! Appending to a file.

use std::io::ErrorKind;

use tools::{Access, ToolContext};

use crate::Workspace;
use crate::draft::Draft;
use crate::error::FsError;
use crate::path::RelativePath;
use crate::slot::{FindOptions, IfMissing, Slot};
use crate::whole_file;

/// The maximum number of attempts if others change the file meanwhile.
const ATTEMPTS: usize = 100;

/// Appends to a file atomically. Creates it and its missing parent directories.
pub(crate) fn append_atomically(
    cx: &ToolContext,
    workspace: &Workspace,
    path: &RelativePath,
    content: &[u8],
) -> Result<(), FsError> {
    let mut created = Vec::new();
    let appended = append(cx, workspace, path, content, &mut created);
    appended.map_err(|error| error.with_created_dirs(&created))
}

fn append(
    cx: &ToolContext,
    workspace: &Workspace,
    path: &RelativePath,
    content: &[u8],
    created: &mut Vec<RelativePath>,
) -> Result<(), FsError> {
    for _ in 0..ATTEMPTS {
        match try_append(cx, workspace, path, content, created) {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            // Others removed the file after it was found.
            Err(FsError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Err(FsError::Changed { path: path.clone() })
}

/// Returns false and changes nothing if others changed the file meanwhile.
fn try_append(
    cx: &ToolContext,
    workspace: &Workspace,
    path: &RelativePath,
    content: &[u8],
    created: &mut Vec<RelativePath>,
) -> Result<bool, FsError> {
    let options = FindOptions::following(&[Access::Write], IfMissing::CreateDirs);
    let slot = Slot::find_or_create(cx, workspace, path, options, created)?;
    let before = if slot.is_file()? {
        Some(whole_file::read(&slot)?)
    } else {
        None
    };
    let after = [before.as_deref().unwrap_or_default(), content].concat();
    let draft = Draft::new(workspace, &slot, &after)?;
    let _changing = workspace.lock_changes();
    cx.check_cancelled()?;
    // Others may have appended before the lock. The draft of a new file never replaces one.
    let is_current =
        before.is_none_or(|before| whole_file::read(&slot).is_ok_and(|now| now == before));
    Ok(is_current && draft.commit()?)
}
