//! The terminal: standard error of the program.

use std::io::{self, Write as _};
use std::sync::Arc;

use tools::{source, visible_text};

use crate::{Channel, ChannelKind, Delivery, SendError, SendFuture};

inventory::submit! {
    ChannelKind {
        name: "terminal",
        description: "writes messages to standard error",
        source: source!(),
        fields: &[],
        create: |_| Ok(Arc::new(Terminal)),
    }
}

/// Standard error of the program.
#[derive(Debug)]
pub(crate) struct Terminal;

impl Channel for Terminal {
    fn send<'a>(&'a self, delivery: Delivery<'a>) -> SendFuture<'a> {
        Box::pin(async move {
            let message = delivery.message;
            let subject = message.subject.as_ref().map(|subject| format!("{subject}\n")).unwrap_or_default();
            let text = visible_text(&format!("message: {subject}{}", message.text)) + "\n";
            // A full pipe blocks.
            let written = tokio::task::spawn_blocking(move || io::stderr().lock().write_all(text.as_bytes())).await;
            match written {
                Ok(Ok(())) => Ok(()),
                _ => Err(SendError::unclear("the terminal took no more text")),
            }
        })
    }
}
