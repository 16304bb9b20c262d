//! [`Input`]: the source of a chat's lines.

use std::io::{self, BufRead, IsTerminal as _, Read as _};
use std::sync::{Arc, Mutex};

use tools::IgnorePoison as _;
use tools_text::decode_input;

use super::completion::Completion;
use super::editor::Editor;
use super::line::{Line, prompt};
use crate::error::Error;
use crate::notice;
use crate::standard_input::MAX_PROMPT_BYTES as MAX_BYTES;

/// Values of `TERM` without line editing.
const PLAIN: [&str; 3] = ["dumb", "cons25", "emacs"];

/// The lines of a chat, from a line editor or from standard input.
pub(crate) struct Input {
    source: Arc<Mutex<Source>>,
    /// True if standard input and error are terminals.
    pub(crate) is_interactive: bool,
}

enum Source {
    Editor(Box<Editor>),
    Reader(LineReader),
}

impl Input {
    /// Returns a line editor if standard input and error are terminals that support it, otherwise a plain reader.
    pub(crate) fn new(has_history: bool, completion: Completion) -> Result<Self, Error> {
        let is_interactive = io::stdin().is_terminal() && io::stderr().is_terminal();
        let is_plain = std::env::var("TERM").is_ok_and(|term| PLAIN.contains(&term.as_str()));
        let source = if is_interactive && !is_plain {
            Source::Editor(Box::new(Editor::new(has_history, completion)?))
        } else {
            Source::Reader(LineReader::new(is_interactive))
        };
        Ok(Self {
            source: Arc::new(Mutex::new(source)),
            is_interactive,
        })
    }

    /// Adds a line to the history that was not read here.
    pub(super) fn remember(&self, text: &str) {
        let mut source = self.source.lock().ignore_poison();
        if let Source::Editor(editor) = &mut *source {
            editor.remember(text);
        }
    }

    /// Returns the next line, which may contain line breaks. A thread of its own waits for it, so that a signal can end the chat.
    /// A line editor shows the status below it.
    pub(super) async fn line(&self, status: String) -> Result<Line, Error> {
        let source = self.source.clone();
        let line = tokio::task::spawn_blocking(move || match &mut *source.lock().ignore_poison() {
            Source::Editor(editor) => editor.line(status),
            Source::Reader(reader) => reader.line(&mut io::stdin().lock()),
        });
        line.await
            .map_err(|error| Error::Runtime(io::Error::other(error)))?
    }
}

/// Reads one line at a time. A backslash at the end of a line continues it on the next.
struct LineReader {
    has_prompt: bool,
}

impl LineReader {
    pub(super) fn new(has_prompt: bool) -> Self {
        Self { has_prompt }
    }

    pub(super) fn line(&self, input: &mut impl BufRead) -> Result<Line, Error> {
        let mut text = String::new();
        loop {
            if self.has_prompt {
                notice::write(&prompt());
            }
            let mut bytes = Vec::new();
            // One byte more shows that the line is too long.
            let limit = (MAX_BYTES - text.len()) as u64 + 1;
            let read = input.take(limit).read_until(b'\n', &mut bytes);
            let length = read.map_err(Error::prompt)?;
            if text.len() + length > MAX_BYTES {
                return Err(Error::prompt("it is longer than 1 MiB"));
            }
            let line = decode_input(&bytes).map_err(Error::prompt)?;
            if length == 0 {
                return Ok(if text.is_empty() {
                    Line::End
                } else {
                    Line::Text(text)
                });
            }
            let line = line.strip_suffix('\n').unwrap_or(&line);
            let line = line.strip_suffix('\r').unwrap_or(line);
            match line.strip_suffix('\\') {
                Some(start) => text = text + start + "\n",
                None => return Ok(Line::Text(text + line)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(mut input: &[u8]) -> Vec<Line> {
        let reader = LineReader::new(false);
        std::iter::from_fn(|| {
            Some(reader.line(&mut input).unwrap()).filter(|line| *line != Line::End)
        })
        .collect()
    }

    #[test]
    fn a_backslash_at_the_end_goes_on() {
        let expected = ["a", "", "b\nc\n d", "e"].map(|text| Line::Text(text.to_owned()));
        assert_eq!(lines(b"\xEF\xBB\xBFa\r\n\nb\\\nc\\\r\n d\ne"), expected);
        assert_eq!(lines(b"a\\"), [Line::Text("a\n".to_owned())]);
        assert_eq!(lines(b""), []);
    }

    #[test]
    fn invalid_utf8_and_long_lines_are_refused() {
        let reader = LineReader::new(false);
        assert!(matches!(
            reader.line(&mut &b"\xff\n"[..]),
            Err(Error::Prompt(_))
        ));
        let long = vec![b'a'; MAX_BYTES + 1];
        assert!(matches!(reader.line(&mut &long[..]), Err(Error::Prompt(_))));
        assert!(matches!(reader.line(&mut &long[1..]), Ok(Line::Text(_))));
        let endless = b"a\\\n".repeat(MAX_BYTES);
        assert!(matches!(
            reader.line(&mut &endless[..]),
            Err(Error::Prompt(_))
        ));
    }
}
