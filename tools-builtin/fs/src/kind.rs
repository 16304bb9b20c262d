//! [`Kind`]: the kind of a directory entry.

use std::fmt;

use cap_std::fs::{FileType, FileTypeExt};
use serde::Serialize;

/// The kind of a directory entry. Links are not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A named pipe.
    Pipe,
    /// A Unix socket.
    Socket,
    /// A block or character device.
    Device,
    /// Another or unknown kind.
    Unknown,
}

impl Kind {
    /// Returns the kind as one word, as in a listing.
    pub(crate) fn word(self) -> &'static str {
        self.names().0
    }

    /// Returns the word, and the phrase of messages.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::File => ("file", "a file"),
            Self::Directory => ("directory", "a directory"),
            Self::Link => ("link", "a link"),
            Self::Pipe => ("pipe", "a named pipe"),
            Self::Socket => ("socket", "a socket"),
            Self::Device => ("device", "a device"),
            Self::Unknown => ("unknown", "of an unknown kind"),
        }
    }
}

impl From<FileType> for Kind {
    fn from(file_type: FileType) -> Self {
        if file_type.is_file() {
            Self::File
        } else if file_type.is_dir() {
            Self::Directory
        } else if file_type.is_symlink() {
            Self::Link
        } else if file_type.is_fifo() {
            Self::Pipe
        } else if file_type.is_socket() {
            Self::Socket
        } else if file_type.is_block_device() || file_type.is_char_device() {
            Self::Device
        } else {
            Self::Unknown
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.names().1)
    }
}
