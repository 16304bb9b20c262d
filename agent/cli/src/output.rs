//! Results on the standard output, and the [`Console`] of a run.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde::Serialize;
use tools::{Content, ToolResult};

use crate::error::Error;
use crate::notice::{aside, note, tell};
use crate::spinner::Spinner;
use crate::visible::{harmless, harmless_json};

/// Writes what this program composed itself, with its styles where the standard output is a terminal.
pub(crate) fn page(text: &str) -> Result<(), Error> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Error::Output)
}

/// Writes one JSON document on one line.
pub(crate) fn json(document: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_string(document).map_err(|error| Error::Output(error.into()))?;
    line(&harmless_json(&text))
}

/// Writes text that came from elsewhere, and ends its last line: as it is, or made harmless for a terminal.
pub(crate) fn foreign(text: &str) -> Result<(), Error> {
    if io::stdout().is_terminal() { line(&harmless(text)) } else { line(text) }
}

/// Writes a piece of text that came from elsewhere, as [`foreign`] does but without ending its last line.
pub(crate) fn piece(text: &str) -> Result<(), Error> {
    let text = if io::stdout().is_terminal() { harmless(text) } else { text.into() };
    write(&[&text])
}

/// Writes the texts of a result, and tells on the standard error of what is not text.
pub(crate) fn result(result: &ToolResult) -> Result<(), Error> {
    match (&result.content[..], &result.structured) {
        ([], Some(value)) => json(value)?,
        _ => {
            for content in &result.content {
                match content.as_text() {
                    Some(text) => foreign(text)?,
                    None => note(&format!("the result has {}, which only --json prints", kind(content))),
                }
            }
        }
    }
    Ok(())
}

fn kind(content: &Content) -> String {
    match content {
        Content::Image { mime_type, .. } => format!("a picture ({mime_type})"),
        Content::Audio { mime_type, .. } => format!("a recording ({mime_type})"),
        Content::ResourceLink { uri, .. } => format!("a link to {uri}"),
        _ => "something that is not text".to_owned(),
    }
}

/// How many columns the standard output has, where it is a terminal.
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

/// The standard error of a run: its last line says what is waited for, and lines of progress wait while a question is open.
#[derive(Debug, Default)]
pub(crate) struct Console(Mutex<Held>);

#[derive(Debug, Default)]
struct Held {
    is_asking: bool,
    lines: Vec<String>,
    waiting: Option<(String, Instant)>,
    spinner: Option<Spinner>,
}

/// As long as it lives, the question is open.
#[derive(Debug)]
pub(crate) struct Question<'a> {
    console: &'a Console,
    /// Whether the last line of the question has its answer. It may be given up on before: its time runs out, or the call is
    /// taken back.
    pub(crate) is_answered: bool,
}

impl Console {
    /// Writes a line of progress, which must be harmless.
    pub(crate) fn progress(&self, line: String) {
        let mut held = self.held();
        if held.is_asking {
            held.lines.push(line);
            return;
        }
        held.spinner = None;
        tell(&line);
        held.spin();
    }

    /// Shows what is waited for, which must be visible, and since when; or that nothing is, which has to come before anything
    /// else is written to the terminal.
    pub(crate) fn wait(&self, waiting: Option<(String, Instant)>) {
        let mut held = self.held();
        held.waiting = waiting;
        held.spin();
    }

    /// Opens a question.
    pub(crate) fn question(&self) -> Question<'_> {
        let mut held = self.held();
        held.is_asking = true;
        held.spin();
        Question { console: self, is_answered: false }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn spin(&mut self) {
        // The old one goes first: it wipes the line that the new one takes.
        self.spinner = None;
        let waiting = self.waiting.as_ref().filter(|_| !self.is_asking);
        self.spinner = waiting.and_then(|(what, since)| Spinner::start(what, *since));
    }
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        // Other output does not belong to the line of the question.
        if !self.is_answered {
            aside("\n");
        }
        let mut held = self.console.held();
        held.is_asking = false;
        held.lines.drain(..).for_each(|line| tell(&line));
        held.spin();
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
        assert_eq!(console.held().lines, ["later"]);
        drop(question);
        assert!(console.held().lines.is_empty() && !console.held().is_asking);
    }
}
