//! Export and import of memories as JSON lines.

use std::io::{self, BufRead, Read as _};
use std::path::PathBuf;

use tools_text::decode_input;

use crate::error::MemoryError;
use crate::limits::{Limits, MAX_IMPORT_BYTES, MAX_IMPORTED, MAX_TEXT_BYTES};
use crate::memory::Memory;
use crate::row::{MemoryEntry, insert};
use crate::scope::Scope;

/// The maximum length of a line of an import, in bytes. JSON can take six bytes for each one of the text.
const MAX_LINE_BYTES: u64 = 8 * MAX_TEXT_BYTES as u64;

/// The author of an imported memory.
const AUTHOR: &str = "an import";

/// An error in an import. Nothing was imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The file cannot be opened.
    #[error("cannot read {}: {source}; check the path", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The input cannot be read.
    #[error("cannot read the memories: {0}; check the file")]
    Read(#[from] io::Error),
    /// A line is too long or is no memory in JSON.
    #[error("line {line} is not a memory: {reason}; correct the line, and import the file again")]
    Line {
        /// The number of the line.
        line: u64,
        /// The problem.
        reason: String,
    },
    /// The input is too long.
    #[error(
        "the memories have more than {MAX_IMPORT_BYTES} bytes, the limit of one import; split the file between two lines"
    )]
    TooLong,
    /// The input has too many memories.
    #[error(
        "there are more than {MAX_IMPORTED} memories, the limit of one import; split the file between two lines"
    )]
    TooMany,
    /// A scope would have too many memories, or a principal too long ones.
    #[error(
        "there is no room for line {line}: a scope has at most {entries} memories, and all memories of a principal have at most \
         {bytes} bytes; import fewer, or forget some first"
    )]
    NoRoom {
        /// The number of the line.
        line: u64,
        /// The limit of memories.
        entries: usize,
        /// The limit of bytes.
        bytes: usize,
    },
    /// The store cannot be used.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

impl From<tools_store::StoreError> for ImportError {
    fn from(error: tools_store::StoreError) -> Self {
        Self::Memory(error.into())
    }
}

/// The numbers of imported memories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// New memories.
    pub added: u64,
    /// Memories whose text their scope had already.
    pub known: u64,
}

impl Memory {
    /// Adds memories from JSON lines: objects as of [`MemoryEntry`], with new numbers. All are added, or none.
    ///
    /// - Without `is_trusted`, a file may be from anywhere: the memories wait for the user's confirmation, and their author is an import.
    /// - With it, the file says itself which memories are confirmed, and who saved them, as a backup of the user's own does.
    ///
    /// Blocks the calling thread.
    ///
    /// # Errors
    /// Returns an error if a line is not a memory, breaks a limit, or cannot be saved.
    pub fn import(&self, lines: impl BufRead, is_trusted: bool) -> Result<Imported, ImportError> {
        // Read as a whole before the store is locked, so that nothing waits for a slow file.
        let entries = parse_entries(lines, is_trusted)?;
        self.open_store()?.write_blocking(|transaction| {
            let mut imported = Imported::default();
            for (line, entry) in entries {
                match insert(transaction, self.limits(), &entry) {
                    Ok((_, true)) => imported.added += 1,
                    Ok((_, false)) => imported.known += 1,
                    // The memory that they name may be one of the lines before.
                    Err(MemoryError::Full { .. } | MemoryError::TooMuch { .. }) => {
                        let Limits { entries, bytes } = self.limits();
                        return Err(ImportError::NoRoom {
                            line,
                            entries,
                            bytes,
                        });
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            Ok(imported)
        })
    }
}

/// Reads the entries with the numbers of their lines.
fn parse_entries(
    mut lines: impl BufRead,
    is_trusted: bool,
) -> Result<Vec<(u64, MemoryEntry)>, ImportError> {
    let mut entries = Vec::new();
    let mut bytes = Vec::new();
    let mut left = MAX_IMPORT_BYTES;
    for line in 1.. {
        bytes.clear();
        let mut line_of_most = (&mut lines).take(MAX_LINE_BYTES + 1);
        if line_of_most.read_until(b'\n', &mut bytes)? == 0 {
            break;
        }
        left = left
            .checked_sub(bytes.len() as u64)
            .ok_or(ImportError::TooLong)?;
        let invalid = |reason: String| ImportError::Line { line, reason };
        if bytes.len() as u64 > MAX_LINE_BYTES {
            return Err(invalid(format!("it is longer than {MAX_LINE_BYTES} bytes")));
        }
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        if entries.len() == MAX_IMPORTED {
            return Err(ImportError::TooMany);
        }
        let text = decode_input(&bytes).map_err(|error| invalid(error.to_string()))?;
        let mut entry: MemoryEntry =
            serde_json::from_str(&text).map_err(|error| invalid(error.to_string()))?;
        Scope::from_stored(&entry.scope)
            .and_then(|_| entry.check())
            .map_err(|error| invalid(error.to_string()))?;
        if !is_trusted {
            (entry.author, entry.session, entry.confirmed) = (AUTHOR.to_owned(), None, false);
        }
        entries.push((line, entry));
    }
    Ok(entries)
}
