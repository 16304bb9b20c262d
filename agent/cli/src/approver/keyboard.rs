//! [`Keyboard`]: lines from a terminal, which the program can stop waiting for.

use std::io::{self, BufRead as _, Read as _};

use tokio::sync::oneshot;

/// No answer is longer.
const MAX_LINE_BYTES: u64 = 4096;

/// Reads lines from the standard input. Reading a terminal cannot be called off, so each line is read by a thread of its
/// own; one that nobody waits for any more serves whoever asks next.
#[derive(Default)]
pub(super) struct Keyboard(Option<oneshot::Receiver<Option<String>>>);

impl Keyboard {
    /// Drops what was typed before a question was there to be answered.
    pub(super) fn forget(&mut self) {
        #[cfg(unix)]
        let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
        if self.0.as_mut().is_some_and(|line| !matches!(line.try_recv(), Err(oneshot::error::TryRecvError::Empty))) {
            self.0 = None;
        }
    }

    /// The next line, or `None` at the end of the input.
    pub(super) async fn line(&mut self) -> Option<String> {
        let line = self.0.get_or_insert_with(read_line).await;
        self.0 = None;
        line.ok().flatten()
    }
}

fn read_line() -> oneshot::Receiver<Option<String>> {
    let (sender, receiver) = oneshot::channel();
    // Without a thread there is no answer, which is a no.
    let _ = std::thread::Builder::new().name("keyboard".to_owned()).spawn(move || {
        let mut bytes = Vec::new();
        let read = io::stdin().lock().take(MAX_LINE_BYTES).read_until(b'\n', &mut bytes);
        let line = matches!(read, Ok(1..)).then(|| String::from_utf8_lossy(&bytes).into_owned());
        let _ = sender.send(line);
    });
    receiver
}
