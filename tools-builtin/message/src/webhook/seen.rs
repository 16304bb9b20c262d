//! [`Seen`]: the messages that were taken, so that none is taken twice.

use std::collections::{HashSet, VecDeque};
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use hmac_sha256::Hash;
use tools_store::private;

/// The number of messages that are remembered. With the rate of the listener it is reached after hours, and services repeat a message
/// within an hour.
const MAX: usize = 50_000;

/// The file of the messages that were taken.
const FILE: &str = "seen";

/// The digests of the keys of the last messages. They outlive the process.
#[derive(Debug)]
pub(super) struct Seen {
    path: PathBuf,
    file: File,
    /// The number of lines in the file.
    lines: usize,
    known: HashSet<String>,
    /// The digests, the oldest first.
    order: VecDeque<String>,
    max: usize,
}

impl Seen {
    /// Reads the digests.
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        Self::with_max(folder, MAX)
    }

    fn with_max(folder: &Path, max: usize) -> io::Result<Self> {
        let path = folder.join(FILE);
        let text = match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            read => read?,
        };
        let lines: Vec<_> = text.lines().collect();
        let last = lines[lines.len().saturating_sub(max)..].iter();
        let order: VecDeque<_> = last.map(|&line| line.to_owned()).collect();
        let file = write(&path, &order)?;
        Ok(Self {
            path,
            file,
            lines: order.len(),
            known: order.iter().cloned().collect(),
            order,
            max,
        })
    }

    /// Returns true if a message with this key was taken.
    pub(super) fn contains(&self, key: &[u8]) -> bool {
        self.known.contains(&digest(key))
    }

    /// Remembers the key of a message.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written. The key is then not remembered.
    pub(super) fn insert(&mut self, key: &[u8]) -> io::Result<()> {
        if self.lines >= 2 * self.max {
            self.file = write(&self.path, &self.order)?;
            self.lines = self.order.len();
        }
        let digest = digest(key);
        if let Err(error) = self.file.write_all(format!("{digest}\n").as_bytes()) {
            // The line may be there in part, so the file is written anew.
            self.lines = 2 * self.max;
            return Err(error);
        }
        self.lines += 1;
        self.known.insert(digest.clone());
        self.order.push_back(digest);
        if self.order.len() > self.max {
            let oldest = self.order.pop_front().unwrap_or_default();
            self.known.remove(&oldest);
        }
        Ok(())
    }
}

/// Replaces the file with these digests, and opens it for more.
fn write(path: &Path, digests: &VecDeque<String>) -> io::Result<File> {
    let text: String = digests.iter().map(|digest| format!("{digest}\n")).collect();
    private::replace(path, &path.with_extension("new"), text.as_bytes())?;
    OpenOptions::new().append(true).open(path)
}

fn digest(key: &[u8]) -> String {
    HEXLOWER.encode(&Hash::hash(key)[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_messages_are_remembered_in_a_file_that_does_not_grow_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let max = 10;
        let mut seen = Seen::with_max(folder.path(), max).unwrap();
        let key = |number: usize| format!("id {number}").into_bytes();
        for number in 0..2 * max + 2 {
            seen.insert(&key(number)).unwrap();
        }
        let check = |seen: &Seen| {
            assert!(
                !seen.contains(&key(max + 1))
                    && seen.contains(&key(max + 2))
                    && seen.contains(&key(2 * max + 1))
            );
        };
        check(&seen);
        let lines = || {
            std::fs::read_to_string(folder.path().join(FILE))
                .unwrap()
                .lines()
                .count()
        };
        assert_eq!(lines(), max + 2);
        check(&Seen::with_max(folder.path(), max).unwrap());
        assert_eq!(lines(), max);
    }
}
