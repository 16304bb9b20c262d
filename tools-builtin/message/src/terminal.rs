//! The terminal: messages go to standard error, and come from standard input with the answers on standard output.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::sync::Arc;

use tokio::sync::mpsc;
use tools::{source, visible_text};

use crate::channel_settings::{Channel, SendFuture};
use crate::delivery::Delivery;
use crate::error::SendError;
use crate::incoming::{Inbox, IncomingMessage, ListenFuture};
use crate::kind::ChannelKind;

/// The one chat of the terminal.
const CHAT: &str = "terminal";

inventory::submit! {
    ChannelKind {
        name: "terminal",
        description: "writes messages to standard error, and takes lines of standard input",
        source: source!(),
        fields: &[],
        create: |_| Ok(Arc::new(Terminal)),
    }
}

/// The streams of the program.
#[derive(Debug)]
pub(crate) struct Terminal;

impl Channel for Terminal {
    fn send<'a>(&'a self, delivery: Delivery<'a>) -> SendFuture<'a> {
        Box::pin(async move {
            let message = delivery.message;
            let subject = message
                .subject
                .as_ref()
                .map(|subject| format!("{subject}\n"))
                .unwrap_or_default();
            let text = visible_text(&format!("{subject}{}", message.text));
            let is_answer = message.chat.is_some();
            // A full pipe blocks.
            let written = tokio::task::spawn_blocking(move || {
                if is_answer {
                    writeln!(io::stdout().lock(), "{text}")
                } else {
                    writeln!(io::stderr().lock(), "message: {text}")
                }
            });
            let written = written.await;
            match written {
                Ok(Ok(())) => Ok(()),
                _ => Err(SendError::unclear("the terminal took no more text")),
            }
        })
    }

    fn listen(&self, inbox: Inbox) -> Option<ListenFuture<'_>> {
        if io::stdin().is_terminal() {
            inbox.note("each line that you type is a message; Ctrl-D ends them");
        }
        Some(Box::pin(async move {
            let (sender, mut lines) = mpsc::channel(1);
            // A thread of its own: reading cannot be cancelled, and must not keep the runtime from ending.
            std::thread::spawn(move || {
                while let Some(line) = line()
                    && sender.blocking_send(line).is_ok()
                {}
            });
            while let Some(Some(line)) = inbox.shutdown().run_until_cancelled(lines.recv()).await {
                match IncomingMessage::new(CHAT, String::from_utf8_lossy(&line)) {
                    Ok(message) => drop(inbox.put(message, &mut || Ok(())).await),
                    Err(_) if line.iter().all(u8::is_ascii_whitespace) => {}
                    Err(error) => inbox.note(&format!("a line is skipped: {error}")),
                }
            }
            Ok(())
        }))
    }
}

/// Reads a line of standard input. Returns `None` at its end. A line that is too long ends with more than a message can have.
fn line() -> Option<Vec<u8>> {
    const MOST: usize = IncomingMessage::MAX_TEXT + 2;
    let mut input = io::stdin().lock();
    let mut line = Vec::new();
    let length = input
        .by_ref()
        .take(MOST as u64)
        .read_until(b'\n', &mut line)
        .ok()?;
    // At its end, a terminal would wait for more to be read.
    if length == MOST && !line.ends_with(b"\n") {
        // The rest of the line is no message.
        input.skip_until(b'\n').ok()?;
    }
    (length > 0).then_some(line)
}
