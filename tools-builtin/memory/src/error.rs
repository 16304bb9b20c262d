//! [`MemoryError`].

use tools::ToolError;
use tools_store::{StoreError, rusqlite};

use crate::limits::{MAX_TAG_LENGTH, MAX_TAGS, MAX_TEXT_BYTES};

/// An error in saving, reading or removing memories.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The store cannot be opened or used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The user has no data folder.
    #[error("there is no folder for the data of this user; set HOME or XDG_DATA_HOME")]
    NoFolder,
    /// There is no workspace, so there is no project.
    #[error(
        "there is no workspace here, so there are no memories of a project; use the scope \"user\""
    )]
    NoProject,
    /// The scope names the session's own project as another one.
    #[error("\"project/{name}\" is this session's project; use the scope \"project\"")]
    OwnProject {
        /// The name of the project.
        name: String,
    },
    /// The scope names no project, and no session tells which one it is.
    #[error("\"project\" does not say which project; use \"project/NAME\", or \"user\"")]
    UnnamedProject,
    /// The text is no scope.
    #[error("{scope:?} is not a scope; use \"project\", \"user\" or \"project/NAME\"")]
    Scope {
        /// The text, cut after 80 characters.
        scope: String,
    },
    /// The text is empty.
    #[error("the text is empty; write the fact to remember in a sentence")]
    Empty,
    /// The text is too long.
    #[error(
        "the text has {bytes} bytes, and a memory has at most {MAX_TEXT_BYTES}; save a shorter one, or several"
    )]
    TooLong {
        /// The length of the text.
        bytes: usize,
    },
    /// The tags are too many, or one is no tag.
    #[error(
        "the tag {tag:?} cannot be used; write at most {MAX_TAGS} tags, each of 1 to {MAX_TAG_LENGTH} of a-z 0-9 _ . -"
    )]
    Tag {
        /// The first unusable tag, cut after 80 characters.
        tag: String,
    },
    /// The scope has as many memories as it may have.
    #[error("{scope} has {most} memories, its limit; forget one first, such as {oldest}")]
    Full {
        /// The scope.
        scope: String,
        /// The limit.
        most: usize,
        /// The number of the oldest memory.
        oldest: i64,
    },
    /// The texts of all memories of the principal are too long.
    #[error(
        "all memories of the principal together have {most} bytes, their limit; forget one first, such as {longest}"
    )]
    TooMuch {
        /// The limit.
        most: usize,
        /// The number of the longest memory.
        longest: i64,
    },
    /// No memory of the scope has the number.
    #[error(
        "{scope} has no memory {id}; list its memories for their numbers, or name another scope"
    )]
    Unknown {
        /// The scope.
        scope: String,
        /// The number.
        id: i64,
    },
    /// No memory has one of the numbers.
    #[error("there is no memory {id}; list the memories for their numbers")]
    NoEntry {
        /// The first unknown number.
        id: i64,
    },
}

impl From<rusqlite::Error> for MemoryError {
    fn from(error: rusqlite::Error) -> Self {
        StoreError::from(error).into()
    }
}

impl From<MemoryError> for ToolError {
    fn from(error: MemoryError) -> Self {
        Self::execution_failed(error.to_string())
    }
}
