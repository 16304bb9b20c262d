//! Journals in files of SQLite.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tools::Journal;
use tools_journal::{Audit, AuditEntry, Head, JournalOptions, SqliteJournal};

use crate::duration;
use crate::error::Error;
use crate::output::{self, FAINT, STRONG, styled};
use crate::visible::visible;

pub(super) fn open(path: &Path, with_arguments: bool) -> Result<Arc<dyn Journal>, Error> {
    Ok(Arc::new(SqliteJournal::open(path, JournalOptions::new().with_arguments(with_arguments))?))
}

/// How many rows there are, and the head.
pub(crate) fn verify(path: &Path, head: Option<&str>) -> Result<(u64, String), Error> {
    let head: Option<Head> = head.map(str::parse).transpose()?;
    let head = Audit::open(path)?.verify(head.as_ref())?;
    Ok((head.count, head.to_string()))
}

/// Prints the rows of a session, or all.
pub(crate) fn show(path: &Path, session: Option<&str>, is_json: bool) -> Result<(), Error> {
    let mut printed = Ok(());
    let visitor = |entry: AuditEntry| {
        printed = if is_json { output::json(&entry) } else { output::page(&line(&entry)) };
        if printed.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    Audit::open(path)?.visit(session, visitor)?;
    printed
}

/// One row as one line, such as `12  2026-01-31T12:00:00Z  outcome  s 3.0  fs.read  2ms`.
fn line(entry: &AuditEntry) -> String {
    let at = Timestamp::from_millisecond(entry.at_ms).map_or_else(|_| entry.at_ms.to_string(), |at| at.to_string());
    let mut line = format!("{:>6}  {}  {:7}", entry.seq, styled(FAINT, at), visible(&entry.kind));
    if let Some(session) = &entry.session {
        let _ = write!(line, "  {}", visible(session));
    }
    if let (Some(turn), Some(index)) = (entry.turn, entry.index) {
        let path = entry.path.as_ref().map(|path| format!(".{}", visible(path))).unwrap_or_default();
        let _ = write!(line, "  turn {turn} call {index}{path}");
    }
    let _ = write!(line, "  {}", styled(STRONG, visible(&entry.tool)));
    if let Some(error) = &entry.error {
        let _ = write!(line, "  {}", visible(error));
    }
    if let Some(took) = entry.duration_us {
        let _ = write!(line, "  {}", duration::shown(Duration::from_micros(took)));
    }
    line.push('\n');
    line
}
