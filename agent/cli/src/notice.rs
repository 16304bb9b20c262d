//! Styles, and labelled messages on standard error: errors, hints, warnings and notes.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::sync::Arc;

use agent::Selection;
use anstyle::{AnsiColor, Style};
use tools::Entry;

use crate::{fit, program, visible};

/// The style of tool names and headings.
pub(crate) const STRONG: Style = Style::new().bold();
/// The style of details.
pub(crate) const FAINT: Style = Style::new().dimmed();
/// The style of success.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// The style of failure.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// The style of warnings.
pub(crate) const ALERT: Style = AnsiColor::Yellow.on_default().bold();

/// Returns the text in a style.
pub(crate) fn styled(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Writes text composed by this program to standard error. The text may contain styles.
pub(crate) fn write(text: &str) {
    let mut err = anstream::stderr().lock();
    // A failed write to standard error cannot be reported.
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

/// Writes text with control sequences to standard error, which must be a terminal.
pub(crate) fn write_raw(text: &str) {
    let mut err = io::stderr().lock();
    // A failed write to standard error cannot be reported.
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

/// Returns the width of standard error in columns. Without a terminal it is `COLUMNS`, or else 80.
pub(crate) fn width() -> usize {
    size().map_or_else(fit::default_columns, |(width, _)| width)
}

/// Returns the columns and lines of standard error, or `None` if it is not a terminal.
pub(crate) fn size() -> Option<(usize, usize)> {
    let size = terminal_size::terminal_size_of(io::stderr());
    size.map(|(width, height)| (usize::from(width.0), usize::from(height.0)))
}

/// Prints an error.
pub(crate) fn error(message: &str) {
    write_line(&labelled(BAD, "error", message));
}

/// Prints a hint: the next step for the user.
pub(crate) fn hint(message: &str) {
    write_line(&labelled(GOOD, "hint", message));
}

/// Prints a warning.
pub(crate) fn warning(message: &str) {
    write_line(&labelled(ALERT, "warning", message));
}

/// Prints a note.
pub(crate) fn note(message: &str) {
    write_line(&labelled(FAINT, "note", message));
}

/// Warns about globs that match no tool; most are misspelt names.
pub(crate) fn warn_unmatched(selection: &Selection, entries: &[Arc<Entry>]) {
    for pattern in selection.unmatched(entries) {
        warning(&format!("no tool matches {pattern}; run {} list to see all names", program::name()));
    }
}

fn labelled(style: Style, label: &str, message: &str) -> String {
    format!("{}: {}", styled(style, label), visible::message(message))
}

/// Writes one line to standard error.
pub(crate) fn write_line(line: &str) {
    write(&format!("{line}\n"));
}
