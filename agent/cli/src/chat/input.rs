//! [`Input`]: where the lines of a chat come from.

use std::io::{self, IsTerminal as _};

use super::editor::Editor;
use super::line::Reader;
use crate::error::Error;

/// What stands before what is typed.
pub(super) const PROMPT: &str = "crib> ";

/// Terminals on which nothing can be edited.
const PLAIN: [&str; 3] = ["dumb", "cons25", "emacs"];

/// What was typed, or came by a pipe.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Text(String),
    /// It was taken back with Ctrl-C.
    Interrupted,
    End,
}

/// A person at a terminal, or whatever the standard input is.
pub(crate) struct Input {
    source: Source,
    is_interactive: bool,
}

enum Source {
    Editor(Box<Editor>),
    Reader(Reader),
}

impl Input {
    /// A line editor where the standard input and error are terminals that it knows how to handle.
    pub(crate) fn new(has_history: bool) -> Result<Self, Error> {
        let is_interactive = io::stdin().is_terminal() && io::stderr().is_terminal();
        let is_plain = std::env::var("TERM").is_ok_and(|term| PLAIN.contains(&term.as_str()));
        let source = if is_interactive && !is_plain {
            Source::Editor(Box::new(Editor::new(has_history)?))
        } else {
            Source::Reader(Reader::new(is_interactive))
        };
        Ok(Self { source, is_interactive })
    }

    /// Whether there is a person.
    pub(crate) fn is_interactive(&self) -> bool {
        self.is_interactive
    }

    /// The next line, which may have line breaks in it. Blocks until it is there.
    pub(super) fn line(&mut self) -> Result<Line, Error> {
        match &mut self.source {
            Source::Editor(editor) => editor.line(),
            Source::Reader(reader) => reader.line(&mut io::stdin().lock()),
        }
    }
}
