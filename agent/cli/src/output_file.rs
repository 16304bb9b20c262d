//! Results in a file.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD};
use host::own_path;
use tools::protocol::ResourceContents;
use tools::{Content, ToolResult};

use crate::error::Error;
use crate::notice::note;
use crate::output;

/// Returns an error if the file could not be created: a call that has run must not lose its result.
pub(crate) fn check(file: &Path) -> Result<(), Error> {
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let checked = match fs::metadata(folder) {
        Ok(folder) if !folder.is_dir() => Err(io::ErrorKind::NotADirectory.into()),
        Ok(_) if file.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        found => found.map(drop),
    };
    checked.map_err(|source| file_error(file, source))
}

/// Saves the binary content of a result: the first piece in the file, and further ones beside it in new files with a number. Without binary
/// content, the file gets the text, unless it is an error.
///
/// # Errors
/// Returns the first error, after all other pieces are saved.
pub(crate) fn save(result: &ToolResult, file: &Path) -> Result<(), Error> {
    let pieces: Vec<_> = result.content.iter().filter_map(base64).collect();
    if pieces.is_empty() && !result.is_error {
        return replace(file, output::result_text(result)?.as_bytes());
    }
    let mut saved = Ok(());
    for (at, data) in pieces.into_iter().enumerate() {
        let piece = match decode(data) {
            Some(bytes) if at == 0 => replace(file, &bytes),
            Some(bytes) => create_beside(file, &bytes),
            None => Err(Error::BrokenContent { number: at + 1 }),
        };
        // A damaged piece does not keep the others from being saved.
        saved = saved.and(piece);
    }
    saved
}

/// Returns the base64 of binary content.
fn base64(content: &Content) -> Option<&str> {
    match content {
        Content::Image { data, .. }
        | Content::Audio { data, .. }
        | Content::Resource {
            resource: ResourceContents::Blob { blob: data, .. },
        } => Some(data),
        _ => None,
    }
}

/// Returns the bytes of base64, also of the alphabet for URLs, without padding or with line breaks.
fn decode(data: &str) -> Option<Vec<u8>> {
    let digits = data.bytes().filter(|byte| output::is_digit(*byte));
    let digits: Vec<u8> = digits.collect();
    BASE64_NOPAD
        .decode(&digits)
        .or_else(|_| BASE64URL_NOPAD.decode(&digits))
        .ok()
}

fn replace(file: &Path, bytes: &[u8]) -> Result<(), Error> {
    let word = if file.exists() { "replaced" } else { "saved" };
    own_path::write(file, bytes).map_err(|source| file_error(file, source))?;
    note(&format!("{word} {}", file.display()));
    Ok(())
}

/// Saves a further piece with the first free number: `picture-2.png` beside `picture.png`.
fn create_beside(file: &Path, bytes: &[u8]) -> Result<(), Error> {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let extension = file
        .extension()
        .map(|extension| format!(".{}", extension.to_string_lossy()))
        .unwrap_or_default();
    let mut number = 2;
    loop {
        let path = file.with_file_name(format!("{stem}-{number}{extension}"));
        // A person named only the first file to be replaced.
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            created => {
                created
                    .and_then(|mut file| file.write_all(bytes))
                    .map_err(|source| file_error(&path, source))?;
                note(&format!("saved {}", path.display()));
                return Ok(());
            }
        }
    }
}

fn file_error(path: &Path, source: io::Error) -> Error {
    Error::OutputFile {
        path: PathBuf::from(path),
        source,
    }
}
