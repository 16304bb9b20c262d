//! The contents of files that a command runs.

use std::fs;
use std::path::Path;

use tools::Digest;

use super::tree::change_time;

/// The most bytes of a file whose content is compared. Of a longer one it is the length and the time of the last change.
const MAX_CONTENT: u64 = 8 * 1024 * 1024;

/// The most bytes of a script that is searched for names.
const MAX_SCRIPT: usize = 256 * 1024;

/// Returns the text of a script that is short enough to be searched.
pub(super) fn script(path: &Path) -> Option<String> {
    let metadata = fs::metadata(path)
        .ok()
        .filter(|metadata| metadata.is_file())?;
    if metadata.len() > MAX_SCRIPT as u64 {
        return None;
    }
    // A byte that is not UTF-8 stops no interpreter.
    let bytes = fs::read(path).ok().filter(|bytes| !bytes.contains(&0))?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns a text for the content of a file, which differs from that of another content.
pub(super) fn content(path: &Path) -> String {
    let Ok(metadata) = fs::metadata(path) else {
        return "missing".to_owned();
    };
    if !metadata.is_file() {
        return "no file".to_owned();
    }
    if metadata.len() <= MAX_CONTENT {
        return fs::read(path).map_or_else(
            |_| "unreadable".to_owned(),
            |bytes| Digest::hash_bytes(&bytes).to_string(),
        );
    }
    format!("{} {:?}", metadata.len(), change_time(&metadata))
}
