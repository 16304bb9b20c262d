//! Results on standard output, and the [`Console`] of a run.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde::Serialize;
use tools::{Content, ToolResult};

use crate::error::Error;
use crate::notice::{note, write as write_stderr, write_line};
use crate::spinner::Spinner;
use crate::visible::{harmless, harmless_json};

/// Writes text composed by this program. Its styles are kept on terminals only.
pub(crate) fn page(text: &str) -> Result<(), Error> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Error::Output)
}

/// Writes one JSON document on one line.
pub(crate) fn json(document: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_string(document).map_err(|error| Error::Output(error.into()))?;
    line(&harmless_json(&text))
}

/// Writes untrusted text and ends its last line. On a terminal the text is made harmless.
pub(crate) fn untrusted(text: &str) -> Result<(), Error> {
    if io::stdout().is_terminal() { line(&harmless(text)) } else { line(text) }
}

/// Writes untrusted text like [`untrusted`], but without ending its last line.
pub(crate) fn untrusted_piece(text: &str) -> Result<(), Error> {
    let text = if io::stdout().is_terminal() { harmless(text) } else { text.into() };
    write(&[&text])
}

/// Writes the text of a result, and notes other content on standard error.
pub(crate) fn result(result: &ToolResult) -> Result<(), Error> {
    match (&result.content[..], &result.structured) {
        ([], Some(value)) => json(value)?,
        _ => {
            for content in &result.content {
                match content.as_text() {
                    Some(text) => untrusted(text)?,
                    None => note(&format!("the result contains {}, which only --json prints", kind(content))),
                }
            }
        }
    }
    Ok(())
}

fn kind(content: &Content) -> String {
    match content {
        Content::Image { mime_type, .. } => format!("an image ({mime_type})"),
        Content::Audio { mime_type, .. } => format!("audio ({mime_type})"),
        Content::ResourceLink { uri, .. } => format!("a link to {uri}"),
        _ => "binary content".to_owned(),
    }
}

/// Returns the width of standard output in columns, or `None` if it is not a terminal.
pub(crate) fn width() -> Option<usize> {
    terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0))
}

fn line(text: &str) -> Result<(), Error> {
    write(&[text, if text.ends_with('\n') { "" } else { "\n" }])
}

fn write(parts: &[&str]) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    let written = parts.iter().try_for_each(|part| out.write_all(part.as_bytes()));
    written.and_then(|()| out.flush()).map_err(Error::Output)
}

/// The standard error of a run: progress lines above a status line. Progress is held back while a question is open.
#[derive(Debug, Default)]
pub(crate) struct Console(Mutex<ConsoleState>);

#[derive(Debug, Default)]
struct ConsoleState {
    is_asking: bool,
    lines: Vec<String>,
    status: Option<(String, Instant)>,
    spinner: Option<Spinner>,
}

/// An open question, until it is dropped.
#[derive(Debug)]
pub(crate) struct OpenQuestion<'a> {
    console: &'a Console,
    /// True after an answer line. A timeout or a cancellation drops the question without one.
    pub(crate) is_answered: bool,
}

impl Console {
    /// Writes a progress line, which must be harmless.
    pub(crate) fn progress(&self, line: String) {
        let mut state = self.state();
        if state.is_asking {
            state.lines.push(line);
            return;
        }
        state.spinner = None;
        write_line(&line);
        state.spin();
    }

    /// Sets the status line: the awaited call or model, and the start of the wait. The text must be visible. Set `None` before
    /// writing to the terminal by other means.
    pub(crate) fn set_status(&self, status: Option<(String, Instant)>) {
        let mut state = self.state();
        state.status = status;
        state.spin();
    }

    /// Opens a question.
    pub(crate) fn question(&self) -> OpenQuestion<'_> {
        let mut state = self.state();
        state.is_asking = true;
        state.spin();
        OpenQuestion { console: self, is_answered: false }
    }

    fn state(&self) -> MutexGuard<'_, ConsoleState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConsoleState {
    fn spin(&mut self) {
        // Dropped first: dropping a spinner clears the line that the next one uses.
        self.spinner = None;
        let status = self.status.as_ref().filter(|_| !self.is_asking);
        self.spinner = status.and_then(|(text, since)| Spinner::start(text, *since));
    }
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        // Other output must not continue the line of the question.
        if !self.is_answered {
            write_stderr("\n");
        }
        let mut state = self.console.state();
        state.is_asking = false;
        state.lines.drain(..).for_each(|line| write_line(&line));
        state.spin();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_waits_while_a_question_is_open() {
        let console = Console::default();
        let question = console.question();
        console.progress("later".to_owned());
        assert_eq!(console.state().lines, ["later"]);
        drop(question);
        assert!(console.state().lines.is_empty() && !console.state().is_asking);
    }
}
