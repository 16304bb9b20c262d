//! [`Place`]: the place in a file up to which its lines were taken.

use std::fs::{self, File};
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use data_encoding::HEXLOWER;
use hmac_sha256::Hash;
use tools_store::private;

use crate::incoming::ListenError;

/// The number of bytes before a place by which it is recognised.
const MARKED: u64 = 4 * 1024;

/// A place in a file. Its record in a file is `POSITION LINE MARK`, or only the position if a person has written it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Place {
    /// The number of bytes before it.
    pub(crate) position: u64,
    /// The number of the next line, for notes.
    pub(crate) line: u64,
    /// The digest of the last [`MARKED`] bytes before it. `None` accepts any file.
    mark: Option<String>,
}

impl Place {
    /// The start of a file.
    pub(crate) const START: Self = Self {
        position: 0,
        line: 1,
        mark: None,
    };

    /// Reads the record of the place in an inbox. Without one, the inbox is read from its start.
    pub(crate) fn load(stored: &Path, inbox: &Path) -> Result<Self, ListenError> {
        let text = match fs::read_to_string(stored) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::START),
            read => read.map_err(|error| error.to_string()),
        };
        let place = text.and_then(|text| {
            Self::parse(&text, inbox).ok_or_else(|| "it is not a number".to_owned())
        });
        place.map_err(|reason| {
            unknown(
                stored,
                &format!("{} cannot be read: {reason}", stored.display()),
            )
        })
    }

    fn parse(text: &str, inbox: &Path) -> Option<Self> {
        let mut parts = text.split_whitespace();
        let position = parts.next()?.parse().ok()?;
        let line = match parts.next() {
            Some(line) => line.parse().ok()?,
            None => line_breaks(inbox, position) + 1,
        };
        Some(Self {
            position,
            line,
            mark: parts.next().map(str::to_owned),
        })
    }

    /// Replaces the record, so that it is never half written.
    pub(crate) fn store(&self, stored: &Path) -> io::Result<()> {
        let Self {
            position,
            line,
            mark,
        } = self;
        let text = format!("{position} {line} {}", mark.as_deref().unwrap_or_default());
        private::replace(stored, &stored.with_extension("new"), text.as_bytes())
    }

    /// Returns true if the file has the same bytes before the place as when it was reached.
    pub(crate) fn is_in(&self, file: &mut File) -> io::Result<bool> {
        match &self.mark {
            Some(known) => Ok(mark(file, self.position)? == *known),
            None => Ok(true),
        }
    }

    /// Returns the place behind the next line of the file, which ends at this position.
    pub(crate) fn next(&self, file: &mut File, end: u64) -> io::Result<Self> {
        Ok(Self {
            position: end,
            line: self.line.saturating_add(1),
            mark: Some(mark(file, end)?),
        })
    }
}

/// Returns the error of a place that is unknown for this reason.
pub(crate) fn unknown(stored: &Path, reason: &str) -> ListenError {
    ListenError::new(format!(
        "the place in the inbox is unknown, because {reason}; write the number of bytes that are handled to {}, or delete it to handle \
         all lines again",
        stored.display()
    ))
}

/// Opens a file. Opening a pipe would wait for a writer, also during a shutdown.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    if fs::metadata(path)?.is_file() {
        File::open(path)
    } else {
        Err(io::Error::from(io::ErrorKind::InvalidInput))
    }
}

/// Returns the digest of the last bytes before a position.
fn mark(file: &mut File, position: u64) -> io::Result<String> {
    let mut bytes = vec![0; position.min(MARKED) as usize];
    file.seek(SeekFrom::Start(position - bytes.len() as u64))?;
    file.read_exact(&mut bytes)?;
    Ok(HEXLOWER.encode(&Hash::hash(&bytes)[..8]))
}

/// Returns the number of line breaks before a position. A file that cannot be read has none, because the number is for notes alone.
fn line_breaks(path: &Path, position: u64) -> u64 {
    let Ok(file) = open(path) else { return 0 };
    let bytes = BufReader::new(file.take(position)).bytes();
    let breaks = bytes.map_while(Result::ok).filter(|byte| *byte == b'\n');
    breaks.count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_the_number_of_its_line_so_that_the_lines_before_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let [inbox, stored] = ["in.jsonl", "position"].map(|name| folder.path().join(name));
        fs::write(&inbox, "one\ntwo\n").unwrap();
        let place = Place::START.next(&mut open(&inbox).unwrap(), 4).unwrap();
        let place = place.next(&mut open(&inbox).unwrap(), 8).unwrap();
        place.store(&stored).unwrap();
        fs::remove_file(&inbox).unwrap();
        let loaded = Place::load(&stored, &inbox).unwrap();
        assert_eq!((loaded.line, &loaded), (3, &place));
        Place::START.store(&stored).unwrap();
        assert_eq!(Place::load(&stored, &inbox).unwrap(), Place::START);
    }
}
