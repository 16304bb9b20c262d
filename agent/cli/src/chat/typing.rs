//! [`Typing`]: the lines that a person types while a run goes on.

use std::future::{pending, poll_fn};
use std::path::Path;
use std::pin::pin;

use agent::{Driver, RunHandle};
use tools::ToolContext;

use super::command::{self, ParsedLine};
use super::line::Line;
use super::{Input, prompt_with_files};
use crate::console::Console;
use crate::dialogue::keyboard;
use crate::error::Error;
use crate::notice::{self, FAINT, paint};
use crate::visible::visible;

/// Reads the lines that a person types while a run goes on, and sends prompts to the run. The others wait for its end.
pub(super) struct Typing<'a> {
    pub(super) console: &'a Console,
    pub(super) input: &'a Input,
    pub(super) driver: &'a Driver,
    pub(super) handle: RunHandle,
    pub(super) cx: ToolContext,
    pub(super) root: &'a Path,
    /// False if the provider reads no message during a run, because it has no model.
    pub(super) is_steering: bool,
    /// The lines, in order. Those that were sent come first.
    pub(super) lines: Vec<Line>,
    pub(super) sent: usize,
}

impl Typing<'_> {
    /// Runs to the end and reads lines meanwhile. Returns the lines that the run has not taken, too.
    pub(super) async fn during<T>(mut self, run: impl Future<Output = T>) -> (T, Vec<Line>) {
        let hidden = self.console.hide_typing();
        let ended = {
            let mut run = pin!(run);
            let mut typing = pin!(self.read());
            poll_fn(|task| {
                let _ = typing.as_mut().poll(task);
                run.as_mut().poll(task)
            })
            .await
        };
        drop(hidden);
        let taken = self.sent - self.handle.take_waiting().len();
        (ended, self.lines.split_off(taken))
    }

    /// Reads lines until the end of the input, and never ends.
    async fn read(&mut self) {
        loop {
            keyboard::wait().await;
            // A question reads its answer itself.
            let reader = self.console.reader().await;
            let line = keyboard::line_there();
            drop(reader);
            match line.as_deref() {
                None => {}
                Some("") => break,
                Some(line) => self.take(line.trim_end_matches(['\r', '\n'])),
            }
        }
        self.lines.push(Line::End);
        pending().await
    }

    fn take(&mut self, text: &str) {
        let parsed = command::parse(text);
        let sent = match parsed {
            Ok(ParsedLine::Empty) => return,
            // A line that follows a command keeps its place.
            Ok(ParsedLine::Prompt(prompt)) if self.is_steering && self.sent == self.lines.len() => {
                self.send(prompt)
            }
            Ok(_) => Ok(false),
            Err(reason) => {
                notice::error(&reason);
                return;
            }
        };
        match sent {
            Ok(is_sent) => self.sent += usize::from(is_sent),
            Err(error) => {
                error.report();
                return;
            }
        }
        self.input.remember(text);
        self.lines.push(Line::Text(text.to_owned()));
        let label = paint(FAINT, "queued:");
        self.console.aside(format!("{label} {}", visible(text)));
    }

    /// Sends a prompt to the run. Returns false if the run has ended.
    fn send(&self, prompt: String) -> Result<bool, Error> {
        let tell = |line: String| self.console.aside(visible(&line).into_owned());
        let prompt = prompt_with_files(prompt, self.root, &self.cx, tell)?;
        self.driver.check_prompt(&prompt)?;
        Ok(self.handle.send(prompt).is_ok())
    }
}
