//! The file of memories in the user's data folder.

use std::path::Path;

use tools::{Services, ToolContext};
use tools_builtin::memory::{Counts, Memory};

use crate::error::Error;
use crate::{notice, program};
use host::folders;

/// Returns the memories of the user, for a command of their own.
///
/// # Errors
/// Returns an error if there is no folder for them.
pub(crate) fn own() -> Result<Memory, Error> {
    Ok(Memory::new(
        folders::data().ok_or(Error::NoData)?.join("memory.sqlite"),
    ))
}

/// Adds the memories of a session in this root, unless the program has its own.
pub(crate) fn insert(services: &mut Services, root: &Path) {
    if services.get::<Memory>().is_some() {
        return;
    }
    match own() {
        Ok(memory) => services.insert(memory.with_project(root)),
        Err(error) => services.insert_absent::<Memory>(error.to_string()),
    }
}

/// Returns the memories with which a session begins.
pub(crate) fn digest(cx: &ToolContext) -> String {
    let Some(memory) = cx.service::<Memory>() else {
        return String::new();
    };
    let digest = memory.digest(cx).unwrap_or_else(|error| {
        notice::warning(&format!("the session begins without memories: {error}"));
        None
    });
    digest.unwrap_or_default()
}

/// Returns the line of `doctor`.
pub(crate) fn report() -> Vec<String> {
    let Ok(counts) = counts() else {
        return Vec::new();
    };
    let waiting = match counts.unconfirmed {
        0 => String::new(),
        unconfirmed => {
            format!(
                ", {unconfirmed} of them not confirmed: {} memory list --unconfirmed",
                program::name()
            )
        }
    };
    vec![format!("memories: {}{waiting}", counts.all)]
}

/// Returns the reason why the memories cannot be used.
pub(crate) fn fault() -> Option<String> {
    counts().err().map(|error| error.to_string())
}

fn counts() -> Result<Counts, Error> {
    Ok(own()?.counts()?)
}
