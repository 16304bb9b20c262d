//! Journals in SQLite files.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use tools::ToolError;
use tools_journal::{Audit, AuditEntry, AuditError, Head};

use crate::error::Error;
use crate::notice::{FAINT, STRONG, styled};
use crate::output;
use crate::sessions::{SessionError, SessionFolder};
use crate::visible::visible;
use host::duration;

/// The number of sessions named in the error for an unknown one.
const NAMED: usize = 8;

/// The kind of a row without content.
const ERASED: &str = "erased";

/// Verifies the journal and returns its number of rows, its head and its number of erased rows.
pub(crate) fn verify(path: &Path, head: Option<&str>) -> Result<(u64, String, u64), Error> {
    let head: Option<Head> = head.map(str::parse).transpose()?;
    let audit = Audit::open(located(path)?)?;
    let head = audit.verify(head.as_ref())?;
    Ok((head.count, head.to_string(), audit.erased()?))
}

/// Returns the journal of the recorded session of that ID, or the path itself if it exists.
fn located(path: &Path) -> Result<PathBuf, SessionError> {
    if path.exists() {
        return Ok(path.to_owned());
    }
    let text = path.to_string_lossy();
    match SessionFolder::new().and_then(|folder| folder.private_journal(folder.find(&text)?)) {
        Err(SessionError::Unknown { .. } | SessionError::NoHome) => Err(SessionError::NoJournal {
            text: text.into_owned(),
        }),
        found => found,
    }
}

/// Returns the damage of a journal as JSON: its kind and the first damaged row. Returns `None` for other errors.
pub(crate) fn damage(error: &Error) -> Option<Value> {
    let Error::Audit(damage) = error else {
        return None;
    };
    let (kind, row) = match damage {
        AuditError::Open(_) => return None,
        AuditError::Altered { row } => ("altered", Some(*row)),
        AuditError::Missing { row } => ("missing", Some(*row)),
        AuditError::Truncated { found, .. } => ("cut_off", Some(found.saturating_add(1))),
        AuditError::Rewritten { row } => ("rewritten", Some(*row)),
        _ => ("unreadable", None),
    };
    Some(json!({"kind": kind, "row": row, "message": damage.to_string()}))
}

/// Prints the rows of a session, or all rows.
pub(crate) fn show(path: &Path, session: Option<&str>, is_json: bool) -> Result<(), Error> {
    let mut printed = Ok(());
    let mut is_empty = true;
    let visitor = |entry: AuditEntry| {
        is_empty = false;
        printed = if is_json {
            output::json(&entry)
        } else {
            output::page(&line(&entry))
        };
        if printed.is_ok() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    };
    let audit = Audit::open(located(path)?)?;
    audit.visit(session, visitor)?;
    match session {
        Some(name) if is_empty => Err(Error::NoCalls {
            name: name.to_owned(),
            advice: advice(&audit, name)?,
        }),
        _ => printed,
    }
}

/// Returns advice that lists the sessions of a journal, with similar names first.
pub(crate) fn advice(audit: &Audit, name: &str) -> Result<String, Error> {
    let mut names = BTreeSet::new();
    audit.visit(None, |entry| {
        names.extend(entry.session);
        ControlFlow::Continue(())
    })?;
    let near = ToolError::near(name, names.iter().map(String::as_str));
    let others = names.iter().filter(|name| !near.contains(name));
    let named: Vec<_> = near
        .iter()
        .chain(others)
        .take(NAMED)
        .map(|other| format!("{other:?}"))
        .collect();
    Ok(match names.len() {
        0 => "no call in it has a session, so there is none to name".to_owned(),
        count if count > NAMED => format!(
            "the sessions are {} and {} more",
            named.join(", "),
            count - NAMED
        ),
        _ => format!("the sessions are {}", named.join(", ")),
    })
}

/// Formats a row as a line, such as `12  2026-01-31T12:00:00Z  outcome  s 3.0  fs.read  2ms`.
fn line(entry: &AuditEntry) -> String {
    if entry.kind == ERASED {
        return format!("{:>6}  {ERASED}\n", entry.seq);
    }
    let at = Timestamp::from_millisecond(entry.at_ms)
        .map_or_else(|_| entry.at_ms.to_string(), |at| at.to_string());
    let mut line = format!(
        "{:>6}  {}  {:7}",
        entry.seq,
        styled(FAINT, at),
        visible(&entry.kind)
    );
    if let Some(session) = &entry.session {
        let _ = write!(line, "  {}", visible(session));
    }
    if let (Some(turn), Some(index)) = (entry.turn, entry.index) {
        let path = entry
            .path
            .as_ref()
            .map(|path| format!(".{}", visible(path)))
            .unwrap_or_default();
        let _ = write!(line, "  turn {turn} call {index}{path}");
    }
    let _ = write!(line, "  {}", styled(STRONG, visible(&entry.tool)));
    if let Some(error) = &entry.error {
        let _ = write!(line, "  {}", visible(error));
    }
    if let Some(took) = entry.duration_us {
        let _ = write!(line, "  {}", duration::shown(Duration::from_micros(took)));
    }
    for text in [&entry.reason, &entry.ruling].into_iter().flatten() {
        let _ = write!(line, "  {}", styled(FAINT, visible(text)));
    }
    line.push('\n');
    line
}
