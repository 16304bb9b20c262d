//! [`KeptMessages`]: the messages of a channel without an answer, in files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use tools_store::private;

use crate::incoming::IncomingMessage;

/// The end of the name of the file of a message that waits.
const WAITING: &str = "json";

/// The end of the name of the file of a message whose run was begun. The length of the conversation before it follows.
const BEGUN: &str = "begun";

/// The messages of a channel that have no answer yet, one file each. The name is a number, in the order in which they came.
#[derive(Debug)]
pub(super) struct KeptMessages {
    pub(super) folder: PathBuf,
    next: AtomicU64,
}

/// The file of a message.
#[derive(Debug)]
pub(super) struct KeptFile {
    path: PathBuf,
}

impl KeptFile {
    /// Returns the length of the conversation before the message if its run was begun, or else `None`. It is 0 in a file without one.
    pub(super) fn begun_after(&self) -> Option<usize> {
        let after = self.path.extension()?.to_str()?.strip_prefix(BEGUN)?;
        Some(after.parse().unwrap_or(0))
    }

    /// Stores that the run of the message begins, after a conversation of this length.
    pub(super) fn begin(&mut self, after: usize) -> io::Result<()> {
        let begun = self.path.with_extension(format!("{BEGUN}{after}"));
        fs::rename(&self.path, &begun)?;
        self.path = begun;
        Ok(())
    }

    /// Removes the file.
    pub(super) fn remove(self) -> io::Result<()> {
        fs::remove_file(self.path)
    }
}

impl KeptMessages {
    /// Opens the folder of the messages, and creates it if it is missing.
    pub(super) fn open(folder: PathBuf) -> io::Result<Self> {
        private::prepare_folder(&folder)?;
        let last = files(&folder)?.last().map(|(number, _)| *number);
        Ok(Self {
            folder,
            next: AtomicU64::new(last.map_or(0, |last| last + 1)),
        })
    }

    /// Keeps a message. Returns its file.
    pub(super) fn keep(&self, message: &IncomingMessage) -> io::Result<KeptFile> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.join(format!("{number:020}.{WAITING}"));
        let text = json!({"chat": message.chat(), "text": message.text()}).to_string();
        private::replace(&path, &path.with_extension("new"), text.as_bytes())?;
        Ok(KeptFile { path })
    }

    /// Returns the kept messages with their files, the oldest first. A file that is no message is left out.
    pub(super) fn read(&self) -> io::Result<Vec<(KeptFile, IncomingMessage)>> {
        let kept = files(&self.folder)?.into_iter().filter_map(|(_, path)| {
            let text = fs::read_to_string(&path).ok()?;
            let value: Value = serde_json::from_str(&text).ok()?;
            let message =
                IncomingMessage::new(value["chat"].as_str()?, value["text"].as_str()?).ok()?;
            Some((KeptFile { path }, message))
        });
        Ok(kept.collect())
    }
}

/// Returns the files of messages with their numbers, sorted.
fn files(folder: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let end = path.extension().and_then(|end| end.to_str());
        let end = end.unwrap_or_default();
        let is_message = end == WAITING || end.starts_with(BEGUN);
        let number = path
            .file_stem()
            .filter(|_| is_message)
            .and_then(|stem| stem.to_str()?.parse::<u64>().ok());
        files.extend(number.map(|number| (number, path)));
    }
    files.sort_unstable();
    Ok(files)
}
