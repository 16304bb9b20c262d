//! [`Former`]: the content of a protected file before a program runs, to put it back.

use std::fs::{self, Metadata};
use std::io::Read as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use host::open_folder::open_regular;
use serde::{Deserialize, Serialize};

/// The most bytes of a file that is kept.
const MAX_BYTES: u64 = 8 << 20;

/// A file or a link as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Former {
    /// A file with its permissions.
    File { mode: u32, content: Bytes },
    /// A link with its target.
    Link { target: Bytes },
}

/// Bytes, as text where they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Bytes {
    Text(String),
    Raw(Vec<u8>),
}

impl Bytes {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        String::from_utf8(bytes).map_or_else(|error| Self::Raw(error.into_bytes()), Self::Text)
    }

    pub(crate) fn from_path(path: &Path) -> Self {
        Self::new(path.as_os_str().as_bytes().to_vec())
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Raw(bytes) => bytes,
        }
    }

    pub(crate) fn as_path(&self) -> &Path {
        Path::new(std::ffi::OsStr::from_bytes(self.as_bytes()))
    }
}

impl Former {
    /// Reads a small file or a link. `left` is the number of bytes that may still be kept.
    pub(crate) fn read(path: &Path, metadata: &Metadata, left: &mut u64) -> Option<Self> {
        if metadata.is_symlink() {
            let target = Bytes::new(fs::read_link(path).ok()?.into_os_string().into_vec());
            return Some(Self::Link { target });
        }
        if !metadata.is_file() || metadata.len() > MAX_BYTES {
            return None;
        }
        *left = left.checked_sub(metadata.len())?;
        let mut content = Vec::new();
        open_regular(path)
            .and_then(|file| file.take(metadata.len()).read_to_end(&mut content))
            .ok()?;
        let content = Bytes::new(content);
        Some(Self::File {
            mode: metadata.mode() & 0o7777,
            content,
        })
    }

    /// Returns true if the path is this again.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|metadata| {
            Self::read(path, &metadata, &mut MAX_BYTES.clone()).is_some_and(|now| now == *self)
        })
    }

    /// Returns the text of a file.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::File {
                content: Bytes::Text(text),
                ..
            } => Some(text),
            _ => None,
        }
    }
}
