//! The events of a response, one at a time.

use std::io;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use rmcp::model::RequestId;
use serde_json::{Value, json};
use sse_stream::{Error, Sse, SseStream};
use tools_http::{Bytes, ResponseStream};

use crate::client::message_limit::MAX_MESSAGE_BYTES;
use crate::client::reading;
use crate::client::unanswered::Count;

/// Returns the events of a response. A drop closes the connection. An event that is too long is an error, which ends the stream. It
/// is not read while too many requests of the server are unanswered. An answer is that of `request`.
pub(super) fn events(
    response: ResponseStream,
    unanswered: Arc<Count>,
    request: Option<RequestId>,
) -> BoxStream<'static, Result<Sse, Error>> {
    let state = Some((
        response,
        Size::new(MAX_MESSAGE_BYTES),
        unanswered,
        Vec::new(),
        true,
    ));
    let bytes = stream::unfold(state, async |state| {
        let (mut response, mut size, unanswered, mut rest, mut is_first) = state?;
        unanswered.room().await;
        let bytes = match response.chunk().await {
            // The last event may lack its end.
            Ok(None) => return Some((Ok(Bytes::from_static(b"\n\n")), None)),
            Ok(Some(bytes)) if size.fits(&bytes) => bytes,
            Ok(Some(_)) => {
                let reason = format!("an event is longer than {MAX_MESSAGE_BYTES} bytes");
                return Some((
                    Err(io::Error::new(io::ErrorKind::InvalidData, reason)),
                    None,
                ));
            }
            Err(error) => return Some((Err(io::Error::other(error)), None)),
        };
        let mut text = readable(&mut rest, &bytes);
        // A message that is no event, of a server that names the wrong type.
        if std::mem::take(&mut is_first) && text.starts_with(['{', '[']) {
            text.insert_str(0, "data: ");
        }
        Some((
            Ok::<Bytes, _>(text.into()),
            Some((response, size, unanswered, rest, is_first)),
        ))
    });
    let own = request.map(|request| json!(request));
    let messages = SseStream::from_bytes_stream(bytes.boxed()).flat_map(move |event| {
        let events = match event {
            Ok(event) => each(event, own.as_ref()).into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        };
        stream::iter(events)
    });
    messages.boxed()
}

/// Returns an event for each message of one. An event without messages stays as it is.
fn each(event: Sse, own: Option<&Value>) -> Vec<Sse> {
    let messages = event
        .data
        .as_ref()
        .map(|data| reading::read(data.as_bytes(), own))
        .unwrap_or_default();
    if messages.is_empty() {
        return vec![event];
    }
    // Only events of one kind are read, and some servers name it otherwise.
    messages
        .into_iter()
        .map(|message| Sse {
            data: Some(message),
            event: None,
            ..event.clone()
        })
        .collect()
}

/// Returns bytes with U+FFFD in place of those that are no UTF-8. The start of a character stays in `rest` until its end arrives.
fn readable(rest: &mut Vec<u8>, bytes: &[u8]) -> String {
    rest.extend_from_slice(bytes);
    let whole = match rest.utf8_chunks().last() {
        // Up to three bytes may be the start of a character.
        Some(last)
            if std::str::from_utf8(last.invalid())
                .is_err_and(|error| error.error_len().is_none()) =>
        {
            rest.len() - last.invalid().len()
        }
        _ => rest.len(),
    };
    let text = String::from_utf8_lossy(&rest[..whole]).into_owned();
    rest.drain(..whole);
    text
}

/// Counts the bytes of an event, which ends with an empty line.
struct Size {
    limit: usize,
    event: usize,
    line: usize,
}

impl Size {
    fn new(limit: usize) -> Self {
        Self {
            limit,
            event: 0,
            line: 0,
        }
    }

    /// Takes the next bytes. Returns false if an event is too long.
    fn fits(&mut self, bytes: &[u8]) -> bool {
        for byte in bytes {
            self.event += 1;
            match byte {
                b'\n' if self.line == 0 => self.event = 0,
                b'\n' => self.line = 0,
                // Part of the end of a line.
                b'\r' => {}
                _ => self.line += 1,
            }
            if self.event > self.limit {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_whole_however_the_stream_is_cut_and_a_broken_one_is_replaced() {
        let bytes = "a €\u{1f600}"
            .as_bytes()
            .iter()
            .copied()
            .chain(*b"caf\xe9!")
            .collect::<Vec<_>>();
        for size in 1..=bytes.len() {
            let mut rest = Vec::new();
            let read: Vec<u8> = bytes
                .chunks(size)
                .flat_map(|chunk| readable(&mut rest, chunk).into_bytes())
                .collect();
            assert_eq!(
                String::from_utf8(read).unwrap(),
                "a €\u{1f600}caf\u{fffd}!",
                "{size}"
            );
        }
    }

    #[test]
    fn an_event_is_counted_up_to_its_empty_line() {
        for end in ["\n", "\r\n"] {
            let event = format!("event: a{end}data: bcd{end}{end}");
            let mut size = Size::new(event.len());
            for _ in 0..3 {
                assert!(event.bytes().all(|byte| size.fits(&[byte])));
            }
            assert!(!Size::new(event.len() - end.len() - 1).fits(event.as_bytes()));
            assert!(!Size::new(100).fits(format!("data: {}", "x".repeat(100)).as_bytes()));
            assert!(!Size::new(100).fits(format!("data: x{end}").repeat(20).as_bytes()));
        }
    }
}
