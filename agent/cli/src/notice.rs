//! Styles, and messages on the standard error: errors, hints, warnings and notes.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::sync::Arc;

use agent::Selection;
use anstyle::{AnsiColor, Style};
use tools::Entry;

use crate::visible;

/// Names of tools and headings.
pub(crate) const STRONG: Style = Style::new().bold();
/// The style of details.
pub(crate) const FAINT: Style = Style::new().dimmed();
/// The style of success.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// The style of failure.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// The style of warnings.
pub(crate) const ALERT: Style = AnsiColor::Yellow.on_default().bold();

/// The text in a style.
pub(crate) fn styled(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Writes what this program composed itself to the standard error, where it does not come between results.
pub(crate) fn aside(text: &str) {
    let mut err = anstream::stderr().lock();
    // With the standard error gone there is nobody left to tell about it.
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

/// Returns the number of columns of the standard error, or `None` if it is no terminal.
pub(crate) fn width() -> Option<usize> {
    terminal_size::terminal_size_of(io::stderr()).map(|(width, _)| usize::from(width.0))
}

/// Tells of an error on the standard error.
pub(crate) fn error(message: &str) {
    tell(&labelled(BAD, "error", message));
}

/// Tells what to do next on the standard error.
pub(crate) fn hint(message: &str) {
    tell(&labelled(GOOD, "hint", message));
}

/// Tells of something unexpected on the standard error.
pub(crate) fn warning(message: &str) {
    tell(&labelled(ALERT, "warning", message));
}

/// Tells of something worth knowing on the standard error.
pub(crate) fn note(message: &str) {
    tell(&labelled(FAINT, "note", message));
}

/// Warns of globs that select nothing, most often misspelt names.
pub(crate) fn warn_unmatched(selection: &Selection, entries: &[Arc<Entry>]) {
    for pattern in selection.unmatched(entries) {
        warning(&format!("no tool matches {pattern}; toolcrib list shows what there is"));
    }
}

fn labelled(style: Style, label: &str, message: &str) -> String {
    format!("{}: {}", styled(style, label), visible::message(message))
}

/// Writes one line to the standard error.
pub(crate) fn tell(line: &str) {
    aside(&format!("{line}\n"));
}
