//! Text on standard output.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use anstream::{AutoStream, ColorChoice};
use host::fit;
use tools::visible::harmless;

use crate::markdown;

/// The failure of standard output.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the output: {0}; check the destination of standard output")]
pub struct OutputError(pub io::Error);

/// Writes text composed by this program. Its styles are kept on terminals only.
///
/// # Errors
///
/// Returns an error if standard output cannot be written, as all functions here do.
pub fn page(text: &str) -> Result<(), OutputError> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(OutputError)
}

/// Writes untrusted text and ends its last line. On a terminal the text is made harmless.
pub fn write_untrusted(text: &str) -> Result<(), OutputError> {
    line(&untrusted(text))
}

/// Writes untrusted text like [`write_untrusted`], but without ending its last line.
pub fn untrusted_piece(text: &str) -> Result<(), OutputError> {
    raw(&untrusted(text))
}

/// Returns untrusted text without the characters that would command the terminal.
fn untrusted(text: &str) -> Cow<'_, str> {
    if io::stdout().is_terminal() {
        harmless(text)
    } else {
        text.into()
    }
}

/// Writes the whole text of a model and ends its last line. On a terminal it is rendered.
pub fn answer(text: &str) -> Result<(), OutputError> {
    if !is_rendered() {
        return write_untrusted(text);
    }
    line(&markdown::lines(text, width()).join("\n"))
}

/// Returns the columns. Without a terminal they are `COLUMNS`, or else 80.
pub fn width() -> usize {
    let size = terminal_size::terminal_size_of(io::stdout());
    size.map_or_else(fit::default_columns, |(width, _)| usize::from(width.0))
}

/// Writes a harmless text and ends its last line.
pub fn line(text: &str) -> Result<(), OutputError> {
    write(&[text, if text.ends_with('\n') { "" } else { "\n" }])
}

/// Writes text with control sequences.
pub fn raw(text: &str) -> Result<(), OutputError> {
    write(&[text])
}

/// Returns true if the text of a model is rendered: if standard output is a terminal that takes more than plain text, unless it
/// [is plain](set_plain).
pub fn is_rendered() -> bool {
    !IS_PLAIN.load(Ordering::Relaxed)
        && io::stdout().is_terminal()
        && AutoStream::choice(&io::stdout()) != ColorChoice::Never
}

/// Sets whether the text of a model is written as it is.
pub fn set_plain(is_plain: bool) {
    IS_PLAIN.store(is_plain, Ordering::Relaxed);
}

/// True if the text of a model is written as it is.
static IS_PLAIN: AtomicBool = AtomicBool::new(false);

fn write(parts: &[&str]) -> Result<(), OutputError> {
    let mut out = io::stdout().lock();
    let mut parts = parts.iter();
    let written = parts.try_for_each(|part| out.write_all(part.as_bytes()));
    written.and_then(|()| out.flush()).map_err(OutputError)
}
