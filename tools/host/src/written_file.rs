//! [`WrittenFile`]: a file or folder that a session wrote.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The ends of the names of documents, which no program takes for code.
const DOCUMENTS: [&str; 8] = ["adoc", "gif", "jpeg", "jpg", "md", "pdf", "png", "rst"];

/// A file or folder that a session wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenFile {
    /// The path below the root, empty for the root.
    pub path: String,
    /// The time in nanoseconds since 1970.
    pub at: u64,
    /// True if it stands for all that is in it.
    pub is_whole: bool,
    /// True if it is a document, or stands for the documents that are in it.
    #[serde(default)]
    pub is_document: bool,
}

/// Returns the files that sessions wrote below those of their roots for which the function returns true, by root.
pub type WrittenFiles = fn(&dyn Fn(&Path) -> bool) -> io::Result<Vec<(PathBuf, Vec<WrittenFile>)>>;

/// Returns true if the name is that of a document.
pub fn is_document(path: &Path) -> bool {
    let end = path.extension();
    let end = end.map(|end| end.to_string_lossy().to_ascii_lowercase());
    end.is_some_and(|end| DOCUMENTS.contains(&&*end))
}
