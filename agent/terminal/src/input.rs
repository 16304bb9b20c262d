//! [`Input`]: the source of a chat's lines.

use std::io::{self, BufRead, IsTerminal as _, Read as _};
use std::sync::{Arc, Mutex};

use tools::IgnorePoison as _;
use tools_text::decode_input;

use crate::editor::Editor;
use crate::line::{InputOptions, Line};
use crate::stderr;

/// The maximum size of a line in bytes: 1 MiB.
pub const MAX_LINE_BYTES: usize = 1024 * 1024;

/// Values of `TERM` without line editing.
const PLAIN: [&str; 3] = ["dumb", "cons25", "emacs"];

/// The lines of a chat, from a line editor or from standard input.
pub struct Input {
    source: Arc<Mutex<Source>>,
    /// True if standard input and error are terminals.
    pub is_interactive: bool,
}

enum Source {
    Editor(Box<Editor>),
    Reader(LineReader),
}

impl Input {
    /// Returns a line editor if standard input and error are terminals that support it, otherwise a plain reader.
    ///
    /// # Errors
    ///
    /// Returns an error if the terminal cannot be used.
    pub fn new(options: InputOptions) -> io::Result<Self> {
        let is_interactive = io::stdin().is_terminal() && io::stderr().is_terminal();
        let is_plain = std::env::var("TERM").is_ok_and(|term| PLAIN.contains(&term.as_str()));
        let source = if is_interactive && !is_plain {
            Source::Editor(Box::new(Editor::new(options)?))
        } else {
            Source::Reader(LineReader {
                prompt: is_interactive.then_some(options.prompt),
            })
        };
        Ok(Self {
            source: Arc::new(Mutex::new(source)),
            is_interactive,
        })
    }

    /// Adds a line to the history that was not read here.
    pub fn remember(&self, text: &str) {
        let mut source = self.source.lock().ignore_poison();
        if let Source::Editor(editor) = &mut *source {
            editor.remember(text);
        }
    }

    /// Returns the next line, which may contain line breaks. A thread of its own waits for it, so that a signal can end the chat.
    /// A line editor shows the status below it.
    ///
    /// # Errors
    ///
    /// Returns an error if the line cannot be read, is longer than [`MAX_LINE_BYTES`] or is no text.
    pub async fn line(&self, status: String) -> io::Result<Line> {
        let source = self.source.clone();
        let line = tokio::task::spawn_blocking(move || match &mut *source.lock().ignore_poison() {
            Source::Editor(editor) => editor.line(status),
            Source::Reader(reader) => reader.line(&mut io::stdin().lock()),
        });
        line.await?
    }
}

/// Reads one line at a time. A backslash at the end of a line continues it on the next.
struct LineReader {
    /// The text before each line, on a terminal.
    prompt: Option<String>,
}

impl LineReader {
    fn line(&self, input: &mut impl BufRead) -> io::Result<Line> {
        let mut text = String::new();
        loop {
            if let Some(prompt) = &self.prompt {
                stderr::write(prompt);
            }
            let mut bytes = Vec::new();
            // One byte more shows that the line is too long.
            let limit = (MAX_LINE_BYTES - text.len()) as u64 + 1;
            let read = input.take(limit).read_until(b'\n', &mut bytes);
            let length = read?;
            if text.len() + length > MAX_LINE_BYTES {
                return Err(io::Error::other("it is longer than 1 MiB"));
            }
            let line = decode_input(&bytes).map_err(io::Error::other)?;
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
        let reader = LineReader { prompt: None };
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
        let reader = LineReader { prompt: None };
        assert!(reader.line(&mut &b"\xff\n"[..]).is_err());
        let long = vec![b'a'; MAX_LINE_BYTES + 1];
        assert!(reader.line(&mut &long[..]).is_err());
        assert!(matches!(reader.line(&mut &long[1..]), Ok(Line::Text(_))));
        let endless = b"a\\\n".repeat(MAX_LINE_BYTES);
        assert!(reader.line(&mut &endless[..]).is_err());
    }
}
