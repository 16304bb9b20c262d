//! Follows a file of JSON lines.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, ErrorKind, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use data_encoding::HEXLOWER;
use hmac_sha256::Hash;
use serde::Deserialize;
use serde_json::error::Category;

use crate::incoming::{Inbox, IncomingMessage, ListenError};
use crate::place::{Place, open, unknown};
use crate::real_path::real_path;

/// The pause before the file is read again.
const PAUSE: Duration = Duration::from_millis(200);

/// The maximum size of a line in bytes. Longer ones are skipped.
const MAX_LINE: u64 = 256 * 1024;

/// The start of the name of the file with the place up to which the messages of an inbox were taken.
const POSITION: &str = "position-";

/// The shape of a line, for notes.
const SHAPE: &str = r#"one such as {"chat": "a", "text": "hello"}"#;

/// A line of the file. Other keys are ignored.
#[derive(Deserialize)]
struct Line {
    chat: String,
    text: String,
}

/// Takes the messages of a file, from the place where the last listener stopped, and waits for further ones.
///
/// The place is stored before a message is taken, so that none is taken twice.
pub(crate) async fn follow(path: PathBuf, inbox: Inbox) -> Result<(), ListenError> {
    let digest = HEXLOWER.encode(&Hash::hash(real_path(&path).as_os_str().as_encoded_bytes())[..8]);
    let stored = inbox.folder().join(format!("{POSITION}{digest}"));
    let unwritable = |reason: &dyn Display| {
        ListenError::new(format!(
            "{} cannot be written: {reason}; check it",
            stored.display()
        ))
    };
    let record = stored.clone();
    let lines = path.clone();
    let loaded = tokio::task::spawn_blocking(move || Place::load(&record, &lines)).await;
    let mut place = loaded.unwrap_or_else(|_| Err(ListenError::new("the reader ended")))?;
    let mut tail = Tail::default();
    let mut is_unfinished_noted = false;
    while !inbox.shutdown().is_cancelled() {
        let from = path.clone();
        let before = place.clone();
        let read = tokio::task::spawn_blocking(move || next(&from, &before, tail)).await;
        let read = read.unwrap_or_else(|_| Err(io::Error::other("the reader ended")));
        let number = place.line;
        let found = match read.map_err(|error| {
            ListenError::new(format!(
                "the inbox {} cannot be read: {}; check it",
                path.display(),
                error.kind()
            ))
        })? {
            Found::Line(line, behind) => Some((message(&line), behind)),
            Found::TooLong(behind) => {
                Some((Err(format!("it has more than {MAX_LINE} bytes")), behind))
            }
            Found::Nothing(read) => {
                let is_unfinished = read.length > place.position && read == tail;
                if is_unfinished && !is_unfinished_noted {
                    inbox.note(&format!(
                        "line {number} of {} waits for its line break",
                        path.display()
                    ));
                    is_unfinished_noted = true;
                }
                tail = read;
                None
            }
            Found::Empty => {
                if place.position > 0 {
                    Place::START
                        .store(&stored)
                        .map_err(|error| unwritable(&error.kind()))?;
                }
                (tail, place) = (Tail::default(), Place::START);
                None
            }
            Found::Shorter => {
                let reason = format!("{} became shorter", path.display());
                return Err(unknown(&stored, &reason));
            }
            Found::Changed => {
                let reason = format!(
                    "{} was changed before byte {}, or replaced",
                    path.display(),
                    place.position
                );
                return Err(unknown(&stored, &reason));
            }
        };
        let Some((message, behind)) = found else {
            let _ = inbox
                .shutdown()
                .run_until_cancelled(tokio::time::sleep(PAUSE))
                .await;
            continue;
        };
        let message = message.unwrap_or_else(|reason| {
            inbox.note(&format!(
                "line {number} of {} is skipped: {reason}; write {SHAPE}",
                path.display()
            ));
            None
        });
        match message {
            None => behind
                .store(&stored)
                .map_err(|error| unwritable(&error.kind()))?,
            Some(message) => {
                let taken = inbox.put(message, &mut || behind.store(&stored)).await;
                if !taken.map_err(|error| unwritable(&error))? {
                    return Ok(());
                }
            }
        }
        (place, tail, is_unfinished_noted) = (behind, Tail::default(), false);
    }
    Ok(())
}

/// Returns the message of a line, or nothing for a blank one. Returns the reason if it is no message.
fn message(line: &[u8]) -> Result<Option<IncomingMessage>, String> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    let Line { chat, text } =
        serde_json::from_slice(line).map_err(|error| match error.classify() {
            Category::Data => "it does not have the texts `chat` and `text`, once each".to_owned(),
            _ => format!("it is not JSON from column {} on", error.column()),
        })?;
    IncomingMessage::new(chat, text)
        .map(Some)
        .map_err(|error| error.to_string())
}

/// The end of the file, which has no complete line yet. It is read again once it has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Tail {
    length: u64,
    changed: Option<SystemTime>,
    /// The position up to which a line that is too long was searched for its end. It is 0 for other lines.
    searched: u64,
}

/// The content of the file at a place.
#[derive(Debug, PartialEq)]
enum Found {
    /// A complete line, and the place behind it.
    Line(Vec<u8>, Place),
    /// A line above [`MAX_LINE`], by the place behind it.
    TooLong(Place),
    /// No complete line yet.
    Nothing(Tail),
    /// The file is empty, so that it is read from its start.
    Empty,
    /// The file ends before the place. Its lines may be ones that were taken.
    Shorter,
    /// The file has other bytes before the place. Lines behind it may be ones that were taken, and lines before it new ones.
    Changed,
}

/// Returns what is in the file at a place, where its end was this one.
fn next(path: &Path, place: &Place, tail: Tail) -> io::Result<Found> {
    match open(path).and_then(|file| read(file, place, tail)) {
        // The file is missing, or became shorter while it was read.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::UnexpectedEof) => {
            Ok(Found::Nothing(Tail::default()))
        }
        read => read,
    }
}

fn read(mut file: File, place: &Place, tail: Tail) -> io::Result<Found> {
    let metadata = file.metadata()?;
    let length = metadata.len();
    let changed = metadata.modified().ok();
    match length {
        0 => return Ok(Found::Empty),
        length if length < place.position => return Ok(Found::Shorter),
        length if (length, changed) == (tail.length, tail.changed) => {
            return Ok(Found::Nothing(tail));
        }
        _ => {}
    }
    if !place.is_in(&mut file)? {
        return Ok(Found::Changed);
    }
    let mut reader = BufReader::new(file);
    let mut end = tail.searched;
    // A line that became shorter is another one.
    if end == 0 || length < tail.length {
        reader.seek(SeekFrom::Start(place.position))?;
        let mut line = Vec::new();
        reader
            .by_ref()
            .take(MAX_LINE)
            .read_until(b'\n', &mut line)?;
        end = place.position + line.len() as u64;
        if line.ends_with(b"\n") {
            return Ok(Found::Line(line, place.next(reader.get_mut(), end)?));
        }
        if (line.len() as u64) < MAX_LINE {
            return Ok(Found::Nothing(Tail {
                length,
                changed,
                searched: 0,
            }));
        }
    }
    reader.seek(SeekFrom::Start(end))?;
    loop {
        let part = reader.fill_buf()?;
        let Some(found) = part.iter().position(|byte| *byte == b'\n') else {
            let read = part.len();
            if read == 0 {
                return Ok(Found::Nothing(Tail {
                    length,
                    changed,
                    searched: end,
                }));
            }
            end += read as u64;
            reader.consume(read);
            continue;
        };
        end += found as u64 + 1;
        return Ok(Found::TooLong(place.next(reader.get_mut(), end)?));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use super::*;

    /// Returns the end of a file without a complete line.
    fn tail(path: &Path, before: Tail) -> Tail {
        let Found::Nothing(tail) = next(path, &Place::START, before).unwrap() else {
            panic!("a line is complete")
        };
        tail
    }

    /// Returns the position behind the first line of a file.
    fn behind(path: &Path, before: Tail) -> u64 {
        match next(path, &Place::START, before).unwrap() {
            Found::Line(line, place) => {
                assert_eq!(line, b"line\n");
                place.position
            }
            Found::TooLong(place) => place.position,
            found => panic!("{found:?}"),
        }
    }

    #[test]
    fn an_end_without_a_line_break_is_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in.jsonl");
        fs::write(&path, "begin").unwrap();
        let read = tail(&path, Tail::default());
        // Other text, which is seen only by reading it.
        let changed = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, "line\n").unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(changed).unwrap();
        assert_eq!(tail(&path, read), read);
        file.set_modified(changed + Duration::from_secs(1)).unwrap();
        assert_eq!(behind(&path, read), 5);
    }

    #[test]
    fn a_line_that_is_too_long_is_searched_once_for_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in.jsonl");
        let long = vec![b'x'; MAX_LINE as usize + 10_000];
        fs::write(&path, &long).unwrap();
        let read = tail(&path, Tail::default());
        assert_eq!(read.searched, long.len() as u64);
        // A line break before is seen only by reading that part again.
        let mut file = File::options().write(true).open(&path).unwrap();
        file.write_all(b"x\n").unwrap();
        file.seek(SeekFrom::End(0)).unwrap();
        file.write_all(b"more").unwrap();
        let read = tail(&path, read);
        assert_eq!(read.searched, long.len() as u64 + 4);
        file.write_all(b"\n").unwrap();
        assert_eq!(behind(&path, read), long.len() as u64 + 5);
        // A shorter file has other lines.
        fs::write(&path, "line\n").unwrap();
        assert_eq!(behind(&path, read), 5);
    }
}
