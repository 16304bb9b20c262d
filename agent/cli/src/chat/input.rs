//! [`Input`]: the source of a chat's lines.

use std::io::{self, IsTerminal as _};

use super::editor::Editor;
use super::line::Line;
use super::line_reader::LineReader;
use crate::error::Error;

/// Values of `TERM` without line editing.
const PLAIN: [&str; 3] = ["dumb", "cons25", "emacs"];

/// The lines of a chat, from a line editor or from standard input.
pub(crate) struct Input {
    source: Source,
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
            source,
            is_interactive,
        })
    }

    /// Returns true if standard input and error are terminals.
    pub(crate) fn is_interactive(&self) -> bool {
        self.is_interactive
    }

    /// Returns the next line, which may contain line breaks. Blocks until one is available.
    pub(super) fn line(&mut self) -> Result<Line, Error> {
        match &mut self.source {
            Source::Editor(editor) => editor.line(),
            Source::Reader(reader) => reader.line(&mut io::stdin().lock()),
        }
    }
}
