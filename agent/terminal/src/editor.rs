//! [`Editor`]: the line editor of a terminal.

use std::path::{Path, PathBuf};
use std::{fs, io};

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{
    Behavior, Cmd, CompletionType, ConditionalEventHandler, Config, Context, Event, EventContext,
    EventHandler, Helper, KeyCode, KeyEvent, Modifiers, Movement, RepeatCount,
};
use tools_store::private;

use crate::line::{Completion, InputOptions, Line};
use crate::status_hint::{StatusHint, StatusText};
use crate::suspend_key::SuspendKey;

/// Reads typed prompts, with a persistent history. The terminal is in raw mode only while a line is read.
pub(crate) struct Editor {
    editor: rustyline::Editor<Helpers, FileHistory>,
    status: StatusHint,
    prompt: String,
    history: Option<PathBuf>,
    warn: fn(&str),
}

impl Editor {
    pub(crate) fn new(options: InputOptions) -> io::Result<Self> {
        // Standard output may be redirected, so the prompt goes to the terminal itself.
        let config = Config::builder()
            .behavior(Behavior::PreferTerm)
            .completion_type(CompletionType::List)
            // As in a shell, a person keeps a secret out of the history so.
            .history_ignore_space(true);
        let config = config.max_history_size(MAX_ENTRIES);
        let config = config.map_err(io::Error::other)?.build();
        let mut editor = rustyline::Editor::with_config(config).map_err(io::Error::other)?;
        for enter in [
            // Terminals send Enter as one of these.
            KeyEvent(KeyCode::Enter, Modifiers::NONE),
            KeyEvent::ctrl('J'),
            KeyEvent::ctrl('M'),
        ] {
            let handler = EventHandler::Conditional(Box::new(ContinueAfterBackslash));
            editor.bind_sequence(enter, handler);
        }
        for enter in [
            KeyEvent(KeyCode::Enter, Modifiers::ALT),
            KeyEvent::alt('\n'),
        ] {
            editor.bind_sequence(enter, Cmd::Newline);
        }
        editor.bind_sequence(
            KeyEvent::ctrl('Z'),
            EventHandler::Conditional(Box::new(SuspendKey::new())),
        );
        let status = StatusHint::default();
        editor.set_helper(Some(Helpers {
            completion: options.completion,
            status: status.clone(),
        }));
        let mut editor = Self {
            editor,
            status,
            prompt: options.prompt,
            history: None,
            warn: options.warn,
        };
        if let Some(path) = options.history {
            editor.recall(path);
        }
        Ok(editor)
    }

    /// Reads a line, above this status line.
    pub(crate) fn line(&mut self, status: String) -> io::Result<Line> {
        self.status.set(status);
        loop {
            return match self.editor.readline(&self.prompt) {
                Ok(text) => {
                    self.remember(&text);
                    Ok(Line::Text(text))
                }
                Err(ReadlineError::Interrupted) => {
                    self.status.erase();
                    Ok(Line::Interrupted)
                }
                Err(ReadlineError::Eof) => Ok(Line::End),
                // The terminal was resized.
                Err(ReadlineError::Signal(_)) => continue,
                Err(error) => Err(io::Error::other(error)),
            };
        }
    }

    fn recall(&mut self, path: PathBuf) {
        let loaded = prepare(&path).map_err(ReadlineError::Io);
        let loaded = loaded.and_then(|()| self.editor.load_history(&path));
        match loaded {
            Ok(()) => self.history = Some(path),
            Err(error) => self.warn(&path, &error),
        }
    }

    /// Appends to the history file at once, so that a crash loses no entry.
    pub(crate) fn remember(&mut self, text: &str) {
        if text.len() > MAX_ENTRY_BYTES {
            return;
        }
        let is_added = self.editor.add_history_entry(text);
        // A file that failed once is given up, so that there is one warning.
        let Some(path) = self.history.take_if(|_| matches!(is_added, Ok(true))) else {
            return;
        };
        match self.editor.append_history(&path) {
            Ok(()) => self.history = Some(path),
            Err(error) => self.warn(&path, &error),
        }
    }

    fn warn(&self, path: &Path, error: &ReadlineError) {
        (self.warn)(&format!(
            "cannot keep the history in {}: {error}",
            path.display()
        ));
    }
}

/// The completion of the typed text, and the status line below it.
struct Helpers {
    completion: Completion,
    status: StatusHint,
}

impl Completer for Helpers {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        Ok((self.completion)(&line[..at]))
    }
}

impl Hinter for Helpers {
    type Hint = StatusText;

    fn hint(&self, _: &str, _: usize, _: &Context<'_>) -> Option<StatusText> {
        self.status.draw()
    }
}

impl Highlighter for Helpers {}
impl Validator for Helpers {}
impl Helper for Helpers {}

/// Handles Enter: a backslash at the end of the text becomes a line break.
struct ContinueAfterBackslash;

impl ConditionalEventHandler for ContinueAfterBackslash {
    fn handle(
        &self,
        _: &Event,
        _: RepeatCount,
        _: bool,
        context: &EventContext<'_>,
    ) -> Option<Cmd> {
        let continues = context.line().ends_with('\\') && context.pos() == context.line().len();
        continues.then(|| Cmd::Replace(Movement::BackwardChar(1), Some("\n".to_owned())))
    }
}

/// The maximum number of entries; the oldest are dropped.
const MAX_ENTRIES: usize = 1000;
/// The maximum size of an entry, in bytes. Longer ones are not kept.
const MAX_ENTRY_BYTES: usize = 8 * 1024;
/// The maximum size of the file in bytes, if every character is escaped.
const MAX_FILE_BYTES: u64 = 2 * (MAX_ENTRIES * MAX_ENTRY_BYTES) as u64;

/// Creates the file and its directory if missing, with permissions for the user only. Existing permissions are tightened.
///
/// Returns an error if the path is not a regular file or the file is too large for a history.
fn prepare(path: &Path) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        private::prepare_folder(directory)?;
    }
    match private::create_file(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        other => return other.map(drop),
    }
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() || metadata.len() > MAX_FILE_BYTES {
        return Err(io::Error::other("not a history file"));
    }
    private::tighten(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_a_history_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        assert!(prepare(dir.path()).is_err());
        let large = dir.path().join("large");
        fs::File::create(&large)
            .unwrap()
            .set_len(MAX_FILE_BYTES + 1)
            .unwrap();
        assert!(prepare(&large).is_err());
    }

    #[test]
    fn only_the_user_can_read_it() {
        use std::os::unix::fs::PermissionsExt as _;

        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/history");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let set = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap()
        };
        let folder = path.parent().unwrap();
        prepare(&path).unwrap();
        assert_eq!((mode(&path), mode(folder)), (0o600, 0o700));
        set(&path, 0o644);
        set(folder, 0o755);
        set(dir.path(), 0o755);
        prepare(&path).unwrap();
        assert_eq!(
            (mode(&path), mode(folder), mode(dir.path())),
            (0o600, 0o700, 0o755)
        );
    }
}
