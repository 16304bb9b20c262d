//! Follows a file of JSON lines.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use crate::{Inbox, IncomingMessage, ListenError};

/// The pause before the file is read again.
const PAUSE: Duration = Duration::from_millis(200);

/// The maximum size of a line. Longer ones are skipped.
const MAX_LINE: u64 = 256 * 1024;

/// The file with the place up to which messages were taken.
const POSITION: &str = "position";

/// A line of the file. Other keys are ignored.
#[derive(Deserialize)]
struct Line {
    chat: String,
    text: String,
}

/// Takes the messages of a file, from the place where the last listener stopped, and waits for further ones.
///
/// The place is stored before a message is handled, so that none is handled twice.
pub(crate) async fn follow(path: PathBuf, inbox: Inbox) -> Result<(), ListenError> {
    let stored = inbox.folder().join(POSITION);
    let mut position = fs::read_to_string(&stored).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0);
    while !inbox.shutdown().is_cancelled() {
        let from = path.clone();
        let read = tokio::task::spawn_blocking(move || next(&from, position)).await;
        let read = read.unwrap_or_else(|_| Err(io::Error::other("the reader ended")));
        let unreadable = |error: io::Error| {
            ListenError::new(format!("the inbox {} cannot be read: {}; check it", path.display(), error.kind()))
        };
        let Some((line, end)) = read.map_err(unreadable)? else {
            let _ = inbox.shutdown().run_until_cancelled(tokio::time::sleep(PAUSE)).await;
            continue;
        };
        match serde_json::from_slice::<Line>(&line) {
            _ if line.iter().all(u8::is_ascii_whitespace) => {}
            Ok(Line { chat, text }) => match IncomingMessage::new(chat, text) {
                Ok(message) => {
                    if !inbox.put(message).await {
                        return Ok(());
                    }
                }
                Err(error) => inbox.note(&format!("a line of {} is skipped: {error}", path.display())),
            },
            Err(error) => inbox.note(&format!("a line of {} is skipped, which is no message: {error}", path.display())),
        }
        store(&stored, end).map_err(|error| {
            ListenError::new(format!("{} cannot be written: {}; check it", stored.display(), error.kind()))
        })?;
        position = end;
    }
    Ok(())
}

/// Returns the complete line at a position, and the position behind it. Returns `None` if there is none yet. A file that became shorter is
/// read from its start.
fn next(path: &Path, position: u64) -> io::Result<Option<(Vec<u8>, u64)>> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let start = if file.metadata()?.len() < position { 0 } else { position };
    file.seek(SeekFrom::Start(start))?;
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)?;
    let mut end = start + line.len() as u64;
    if line.ends_with(b"\n") {
        return Ok(Some((line, end)));
    }
    if (line.len() as u64) < MAX_LINE {
        return Ok(None);
    }
    loop {
        let part = reader.fill_buf()?;
        let Some(found) = part.iter().position(|byte| *byte == b'\n') else {
            let length = part.len();
            if length == 0 {
                return Ok(None);
            }
            end += length as u64;
            reader.consume(length);
            continue;
        };
        return Ok(Some((b"the line is too long".to_vec(), end + found as u64 + 1)));
    }
}

/// Replaces the stored position, so that it is never half written.
fn store(path: &Path, position: u64) -> io::Result<()> {
    let draft = path.with_extension("new");
    fs::write(&draft, position.to_string())?;
    fs::rename(&draft, path)
}
