//! The file of memories in the user's data folder.

use std::path::{Path, PathBuf};

use tools::{Services, ToolContext};
use tools_builtin::memory::Memory;

use crate::{folders, notice, program};

const ABSENT: &str = "there is no folder for the memories of this user; set HOME";

fn file() -> Option<PathBuf> {
    Some(folders::data()?.join("memory.sqlite"))
}

/// Returns the memories of the user, for a command of their own. Returns `None` if there is no folder for them.
pub(crate) fn own() -> Option<Memory> {
    file().map(Memory::new)
}

/// Adds the memories of a session in this root, unless the program has its own.
pub(crate) fn insert(services: &mut Services, root: &Path) {
    if services.get::<Memory>().is_some() {
        return;
    }
    match own() {
        Some(memory) => services.insert(memory.with_project(root)),
        None => services.insert_absent::<Memory>(ABSENT),
    }
}

/// Returns the memories with which a session begins.
pub(crate) fn digest(cx: &ToolContext) -> String {
    let Some(memory) = cx.service::<Memory>() else { return String::new() };
    let digest = memory.digest(cx).unwrap_or_else(|error| {
        notice::warning(&format!("the session begins without memories: {error}"));
        None
    });
    digest.unwrap_or_default()
}

/// Returns the line of `doctor`.
pub(crate) fn report() -> Vec<String> {
    let Some(Ok(counts)) = own().map(|memory| memory.counts()) else { return Vec::new() };
    let waiting = match counts.unconfirmed {
        0 => String::new(),
        unconfirmed => {
            format!(", {unconfirmed} of them not confirmed: {} memory list --unconfirmed", program::name())
        }
    };
    vec![format!("memories: {}{waiting}", counts.all)]
}

/// Returns the reason why the memories cannot be used.
pub(crate) fn fault() -> Option<String> {
    own().map_or_else(|| Some(ABSENT.to_owned()), |memory| memory.counts().err().map(|error| error.to_string()))
}
