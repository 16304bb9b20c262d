//! [`Input`]: the source of a chat's lines.

use std::io::{self, IsTerminal as _};
use std::sync::{Arc, Mutex, PoisonError};

use super::editor::Editor;
use super::line_reader::LineReader;
use crate::error::Error;
use crate::program;

/// Returns the prompt of the terminal.
pub(super) fn prompt() -> String {
    format!("{}> ", program::name())
}

/// Values of `TERM` without line editing.
const PLAIN: [&str; 3] = ["dumb", "cons25", "emacs"];

/// A line of input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Text(String),
    /// Discarded with Ctrl-C.
    Interrupted,
    End,
}

/// The lines of a chat, from a line editor or from standard input.
pub(crate) struct Input {
    source: Arc<Mutex<Source>>,
    is_interactive: bool,
}

enum Source {
    Editor(Box<Editor>),
    Reader(LineReader),
}

impl Input {
    /// Returns a line editor if standard input and error are terminals that support it, otherwise a plain reader.
    pub(crate) fn new(has_history: bool) -> Result<Self, Error> {
        let is_interactive = io::stdin().is_terminal() && io::stderr().is_terminal();
        let is_plain = std::env::var("TERM").is_ok_and(|term| PLAIN.contains(&term.as_str()));
        let source = if is_interactive && !is_plain {
            Source::Editor(Box::new(Editor::new(has_history)?))
        } else {
            Source::Reader(LineReader::new(is_interactive))
        };
        Ok(Self {
            source: Arc::new(Mutex::new(source)),
            is_interactive,
        })
    }

    /// Returns true if standard input and error are terminals.
    pub(crate) fn is_interactive(&self) -> bool {
        self.is_interactive
    }

    /// Returns the next line, which may contain line breaks. A thread of its own waits for it, so that a signal can end the chat.
    pub(super) async fn line(&self) -> Result<Line, Error> {
        let source = self.source.clone();
        let line = tokio::task::spawn_blocking(move || {
            match &mut *source.lock().unwrap_or_else(PoisonError::into_inner) {
                Source::Editor(editor) => editor.line(),
                Source::Reader(reader) => reader.line(&mut io::stdin().lock()),
            }
        });
        line.await
            .map_err(|error| Error::Runtime(io::Error::other(error)))?
    }
}
