//! [`Console`]: the terminal of a run.

use std::io::{self, IsTerminal as _};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use tools::IgnorePoison as _;
use tools::visible::visible;

use crate::live::Live;
use crate::markdown::MarkdownStream;
use crate::status_lines::{QUEUED, StatusLines, Wait};
use crate::stdout::OutputError;
use crate::{keyboard, stderr, stdout};

/// The terminal of a run: messages on standard error above status lines, and text and documents on standard output. All are held back
/// while a question is open.
#[derive(Debug, Default)]
pub struct Console {
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
    /// The lines at the end of the terminal, if it takes more than plain text.
    live: Live,
    /// The text of the model, if it is rendered.
    markdown: MarkdownStream,
    /// The lines below the text.
    status: StatusLines,
    /// True if text on standard output has not ended its line. Rendered text never leaves one open.
    is_line_open: bool,
    /// True while the program is about to be stopped.
    is_paused: bool,
    /// True if typed lines are shown once they are complete, and the terminal echoes the answers to questions alone.
    hides_typing: bool,
}

/// A line to write after the open question.
#[derive(Debug, PartialEq, Eq)]
enum HeldBack {
    Message(String),
    Document(String),
    Text(String),
}

/// The time in which the terminal echoes the answers to questions alone, until it is dropped.
#[derive(Debug)]
pub struct HiddenTyping<'a>(&'a Console);

/// An open question, until it is dropped.
#[derive(Debug)]
pub struct OpenQuestion<'a> {
    console: &'a Console,
    /// True after an answer line. A timeout or a cancellation drops the question without one.
    pub is_answered: bool,
}

impl Console {
    /// Waits until nothing reads from the terminal. The guard is the right to read: for a question, or for a line of a chat, beside which
    /// a sub-agent in the background may have a question.
    pub async fn reader(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.reader.lock().await
    }

    /// Writes a line, which must be harmless.
    pub fn line(&self, line: String) {
        let mut state = self.state();
        if state.asking_since.is_some() {
            state.held_back.push(HeldBack::Message(line));
            return;
        }
        state.message(&line);
    }

    /// Writes a piece of the text of a run to standard output. Markdown is rendered on a terminal.
    pub fn text(&self, text: &str, is_markdown: bool) -> Result<(), OutputError> {
        if is_markdown && stdout::is_rendered() {
            let mut state = self.state();
            if state.asking_since.is_some() {
                state.held_back.push(HeldBack::Text(text.to_owned()));
                return Ok(());
            }
            return state.rendered(text);
        }
        self.clear();
        self.set_line_open(!text.ends_with('\n'));
        stdout::untrusted_piece(text)
    }

    /// Ends the text of a model, so that other output can follow.
    pub fn end_text(&self) -> Result<(), OutputError> {
        self.state().end_text()?;
        if self.set_line_open(false) {
            stdout::untrusted_piece("\n")?;
        }
        Ok(())
    }

    /// Shows a typed line below the text until it is [taken](Self::take_queued). If the text is not rendered, writes it once.
    pub fn queue(&self, line: &str) {
        if !stdout::is_rendered() || !stderr::has_styles() {
            return self.aside(format!("{QUEUED} {}", visible(line)));
        }
        let mut state = self.state();
        state.status.queue(line);
        state.redraw();
    }

    /// Removes the lines that were sent with this text from those below it.
    pub fn take_queued(&self, text: &str) {
        self.state().status.take_queued(text);
    }

    /// Removes all lines below the text, because the run has ended.
    pub fn end_status(&self) {
        let mut state = self.state();
        state.status = StatusLines::default();
        state.settle();
        state.markdown = MarkdownStream::default();
    }

    /// Sets the line at the bottom of the terminal until the run has ended.
    pub fn set_status(&self, status: String) {
        if stderr::has_styles() {
            self.state().status.set_status(status);
        }
    }

    /// Erases the lines below the text before the program is stopped, and lets the terminal echo. [`Self::go_on`] reverts it.
    pub fn pause(&self) {
        let mut state = self.state();
        state.settle();
        state.is_paused = true;
        keyboard::restore_echo();
    }

    /// Goes on after the program was stopped.
    pub fn go_on(&self) {
        let mut state = self.state();
        state.is_paused = false;
        if state.hides_typing && state.asking_since.is_none() {
            keyboard::silence();
        }
        state.redraw();
    }

    /// Writes a line, also amid the text of standard output, which goes on below it on a terminal.
    pub fn aside(&self, line: String) {
        if io::stdout().is_terminal() && self.set_line_open(false) {
            // A terminal that fails also fails for the next piece of the text.
            let _ = stdout::untrusted_piece("\n");
        }
        self.line(line);
    }

    /// Keeps the terminal from echoing what is typed into the text of a run. Returns `None` if it does not echo.
    pub fn hide_typing(&self) -> Option<HiddenTyping<'_>> {
        let mut state = self.state();
        state.hides_typing = keyboard::silence();
        if state.asking_since.is_some() {
            keyboard::restore_echo();
        }
        state.hides_typing.then(|| HiddenTyping(self))
    }

    /// Writes a JSON document as one line of standard output. On a terminal it waits for the end of an open question.
    pub fn document(&self, text: String) -> Result<(), OutputError> {
        // In a file or a pipe, a document disturbs no question.
        if !io::stdout().is_terminal() {
            return stdout::line(&text);
        }
        let mut state = self.state();
        if state.asking_since.is_some() {
            state.held_back.push(HeldBack::Document(text));
            return Ok(());
        }
        state.settle();
        stdout::line(&text)
    }

    /// Replaces the status lines, unless a question or a line of text is open.
    pub fn draw(&self, waits: Vec<Wait>) {
        let mut state = self.state();
        state.status.set_waits(waits);
        state.redraw();
    }

    /// Erases the status lines, and ends a block of rendered text. Call this before writing to the terminal by other means.
    pub fn clear(&self) {
        self.state().settle();
    }

    /// Sets whether text on standard output has not ended its line. Returns the former value.
    pub fn set_line_open(&self, is_open: bool) -> bool {
        std::mem::replace(&mut self.state().is_line_open, is_open)
    }

    /// Opens a question.
    pub fn question(&self) -> OpenQuestion<'_> {
        let mut state = self.state();
        state.settle();
        state.asking_since = Some(Instant::now());
        keyboard::restore_echo();
        OpenQuestion {
            console: self,
            is_answered: false,
        }
    }

    /// Returns the time since `start`, without the time that questions were open.
    pub fn time_since(&self, start: Instant) -> Duration {
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
    pub fn interrupt(&self) {
        let mut state = match self.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        // An open question ends its line itself, and erasing the status lines erases the echo.
        let has_echo = io::stdin().is_terminal()
            && io::stderr().is_terminal()
            && (state.is_line_open || !state.hides_typing);
        if has_echo && state.asking_since.is_none() && !state.settle() {
            stderr::write("\n");
            state.is_line_open &= !io::stdout().is_terminal();
        }
    }

    fn state(&self) -> MutexGuard<'_, ConsoleState> {
        self.state.lock().ignore_poison()
    }
}

impl ConsoleState {
    /// Writes a line above the lines that may still change.
    fn message(&mut self, line: &str) {
        if !stderr::has_styles() {
            return stderr::write_line(line);
        }
        // The call that the line is about may have ended. The next frame has the others again.
        self.status.set_waits(Vec::new());
        let lines = line.split('\n').map(str::to_owned).collect();
        // A failed write to standard error cannot be reported.
        let _ = self.update(lines);
    }

    /// Renders a piece of text.
    fn rendered(&mut self, text: &str) -> Result<(), OutputError> {
        let lines = self.markdown.push(text, stdout::width());
        self.update(lines)
    }

    fn end_text(&mut self) -> Result<(), OutputError> {
        let lines = self.markdown.finish(stdout::width());
        if lines.is_empty() {
            return Ok(());
        }
        self.update(lines)
    }

    /// Draws the lines that may still change.
    fn redraw(&mut self) {
        if self.asking_since.is_none() && !self.is_line_open && !self.is_paused {
            // If the terminal fails, it also fails for the next piece of the text.
            let _ = self.update(Vec::new());
        }
    }

    /// Ends the block of text and erases the lines below it. Returns true if there were any of the two.
    fn settle(&mut self) -> bool {
        let was_drawn = self.live.is_drawn();
        let lines = self.markdown.interrupt(stdout::width());
        let _ = self.write(lines, Vec::new());
        was_drawn
    }

    /// Writes lines above those that may still change, and draws these.
    fn update(&mut self, finished: Vec<String>) -> Result<(), OutputError> {
        let (width, height) = stderr::size().unwrap_or((80, 24));
        let mut live = self.markdown.live(stdout::width());
        live.extend(self.status.lines(width, height));
        self.write(finished, live)
    }

    fn write(&mut self, finished: Vec<String>, live: Vec<String>) -> Result<(), OutputError> {
        let size = stderr::size().unwrap_or((stdout::width(), 24));
        let text = self.live.update(finished, live, size);
        if text.is_empty() {
            return Ok(());
        }
        if stdout::is_rendered() {
            return stdout::raw(&text);
        }
        stderr::write_raw(&text);
        Ok(())
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
            stderr::write("\n");
        }
        let mut state = self.console.state();
        let since = state.asking_since.take();
        if state.hides_typing {
            keyboard::silence();
        }
        state
            .questions
            .extend(since.map(|since| (since, Instant::now())));
        for line in std::mem::take(&mut state.held_back) {
            match line {
                HeldBack::Message(message) => state.message(&message),
                HeldBack::Text(text) => drop(state.rendered(&text)),
                // If the terminal fails, it also fails for the last document of the run, whose error ends the program.
                HeldBack::Document(document) => drop(stdout::line(&document)),
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
