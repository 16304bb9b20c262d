//! [`Dialogue`]: questions at the terminal, one at a time.

mod keyboard;

use std::sync::Arc;

use tokio::sync::{Mutex, MutexGuard};

use crate::console::{Console, OpenQuestion};
use crate::notice;

/// Asks on standard error and reads the answers from standard input, which must both be terminals. Approvals and questions of tools
/// queue for it.
#[derive(Debug)]
pub(crate) struct Dialogue {
    console: Arc<Console>,
    turn: Mutex<()>,
}

/// An open question, until it is dropped. Other lines are held back meanwhile.
pub(crate) struct OpenDialogue<'a> {
    question: OpenQuestion<'a>,
    // Dropped last: the next question follows the lines held back.
    _turn: MutexGuard<'a, ()>,
}

impl Dialogue {
    /// Returns a dialogue that holds back the lines of this console while a question is open.
    pub(crate) fn new(console: Arc<Console>) -> Self {
        Self { console, turn: Mutex::default() }
    }

    /// Waits for the end of earlier questions and opens the next one.
    pub(crate) async fn open(&self) -> OpenDialogue<'_> {
        let turn = self.turn.lock().await;
        OpenDialogue { question: self.console.question(), _turn: turn }
    }
}

impl OpenDialogue<'_> {
    /// Waits until nothing is typed or pasted, writes a text and returns the line that is typed then. Returns `None` if the terminal
    /// closes. The text is composed by this program and may contain styles.
    pub(crate) async fn ask(&mut self, text: &str) -> Option<String> {
        self.question.is_answered = false;
        keyboard::discard_typed_ahead().await;
        notice::write(text);
        let line = keyboard::line().await?;
        self.question.is_answered = true;
        Some(line)
    }
}
