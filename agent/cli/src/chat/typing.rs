//! [`Typing`]: the lines that a person types while a run goes on.

use std::future::{pending, poll_fn};
use std::path::Path;
use std::pin::pin;

use agent::RunHandle;
use terminal::{Input, Line, keyboard};
use tools::ToolContext;

use super::command::{self, ParsedLine};
use crate::attachment::Attachment;
use crate::error::Error;
use crate::notice;
use crate::prompt_runner::PromptRunner;
use tools::visible::visible;

/// Reads the lines that a person types while a run goes on, and sends prompts to the run. The others wait for its end.
pub(super) struct Typing<'a> {
    pub(super) runner: &'a PromptRunner,
    pub(super) input: &'a Input,
    pub(super) handle: RunHandle,
    pub(super) cx: ToolContext,
    pub(super) root: &'a Path,
    /// The lines, in order. Those that were sent come first.
    pub(super) lines: Vec<Line>,
    pub(super) sent: usize,
    /// The lines that were read and not yet taken, because more of a pasted text may follow.
    pub(super) pasted: String,
}

impl Typing<'_> {
    /// Runs to the end and reads lines meanwhile. Returns the lines that the run has not taken, too.
    pub(super) async fn during<T>(mut self, run: impl Future<Output = T>) -> (T, Vec<Line>) {
        if !self.input.is_interactive {
            return (run.await, self.lines);
        }
        let hidden = self.runner.view.console.hide_typing();
        let ended = {
            let mut run = pin!(run);
            let mut typing = pin!(self.read());
            poll_fn(|task| {
                let _ = typing.as_mut().poll(task);
                run.as_mut().poll(task)
            })
            .await
        };
        if !self.pasted.is_empty() {
            // The editor would take the rest line by line.
            self.read_pasted().await;
            let text = self.pasted.trim_end_matches(['\r', '\n']);
            if !text.trim().is_empty() {
                self.input.remember(text);
                self.lines.push(Line::Text(text.to_owned()));
            }
        }
        drop(hidden);
        let taken = self.sent - self.handle.take_waiting().len();
        (ended, self.lines.split_off(taken))
    }

    /// Reads lines until the end of the input, and never ends.
    async fn read(&mut self) {
        loop {
            keyboard::wait().await;
            // A question reads its answer itself.
            let reader = self.runner.view.console.reader().await;
            let is_end = self.read_pasted().await;
            drop(reader);
            let text = std::mem::take(&mut self.pasted);
            self.take(text.trim_end_matches(['\r', '\n']));
            if is_end {
                break;
            }
        }
        self.lines.push(Line::End);
        pending().await
    }

    /// Reads the line that is there and those that follow it at once. Returns true at the end of the input.
    async fn read_pasted(&mut self) -> bool {
        loop {
            match keyboard::line_there().as_deref() {
                Some("") => return true,
                Some(line) => self.pasted += line,
                None if self.pasted.is_empty() => return false,
                None => {}
            }
            if !keyboard::has_further_line().await {
                return false;
            }
        }
    }

    /// Takes a line. One that cannot be sent is an error, and not kept.
    fn take(&mut self, text: &str) {
        let is_sent = match command::parse(text) {
            Ok(ParsedLine::Empty) => return,
            // A line that follows a command keeps its place, and a provider without a model reads no message.
            Ok(ParsedLine::Prompt(prompt))
                if self.sent == self.lines.len() && !self.runner.is_direct() =>
            {
                self.send(prompt)
            }
            Ok(_) => Ok(false),
            Err(reason) => {
                self.runner.view.console.clear();
                return notice::error(&reason);
            }
        };
        let is_sent = match is_sent {
            Ok(is_sent) => is_sent,
            Err(error) => {
                self.runner.view.console.clear();
                error.report();
                return;
            }
        };
        self.sent += usize::from(is_sent);
        self.input.remember(text);
        self.lines.push(Line::Text(text.to_owned()));
        self.runner.view.console.queue(text);
    }

    /// Sends a prompt to the run. Returns false if the run has ended.
    fn send(&self, prompt: String) -> Result<bool, Error> {
        let files = Attachment::mentioned(&prompt, self.root, &self.cx)?;
        let tell = |line: &str| self.runner.view.console.aside(visible(line).into_owned());
        let prompt = Attachment::add_all(files, prompt, &self.cx, tell);
        self.runner.driver.check_prompt(&prompt)?;
        Ok(self.handle.send(prompt).is_ok())
    }
}
