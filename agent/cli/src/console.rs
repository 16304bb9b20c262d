//! [`Console`]: the terminal of a run.

use std::io::{self, IsTerminal as _};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use serde::Serialize;
use tools::IgnorePoison as _;

use crate::effect_log::EffectLog;
use crate::error::Error;
use crate::keyboard;
use crate::notice::{write as write_stderr, write_line};
use crate::output;
use crate::status_lines::{StatusLines, Wait};

/// The terminal of a run: messages on standard error above status lines, and documents on standard output. Both are held back while
/// a question is open.
#[derive(Debug, Default)]
pub(crate) struct Console {
    /// The effects of the calls of the session.
    pub(crate) effects: EffectLog,
    state: Mutex<ConsoleState>,
    /// Held by the one that reads from the terminal.
    reader: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct ConsoleState {
    /// The start of the open question.
    asking_since: Option<Instant>,
    /// The starts and ends of earlier questions.
    questions: Vec<(Instant, Instant)>,
    held_back: Vec<HeldBack>,
    status: StatusLines,
    /// True if text on standard output has not ended its line.
    is_line_open: bool,
    /// True if typed lines are shown once they are complete, and the terminal echoes the answers to questions alone.
    hides_typing: bool,
}

/// A line to write after the open question.
#[derive(Debug, PartialEq, Eq)]
enum HeldBack {
    Message(String),
    Document(String),
}

/// The time in which the terminal echoes the answers to questions alone, until it is dropped.
#[derive(Debug)]
pub(crate) struct HiddenTyping<'a>(&'a Console);

/// An open question, until it is dropped.
#[derive(Debug)]
pub(crate) struct OpenQuestion<'a> {
    console: &'a Console,
    /// True after an answer line. A timeout or a cancellation drops the question without one.
    pub(crate) is_answered: bool,
}

impl Console {
    /// Waits until nothing reads from the terminal. The guard is the right to read: for a question, or for a line of a chat, beside which
    /// a sub-agent in the background may have a question.
    pub(crate) async fn reader(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.reader.lock().await
    }

    /// Writes a line, which must be harmless.
    pub(crate) fn line(&self, line: String) {
        let mut state = self.state();
        if state.asking_since.is_some() {
            state.held_back.push(HeldBack::Message(line));
            return;
        }
        state.status.clear();
        write_line(&line);
    }

    /// Writes a line, also amid the text of standard output, which goes on below it on a terminal.
    pub(crate) fn aside(&self, line: String) {
        if io::stdout().is_terminal() && self.set_line_open(false) {
            // A terminal that fails also fails for the next piece of the text.
            let _ = output::untrusted_piece("\n");
        }
        self.line(line);
    }

    /// Keeps the terminal from echoing what is typed into the text of a run. Returns `None` if it does not echo.
    pub(crate) fn hide_typing(&self) -> Option<HiddenTyping<'_>> {
        let mut state = self.state();
        state.hides_typing = keyboard::silence();
        if state.asking_since.is_some() {
            keyboard::restore_echo();
        }
        state.hides_typing.then(|| HiddenTyping(self))
    }

    /// Writes a JSON document as one line of standard output. On a terminal it waits for the end of an open question.
    pub(crate) fn document(&self, document: &impl Serialize) -> Result<(), Error> {
        let text = output::json_text(document)?;
        // In a file or a pipe, a document disturbs no question.
        if !io::stdout().is_terminal() {
            return output::line(&text);
        }
        let mut state = self.state();
        if state.asking_since.is_some() {
            state.held_back.push(HeldBack::Document(text));
            return Ok(());
        }
        output::line(&text)
    }

    /// Replaces the status lines, unless a question or a line of text is open.
    pub(crate) fn draw(&self, waits: Vec<Wait>) {
        let mut state = self.state();
        if state.asking_since.is_none() && !state.is_line_open {
            state.status.draw(waits);
        }
    }

    /// Erases the status lines. Call this before writing to the terminal by other means.
    pub(crate) fn clear(&self) {
        self.state().status.clear();
    }

    /// Sets whether text on standard output has not ended its line. Returns the former value.
    pub(crate) fn set_line_open(&self, is_open: bool) -> bool {
        std::mem::replace(&mut self.state().is_line_open, is_open)
    }

    /// Opens a question.
    pub(crate) fn question(&self) -> OpenQuestion<'_> {
        let mut state = self.state();
        state.status.clear();
        state.asking_since = Some(Instant::now());
        keyboard::restore_echo();
        OpenQuestion {
            console: self,
            is_answered: false,
        }
    }

    /// Returns the time since `start`, without the time that questions were open.
    pub(crate) fn time_since(&self, start: Instant) -> Duration {
        let state = self.state();
        let now = Instant::now();
        let open = state.asking_since.map(|since| (since, now));
        let asked = state.questions.iter().copied().chain(open);
        let asked: Duration = asked
            .map(|(since, until)| until.saturating_duration_since(since.max(start)))
            .sum();
        now.saturating_duration_since(start).saturating_sub(asked)
    }

    /// Ends the line on which the terminal echoed Ctrl-C. Does not wait for a blocked write.
    pub(crate) fn interrupt(&self) {
        let mut state = match self.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        // An open question ends its line itself, and erasing the status lines erases the echo.
        let has_echo = io::stdin().is_terminal()
            && io::stderr().is_terminal()
            && (state.is_line_open || !state.hides_typing);
        if has_echo && state.asking_since.is_none() && !state.status.clear() {
            write_stderr("\n");
            state.is_line_open &= !io::stdout().is_terminal();
        }
    }

    fn state(&self) -> MutexGuard<'_, ConsoleState> {
        self.state.lock().ignore_poison()
    }
}

impl Drop for HiddenTyping<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.hides_typing = false;
        keyboard::restore_echo();
    }
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        // Other output must not continue the line of the question.
        if !self.is_answered {
            write_stderr("\n");
        }
        let mut state = self.console.state();
        let since = state.asking_since.take();
        if state.hides_typing {
            keyboard::silence();
        }
        state
            .questions
            .extend(since.map(|since| (since, Instant::now())));
        for line in state.held_back.drain(..) {
            match line {
                HeldBack::Message(message) => write_line(&message),
                // If the terminal fails, it also fails for the last document of the run, whose error ends the program.
                HeldBack::Document(document) => drop(output::line(&document)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_wait_while_a_question_is_open() {
        let console = Console::default();
        let question = console.question();
        console.line("later".to_owned());
        assert_eq!(
            console.state().held_back,
            [HeldBack::Message("later".to_owned())]
        );
        drop(question);
        assert!(console.state().held_back.is_empty() && console.state().asking_since.is_none());
    }

    #[test]
    fn the_time_of_questions_does_not_count() {
        let console = Console::default();
        let now = Instant::now();
        let ago = |seconds| now.checked_sub(Duration::from_secs(seconds)).unwrap();
        console
            .state()
            .questions
            .extend([(ago(90), ago(60)), (ago(20), ago(10))]);
        let seconds = |start| console.time_since(start).as_secs();
        assert_eq!(
            [
                seconds(ago(100)),
                seconds(ago(50)),
                seconds(ago(15)),
                seconds(ago(5))
            ],
            [60, 40, 10, 5]
        );
        let _open = console.question();
        console.state().asking_since = Some(ago(4));
        assert_eq!(seconds(ago(5)), 1);
    }
}
