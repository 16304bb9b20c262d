//! [`KeptMessages`]: the messages of a channel that wait, in files.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use tools_builtin::message::IncomingMessage;

use crate::private;

/// The messages of a channel that wait, one file each. The name is a number, in the order in which they came.
#[derive(Debug)]
pub(super) struct KeptMessages {
    folder: PathBuf,
    next: AtomicU64,
}

impl KeptMessages {
    /// Opens the folder of the messages, and creates it if it is missing.
    pub(super) fn open(folder: PathBuf) -> io::Result<Self> {
        private::create_folder(&folder)?;
        let last = numbers(&folder)?.last().copied();
        Ok(Self { folder, next: AtomicU64::new(last.map_or(0, |last| last + 1)) })
    }

    /// Keeps a message. Returns its file.
    pub(super) fn keep(&self, message: &IncomingMessage) -> io::Result<PathBuf> {
        let file = self.file(self.next.fetch_add(1, Ordering::Relaxed));
        let draft = file.with_extension("new");
        let _ = fs::remove_file(&draft);
        let text = json!({"chat": message.chat(), "text": message.text()}).to_string();
        private::create_file(&draft)?.write_all(text.as_bytes())?;
        fs::rename(&draft, &file)?;
        Ok(file)
    }

    /// Returns the kept messages with their files, the oldest first. A file that is no message is left out.
    pub(super) fn read(&self) -> io::Result<Vec<(PathBuf, IncomingMessage)>> {
        let files = numbers(&self.folder)?.into_iter().map(|number| self.file(number));
        let read = |file: PathBuf| {
            let text = fs::read_to_string(&file).ok()?;
            let value: Value = serde_json::from_str(&text).ok()?;
            let message = IncomingMessage::new(value["chat"].as_str()?, value["text"].as_str()?).ok()?;
            Some((file, message))
        };
        Ok(files.filter_map(read).collect())
    }

    fn file(&self, number: u64) -> PathBuf {
        self.folder.join(format!("{number:020}.json"))
    }
}

/// Returns the numbers of the files in a folder, sorted.
fn numbers(folder: &Path) -> io::Result<Vec<u64>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_message = path.extension().is_some_and(|end| end == "json");
        numbers.extend(path.file_stem().filter(|_| is_message).and_then(|stem| stem.to_str()?.parse::<u64>().ok()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}
