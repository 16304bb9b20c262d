//! Text on standard error.

use std::io::{self, IsTerminal as _, Write as _};

use anstream::{AutoStream, ColorChoice};
use host::fit;

/// Writes text composed by this program. The text may contain styles.
pub fn write(text: &str) {
    let mut err = anstream::stderr().lock();
    // A failed write to standard error cannot be reported.
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

/// Writes one line.
pub fn write_line(line: &str) {
    write(&format!("{line}\n"));
}

/// Writes text with control sequences to standard error, which must be a terminal.
pub fn write_raw(text: &str) {
    let mut err = io::stderr().lock();
    // A failed write to standard error cannot be reported.
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

/// Returns the columns. Without a terminal they are `COLUMNS`, or else 80.
pub fn width() -> usize {
    size().map_or_else(fit::default_columns, |(width, _)| width)
}

/// Returns the columns and lines, or `None` if standard error is not a terminal.
pub fn size() -> Option<(usize, usize)> {
    let size = terminal_size::terminal_size_of(io::stderr());
    size.map(|(width, height)| (usize::from(width.0), usize::from(height.0)))
}

/// Returns true if standard error is a terminal that takes more than plain text.
pub fn has_styles() -> bool {
    io::stderr().is_terminal() && AutoStream::choice(&io::stderr()) != ColorChoice::Never
}
