//! Reading a whole file into memory, and the check before all of it is replaced.

use std::io::Read;

use tools::ToolContext;

use crate::encoding::Encoding;
use crate::error::FsError;
use crate::path::RelativePath;
use crate::replacement::MAX_FILE;
use crate::resolved_entry::open_file;
use crate::slot::Slot;
use crate::text_style::TextStyle;

/// The size up to which a file is compared with the text that replaces it, in bytes.
pub(crate) const MAX_COMPARED: u64 = 8 * 1024 * 1024;

/// Reads a file of at most [`MAX_FILE`] bytes.
pub(crate) fn read(slot: &Slot) -> Result<Vec<u8>, FsError> {
    contents(open_file(&slot.parent, &slot.name, &slot.path)?, &slot.path, MAX_FILE)
}

/// Reads a file of at most [`MAX_COMPARED`] bytes.
pub(crate) fn read_to_compare(slot: &Slot) -> Result<Vec<u8>, FsError> {
    contents(open_file(&slot.parent, &slot.name, &slot.path)?, &slot.path, MAX_COMPARED)
}

/// Reads an open file of at most `limit` bytes.
pub(crate) fn contents(file: impl Read, path: &RelativePath, limit: u64) -> Result<Vec<u8>, FsError> {
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(FsError::io(path))?;
    if bytes.len() as u64 > limit {
        return Err(FsError::TooLarge { path: path.clone(), limit });
    }
    Ok(bytes)
}

/// Returns the style that the file keeps when its whole text is replaced. A file of more than [`MAX_COMPARED`] bytes has none.
///
/// # Errors
/// Returns an error if the file is text that fs.read cannot show completely: replacing it would lose bytes.
pub(crate) fn style(cx: &ToolContext, slot: &Slot) -> Result<TextStyle, FsError> {
    check_readable(cx, slot)?;
    Ok(read_to_compare(slot).map(|bytes| TextStyle::of(&bytes)).unwrap_or_default())
}

/// Returns an error if the file is text that fs.read cannot show completely.
pub(crate) fn check_readable(cx: &ToolContext, slot: &Slot) -> Result<(), FsError> {
    // fs.read cannot show a file that cannot be opened.
    let Ok(file) = open_file(&slot.parent, &slot.name, &slot.path) else { return Ok(()) };
    match Encoding::detect(cx, &slot.path, file)? {
        Encoding::Utf8 | Encoding::Binary => Ok(()),
        Encoding::Utf16 | Encoding::Other => Err(FsError::LossyOverwrite { path: slot.path.clone() }),
    }
}
