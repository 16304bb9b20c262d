//! Creates directories with their parents.

use tools::{Access, ToolContext};

use crate::Workspace;
use crate::error::FsError;
use crate::kind::Kind;
use crate::path::RelativePath;
use crate::slot::{FindOptions, IfMissing, Slot, create_dir};

/// Creates a directory and its missing parents.
pub(crate) fn create(
    cx: &ToolContext,
    workspace: &Workspace,
    path: &RelativePath,
) -> Result<(), FsError> {
    let mut created = Vec::new();
    try_create(cx, workspace, path, &mut created).map_err(|error| error.with_created_dirs(&created))
}

fn try_create(
    cx: &ToolContext,
    workspace: &Workspace,
    path: &RelativePath,
    created: &mut Vec<RelativePath>,
) -> Result<(), FsError> {
    let options = FindOptions::following(&[Access::Write], IfMissing::CreateDirs);
    let slot = Slot::find_or_create(cx, workspace, path, options, created)?;
    match slot.kind {
        Some(Kind::Directory) => Ok(()),
        Some(kind) => Err(FsError::Taken {
            path: slot.path,
            kind,
            advice: "choose another path for the directory",
        }),
        None => {
            cx.check_cancelled()?;
            create_dir(cx, &slot.parent, &slot.name, &slot.path, created).map(drop)
        }
    }
}
