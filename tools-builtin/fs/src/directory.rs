//! A directory, made with those above it.

use tools::{Access, ToolContext};

use crate::Workspace;
use crate::error::FsError;
use crate::kind::Kind;
use crate::path::RelativePath;
use crate::slot::{Missing, Slot, Way, make};

/// Makes a directory and those above it, as far as they are missing.
pub(crate) fn made(cx: &ToolContext, workspace: &Workspace, path: &RelativePath) -> Result<(), FsError> {
    let mut made = Vec::new();
    put(cx, workspace, path, &mut made).map_err(|error| error.after_making(&made))
}

fn put(
    cx: &ToolContext,
    workspace: &Workspace,
    path: &RelativePath,
    made: &mut Vec<RelativePath>,
) -> Result<(), FsError> {
    let way = Way { accesses: &[Access::Write], follow: true, missing: Missing::Made };
    let slot = Slot::find_or_make(cx, workspace, path, way, made)?;
    match slot.kind {
        Some(Kind::Directory) => Ok(()),
        Some(kind) => Err(FsError::Taken { path: slot.path, kind, advice: "choose another path for the directory" }),
        None => {
            cx.check_cancelled()?;
            make(cx, &slot.parent, &slot.name, &slot.path, made).map(drop)
        }
    }
}
