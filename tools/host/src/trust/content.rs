//! [`Content`]: the content of a project's file, which a person approves as a whole.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tools::Digest;
use tools_text::TextEncoding;

use crate::placed::change_time;

/// The content of a project's file at one moment. The text that is used must be the one in here: the file may change meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// The kind, such as `settings`.
    pub kind: &'static str,
    /// The path, with links in its folder resolved.
    pub path: PathBuf,
    /// The text.
    pub text: String,
    /// The digest of the bytes.
    pub digest: Digest,
    /// The time of the last change of the file, or of the link to it.
    pub changed: Option<SystemTime>,
    /// The effects of an approval, each as a line.
    pub effects: Vec<String>,
}

impl Content {
    /// Creates the content of a file from the bytes that were read. `kind` separates the approvals of one kind from those of others.
    pub fn new(kind: &'static str, path: &Path, bytes: &[u8]) -> Self {
        // Of the bytes, since different bytes can be the same text.
        let digest = Digest::hash_bytes(bytes);
        let text = TextEncoding::of(bytes).decode(bytes).into_owned();
        Self {
            kind,
            path: resolve_folder(path),
            text,
            digest,
            changed: latest_change(path),
            effects: Vec::new(),
        }
    }

    /// Returns the folder, whose approvals are kept together.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }

    /// Returns the name of the file.
    pub fn name(&self) -> String {
        self.path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    }
}

/// Returns the path with all links of its folder resolved.
fn resolve_folder(path: &Path) -> PathBuf {
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    match (folder, path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

/// Returns the time of the last change of the file, or of the link that leads to it.
fn latest_change(path: &Path) -> Option<SystemTime> {
    let of_link = changed_at(&path.symlink_metadata().ok()?)?;
    let of_file = changed_at(&path.metadata().ok()?)?;
    // A session may have made the link or written its target.
    Some(of_link.max(of_file))
}

/// Returns the later one of two times: that of the content, which programs can set, and that of the file's record, which they cannot.
fn changed_at(metadata: &Metadata) -> Option<SystemTime> {
    let since = Duration::from_nanos(change_time(metadata));
    let of_record = SystemTime::UNIX_EPOCH.checked_add(since)?;
    Some(metadata.modified().ok()?.max(of_record))
}

/// A content that no person has approved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unapproved {
    /// The content.
    pub content: Content,
    /// The text of the file that was approved last.
    pub before: Option<String>,
    /// True if the file changed after a session had begun in a folder around it, which may have written it.
    pub is_recent: bool,
}
