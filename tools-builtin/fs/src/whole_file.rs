//! Reading a whole file into memory.

use std::io::Read;

use crate::error::FsError;
use crate::replacement::MAX_FILE;
use crate::resolved_entry::open_file;
use crate::slot::Slot;

/// Reads a file of at most [`MAX_FILE`] bytes.
pub(crate) fn read(slot: &Slot) -> Result<Vec<u8>, FsError> {
    let path = &slot.path;
    let file = open_file(&slot.parent, &slot.name, path)?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(FsError::io(path))?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(FsError::TooLarge { path: path.clone(), limit: MAX_FILE });
    }
    Ok(bytes)
}
