//! The command `audit`, as far as it reads journals.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use host::style::{FAINT, STRONG, paint};
use host::{
    Argument, Arguments, Command, CommandContext, CommandError, Exit, ValueForm, ValueKind,
    duration,
};
use jiff::Timestamp;
use serde_json::{Value, json};
use tools::visible::visible;
use tools::{ToolError, counted, join};
use tools_journal::{Audit, AuditEntry, AuditError, Head};

use crate::error::SessionError;
use crate::folder::SessionFolder;

/// The number of sessions named in the error for an unknown one.
const NAMED: usize = 8;

/// The kind of a row without content.
const ERASED: &str = "erased";

/// The journal to read.
const FILE: Argument = Argument::Value {
    name: "file",
    value: "FILE|ID",
    form: ValueForm::Required,
    kind: ValueKind::Path,
    help: "The journal file, or the ID of a recorded session",
};

/// The option for JSON.
const JSON: &str = "json";

/// Verifies and shows journals.
pub(crate) const AUDIT: Command = Command {
    examples: "audit show 1nk2             # Print the calls of a session, whose ID begins so
               audit verify calls.journal  # Check that a journal is unaltered",
    commands: &[VERIFY, SHOW],
    ..Command::new("audit")
};

const VERIFY: Command = Command {
    about: "Verify that a journal is unaltered, and print its head",
    details: "Detects rows that were edited, deleted, added or moved. Rows cut off at the end, or a rewritten file, are detected only with \
              an earlier head, so keep the printed head in another place.",
    arguments: &[
        FILE,
        Argument::value::<String>(
            ValueForm::Named,
            "head",
            "COUNT:HASH",
            "An earlier head, as printed by this command",
        ),
        Argument::flag(JSON, "Print the head or the damage as one JSON document"),
    ],
    run: Some(|arguments, cx| Box::pin(async { verify(arguments, cx) })),
    ..Command::new("verify")
};

const SHOW: Command = Command {
    about: "Show the rows of a journal: intents, outcomes and refusals of calls",
    arguments: &[
        FILE,
        Argument::value::<String>(
            ValueForm::Named,
            "session",
            "NAME",
            "Show the rows of this session only",
        ),
        Argument::flag(
            JSON,
            "Print the complete rows as JSON, one document per line",
        ),
    ],
    run: Some(|arguments, cx| Box::pin(async { show(arguments, cx) })),
    ..Command::new("show")
};

fn verify(arguments: &Arguments, cx: &dyn CommandContext) -> Result<Exit, CommandError> {
    let head: Option<String> = arguments.value("head")?;
    let head: Option<Result<Head, _>> = head.map(|head| head.parse());
    let head = head.transpose().map_err(SessionError::from)?;
    let audit = open(arguments)?;
    let is_json = arguments.is_given(JSON);
    match audit.verify(head.as_ref()).and_then(|head| Ok((head, audit.count_erased()?))) {
        Ok((head, erased)) if is_json => cx.write_json(
            &json!({"count": head.count, "head": head.to_string(), "erased": erased, "damage": null}),
        )?,
        Ok((head, erased)) => {
            cx.write_page(&format!("{head}\n"))?;
            if erased > 0 {
                cx.note(&format!("erased: {}", counted(erased, "row")));
            }
        }
        Err(error) => {
            if is_json {
                cx.write_json(&json!({"damage": damage(&error)}))?;
            }
            return Err(SessionError::Damaged(error).into());
        }
    }
    Ok(Exit::Success)
}

fn open(arguments: &Arguments) -> Result<Audit, SessionError> {
    let path = arguments.path("file").unwrap_or_default();
    Ok(Audit::open(locate(&path)?)?)
}

/// Returns the journal of the recorded session of that ID, or the path itself if it exists.
fn locate(path: &Path) -> Result<PathBuf, SessionError> {
    if path.exists() {
        return Ok(path.to_owned());
    }
    let text = path.to_string_lossy();
    match SessionFolder::new().and_then(|folder| folder.private_journal(folder.find(&text)?)) {
        // The person may have meant a file, so the error speaks of both.
        Err(SessionError::Unknown { .. } | SessionError::NoHome) => Err(SessionError::NoJournal {
            text: text.into_owned(),
        }),
        found => found,
    }
}

/// Returns the damage of a journal as JSON: its kind and the first damaged row.
fn damage(damage: &AuditError) -> Value {
    let (kind, row) = match damage {
        AuditError::Altered { row } => ("altered", Some(*row)),
        AuditError::Missing { row } => ("missing", Some(*row)),
        AuditError::Truncated { found, .. } => ("cut_off", Some(found.saturating_add(1))),
        AuditError::Rewritten { row } => ("rewritten", Some(*row)),
        _ => ("unreadable", None),
    };
    json!({"kind": kind, "row": row, "message": damage.to_string()})
}

fn show(arguments: &Arguments, cx: &dyn CommandContext) -> Result<Exit, CommandError> {
    let (session, is_json): (Option<String>, _) =
        (arguments.value("session")?, arguments.is_given(JSON));
    let mut printed = Ok(Exit::Success);
    let mut is_empty = true;
    let audit = open(arguments)?;
    let visited = audit.visit(session.as_deref(), |entry| {
        is_empty = false;
        let written = if is_json {
            cx.write_json(&entry)
        } else {
            cx.write_page(&line(&entry))
        };
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                printed = Err(error);
                ControlFlow::Break(())
            }
        }
    });
    visited.map_err(SessionError::Damaged)?;
    match session {
        Some(name) if is_empty => {
            let advice = advice(&audit, &name)?;
            Err(SessionError::NoCalls { name, advice }.into())
        }
        _ => printed,
    }
}

/// Returns advice that lists the sessions of a journal, with similar names first.
pub(crate) fn advice(audit: &Audit, name: &str) -> Result<String, SessionError> {
    let mut names = BTreeSet::new();
    audit
        .visit(None, |entry| {
            names.extend(entry.session);
            ControlFlow::Continue(())
        })
        .map_err(SessionError::Damaged)?;
    let near = ToolError::near(name, names.iter().map(String::as_str));
    let others = names.iter().filter(|name| !near.contains(name));
    let named = near.iter().chain(others).take(NAMED);
    let named = join(named.map(|other| format!("{other:?}")), ", ");
    Ok(match names.len() {
        0 => "no call in it has a session, so there is none to name".to_owned(),
        count if count > NAMED => {
            format!("the sessions are {named} and {} more", count - NAMED)
        }
        _ => format!("the sessions are {named}"),
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
        paint(FAINT, at),
        // The file may come from elsewhere, with characters that a terminal obeys.
        visible(&entry.kind)
    );
    if let Some(session) = &entry.session {
        let _ = write!(line, "  {}", visible(session));
    }
    if let (Some(turn), Some(index)) = (entry.turn, entry.index) {
        let path = entry.path.as_ref();
        let path = path.map(|path| format!(".{}", visible(path)));
        let path = path.unwrap_or_default();
        let _ = write!(line, "  turn {turn} call {index}{path}");
    }
    let _ = write!(line, "  {}", paint(STRONG, visible(&entry.tool)));
    if let Some(error) = &entry.error {
        let _ = write!(line, "  {}", visible(error));
    }
    if let Some(took) = entry.duration_us {
        let _ = write!(line, "  {}", duration::format(Duration::from_micros(took)));
    }
    for text in [&entry.reason, &entry.ruling].into_iter().flatten() {
        let _ = write!(line, "  {}", paint(FAINT, visible(text)));
    }
    line.push('\n');
    line
}
