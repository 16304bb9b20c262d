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

/// Wraps lines at words if standard error is a terminal. Further rows are indented, so that untrusted words do not begin one as another
/// line would. A line with a command to copy should stay whole.
pub fn wrapped(lines: &str) -> String {
    size().map_or_else(
        || lines.to_owned(),
        |(width, _)| wrapped_to(lines, width.saturating_sub(1)),
    )
}

fn wrapped_to(lines: &str, room: usize) -> String {
    let rows: String = lines
        .split('\n')
        .map(|line| fit::hanging(line, room, "", "   "))
        .collect();
    rows.trim_end_matches('\n').to_owned()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_after_the_first_are_indented_and_styles_take_no_room() {
        assert_eq!(
            wrapped_to("\x1b[2mnote\x1b[0m: one two three\n  | a  b", 9),
            "\x1b[2mnote\x1b[0m: one\n   two\n   three\n  | a  b"
        );
        assert_eq!(wrapped_to("a/long/path b", 4), "a/long/path\n   b");
    }
}
