//! [`Dialogue`]: questions at the terminal, one at a time.

use std::io::{self, IsTerminal as _};

use host::style::{STRONG, paint};
use tokio::sync::MutexGuard;

use crate::console::{Console, OpenQuestion};
use crate::{keyboard, stderr};

/// An open question, until it is dropped. Asks on standard error and reads the answers from standard input, which must both be
/// terminals. Approvals and questions of tools queue for it, and other lines are held back meanwhile.
pub struct Dialogue<'a> {
    question: OpenQuestion<'a>,
    // Dropped last: the next question follows the lines held back.
    _reader: MutexGuard<'a, ()>,
}

/// Returns true if a person can be asked: standard input and error are terminals.
pub fn has_person() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks for a yes, below a page.
pub async fn confirm(console: &Console, page: &str, question: &str) -> bool {
    let text = format!("{page}{} [y] yes, [n] no: ", paint(STRONG, question));
    let answer = Dialogue::open(console).await.ask(&text).await;
    answer.is_some_and(|line| matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

impl<'a> Dialogue<'a> {
    /// Waits for the end of earlier questions, and of a line that is typed for a chat, and opens the next one.
    pub async fn open(console: &'a Console) -> Self {
        let reader = console.reader().await;
        Self {
            question: console.question(),
            _reader: reader,
        }
    }

    /// Waits until nothing is typed or pasted, writes a text and returns the line that is typed then. Returns `None` if the terminal
    /// closes. The text is composed by this program and may contain styles.
    pub async fn ask(&mut self, text: &str) -> Option<String> {
        self.question.is_answered = false;
        // Pasted lines must not answer a question that nobody has read.
        keyboard::discard_typed_ahead().await;
        stderr::write(text);
        let line = keyboard::line().await?;
        self.question.is_answered = true;
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;

    #[tokio::test]
    async fn a_question_waits_while_a_line_is_typed_for_a_chat() {
        let console = Console::default();
        let typing = console.reader().await;
        let mut open = pin!(Dialogue::open(&console));
        assert!(
            open.as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
                .is_pending()
        );
        drop(typing);
        open.await;
    }
}
