//! Reading a whole file into memory, and the text that replaces all of it.

use std::io::{self, Read};

use tools::ToolContext;
use tools_text::seven_bit;

use crate::encoding::{Decoded, Encoding, is_wide_text};
use crate::error::FsError;
use crate::path::RelativePath;
use crate::slot::Slot;
use crate::text_style::TextStyle;

/// The size up to which files are decoded or replaced with their style, in bytes.
pub(crate) const MAX_FILE: u64 = 64 * 1024 * 1024;

/// The size of a read for a comparison, in bytes.
const BLOCK: usize = 128 * 1024;

/// The size up to which a preview compares a file with the text that replaces it, in bytes.
pub(crate) const MAX_COMPARED: u64 = 8 * 1024 * 1024;

/// The bytes that replace a file, and the part of its style that they keep or change.
pub(crate) struct Restyled {
    pub(crate) bytes: Vec<u8>,
    pub(crate) note: String,
}

/// Reads a file of at most [`MAX_FILE`] bytes.
pub(crate) fn read(slot: &Slot) -> Result<Vec<u8>, FsError> {
    read_at_most(slot, MAX_FILE)
}

/// Reads a file of at most `limit` bytes.
pub(crate) fn read_at_most(slot: &Slot, limit: u64) -> Result<Vec<u8>, FsError> {
    let file = slot.open_file()?.into_std();
    // Nothing is read of a file that is too large.
    let size = file.metadata().map_or(0, |metadata| metadata.len());
    if size > limit {
        let path = slot.path.clone();
        return Err(FsError::TooLarge { path, limit });
    }
    contents(file, &slot.path, limit)
}

/// Returns true if the file still has this content.
pub(crate) fn is_same(slot: &Slot, content: &[u8]) -> io::Result<bool> {
    let Ok(file) = slot.open_file() else {
        return Ok(false);
    };
    let mut file = file.into_std();
    let mut block = vec![0; BLOCK];
    let mut rest = content;
    loop {
        let read = match file.read(&mut block) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        match rest.strip_prefix(&block[..read]) {
            Some(after) if read > 0 => rest = after,
            Some(after) => return Ok(after.is_empty()),
            None => return Ok(false),
        }
    }
}

/// Reads an open file of at most `limit` bytes.
pub(crate) fn contents(
    file: impl Read,
    path: &RelativePath,
    limit: u64,
) -> Result<Vec<u8>, FsError> {
    let mut bytes = Vec::new();
    file.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(FsError::io(path))?;
    if bytes.len() as u64 > limit {
        return Err(FsError::TooLarge {
            path: path.clone(),
            limit,
        });
    }
    Ok(bytes)
}

/// Returns the text in the encoding of the file that it replaces, with its byte order mark and line endings. A file of more than
/// [`MAX_FILE`] bytes has none of them.
///
/// # Errors
/// Returns an error if the file is text that fs.read cannot show completely: replacing it would lose bytes.
pub(crate) fn restyle(cx: &ToolContext, slot: &Slot, text: &str) -> Result<Restyled, FsError> {
    let is_binary = check_readable(cx, slot)? == Encoding::Binary;
    let before = read(slot).unwrap_or_default();
    if let Some(decoded) = Decoded::for_replacement(&before) {
        let style = TextStyle::of(decoded.text.as_bytes());
        let written = style.apply(text.strip_prefix(tools_text::MARK).unwrap_or(text));
        let more = style.note(text, &written);
        let note = format!("; its encoding {} was kept{more}", decoded.name());
        return Ok(Restyled {
            bytes: decoded.encode(&written)?,
            note,
        });
    }
    let style = TextStyle::of(&before);
    let written = style.apply(text);
    let mut note = style.note(text, &written);
    if is_binary {
        note += "; it was binary before";
    }
    Ok(Restyled {
        bytes: written.into_owned().into_bytes(),
        note,
    })
}

/// Returns the encoding of a file that may be replaced.
///
/// # Errors
/// Returns an error if the file is text that fs.read cannot show completely.
pub(crate) fn check_readable(cx: &ToolContext, slot: &Slot) -> Result<Encoding, FsError> {
    // fs.read cannot show a file that cannot be opened.
    let Ok(file) = slot.open_file() else {
        return Ok(Encoding::Utf8);
    };
    let encoding = Encoding::detect(cx, &slot.path, file)?;
    let is_readable = match encoding {
        Encoding::Utf8 => {
            let bytes = read(slot).unwrap_or_default();
            match seven_bit(&bytes) {
                Some(encoding) if Decoded::for_replacement(&bytes).is_none() => {
                    let path = slot.path.clone();
                    return Err(FsError::SevenBit { path, encoding });
                }
                _ => true,
            }
        }
        Encoding::Binary => !read(slot).is_ok_and(|bytes| is_wide_text(&bytes)),
        Encoding::Utf16 => read(slot).is_ok_and(|bytes| Decoded::for_replacement(&bytes).is_some()),
        Encoding::Other => false,
    };
    if is_readable {
        Ok(encoding)
    } else {
        Err(FsError::LossyOverwrite {
            path: slot.path.clone(),
        })
    }
}
