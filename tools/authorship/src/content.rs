//! Compares files with their committed contents.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::history::{Blob, Kind};
use crate::objects::{MAX_OBJECT, has_id};

/// Returns true if each file has its committed content, apart from line endings of Windows where the commit has none. No filter runs.
pub(crate) fn is_committed(files: &[(PathBuf, &Blob)]) -> bool {
    files
        .iter()
        .all(|(path, blob)| is_same(path, blob).unwrap_or(false))
}

fn is_same(path: &Path, blob: &Blob) -> io::Result<bool> {
    let found = match blob.kind {
        Kind::File | Kind::Program => {
            let mut bytes = Vec::new();
            File::open(path)?
                // One more, by which a longer file is known.
                .take(MAX_OBJECT + 1)
                .read_to_end(&mut bytes)?;
            bytes
        }
        Kind::Link => fs::read_link(path)?.into_os_string().into_encoded_bytes(),
    };
    if found.len() as u64 > MAX_OBJECT {
        return Ok(false);
    }
    if has_id("blob", &found, &blob.id) {
        return Ok(true);
    }
    let plain = without_returns(&found);
    Ok(!plain.contains(&b'\r') && has_id("blob", &plain, &blob.id))
}

/// Returns the text with the line endings of Unix.
fn without_returns(text: &[u8]) -> Vec<u8> {
    let kept =
        (0..text.len()).filter(|at| !(text[*at] == b'\r' && text.get(at + 1) == Some(&b'\n')));
    kept.map(|at| text[at]).collect()
}
