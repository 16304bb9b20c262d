//! [`Seen`]: the requests that were taken, so that none is taken twice.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use data_encoding::HEXLOWER;
use hmac_sha256::Hash;

use super::signature::MAX_AGE;

/// The maximum number of requests that are remembered. Beyond it, none is taken until older ones expire.
const MAX: usize = 100_000;

/// The file of the requests that were taken.
const FILE: &str = "seen";

/// The requests that were taken, while their signatures are valid. It outlives the process.
#[derive(Debug)]
pub(super) struct Seen {
    file: File,
    /// The digests of signatures and ids, with the time until which they count.
    until: HashMap<String, u64>,
}

impl Seen {
    /// Reads the requests that still count.
    pub(super) fn open(folder: &Path, now: u64) -> io::Result<Self> {
        let path = folder.join(FILE);
        let text = match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            read => read?,
        };
        let entry = |line: &str| {
            let (until, digest) = line.split_once(' ')?;
            Some((digest.to_owned(), until.parse().ok()?))
        };
        let until: HashMap<_, u64> = text.lines().filter_map(entry).filter(|(_, until)| *until >= now).collect();
        let draft = path.with_extension("new");
        let kept: String = until.iter().map(|(digest, until)| format!("{until} {digest}\n")).collect();
        std::fs::write(&draft, kept)?;
        std::fs::rename(&draft, &path)?;
        Ok(Self { file: OpenOptions::new().append(true).open(&path)?, until })
    }

    /// Returns true if one of these was taken before.
    pub(super) fn contains(&self, keys: &[&[u8]]) -> bool {
        keys.iter().any(|key| self.until.contains_key(&digest(key)))
    }

    /// Remembers a request of this time by its signature and its id.
    ///
    /// # Errors
    /// Returns an error if there are too many, or the file cannot be written.
    pub(super) fn insert(&mut self, keys: &[&[u8]], time: u64, now: u64) -> io::Result<()> {
        if self.until.len() >= MAX {
            self.until.retain(|_, until| *until >= now);
        }
        if self.until.len() >= MAX {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        // Senders repeat a request with a new signature and its old id.
        let until = time.max(now) + 2 * MAX_AGE;
        let digests = keys.iter().map(|key| digest(key)).collect::<Vec<_>>();
        let lines: String = digests.iter().map(|digest| format!("{until} {digest}\n")).collect();
        self.file.write_all(lines.as_bytes())?;
        self.until.extend(digests.into_iter().map(|digest| (digest, until)));
        Ok(())
    }

    /// Forgets a request that was not taken after all. A restart within minutes still remembers it.
    pub(super) fn forget(&mut self, keys: &[&[u8]]) {
        for key in keys {
            self.until.remove(&digest(key));
        }
    }
}

fn digest(key: &[u8]) -> String {
    HEXLOWER.encode(&Hash::hash(key)[..16])
}
