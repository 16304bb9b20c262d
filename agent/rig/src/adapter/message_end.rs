//! The end of a streamed message of Anthropic's format.
//!
//! For rig such a stream ends with its `stop_reason`, and one without it has broken off. Some services send none, and `message_stop`
//! alone. Chat completions need nothing of the kind: there rig takes `[DONE]` for the end when it is told to.

use bytes::Bytes;
use futures_util::TryStreamExt;
use rig_core::http_client::BoxedStream;
use serde_json::{Value, json};

/// Adds a reason to stop after an end marker that came without one. All else passes as it is.
pub(super) fn explained(body: BoxedStream) -> BoxedStream {
    let mut end = MessageEnd::default();
    let with_reason = move |piece: Bytes| match end.missing_reason(&piece) {
        Some(event) => [&piece[..], format!("\n\ndata: {event}\n\n").as_bytes()].concat().into(),
        None => piece,
    };
    Box::pin(body.map_ok(with_reason))
}

#[derive(Default)]
struct MessageEnd {
    /// The line that is not whole yet.
    line: Vec<u8>,
    has_reason: bool,
    usage: Value,
}

impl MessageEnd {
    /// Returns the event that has to come after this piece.
    fn missing_reason(&mut self, piece: &[u8]) -> Option<Value> {
        let mut missing = None;
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                missing = self.after(&line).or(missing);
            }
        }
        missing
    }

    /// Returns the event that has to come after this line.
    fn after(&mut self, line: &[u8]) -> Option<Value> {
        let data = std::str::from_utf8(line).ok()?.strip_prefix("data:")?;
        // Most events are pieces of text, and need not be parsed here.
        if !data.contains("\"message_") {
            return None;
        }
        let mut event: Value = serde_json::from_str(data).ok()?;
        match event["type"].as_str()? {
            "message_delta" => {
                self.has_reason |= event["delta"]["stop_reason"].is_string();
                self.usage = event["usage"].take();
            }
            "message_stop" if !self.has_reason => {
                let delta = json!({"stop_reason": "end_turn"});
                return Some(json!({"type": "message_delta", "delta": delta, "usage": self.usage}));
            }
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{StreamExt, stream};

    use super::*;

    const DELTA: &str =
        "event: message_delta\r\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\r\n\r\n";
    const TEXT: &str = "data:{\"type\":\"content_block_delta\",\"delta\":{\"text\":\"\\\"message_stop\\\" é\"}}\n\n";
    const STOP: &str = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

    async fn passed(text: &str, piece: usize) -> String {
        let pieces: Vec<_> = text.as_bytes().chunks(piece).map(Bytes::copy_from_slice).map(Ok).collect();
        let pieces: Vec<_> = explained(Box::pin(stream::iter(pieces))).map(Result::unwrap).collect().await;
        String::from_utf8(pieces.concat()).unwrap()
    }

    #[tokio::test]
    async fn a_stream_that_gives_its_reason_or_has_no_end_passes_as_it_is() {
        for text in [[TEXT, DELTA, STOP].concat(), TEXT.repeat(2), TEXT.to_owned() + "data: {\"type\":\"mess"] {
            for piece in [1, 7, 997] {
                assert_eq!(passed(&text, piece).await, text);
            }
        }
    }

    #[tokio::test]
    async fn an_end_marker_without_a_reason_gets_one() {
        for piece in [1, 7, 997] {
            let passed = passed(&[TEXT, STOP].concat(), piece).await;
            let events: Vec<Value> = passed
                .lines()
                .filter_map(|line| line.strip_prefix("data:"))
                .map(|data| serde_json::from_str(data).unwrap())
                .collect();
            let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
            assert_eq!(kinds, ["content_block_delta", "message_stop", "message_delta"]);
            assert!(events[2]["delta"]["stop_reason"].is_string());
        }
    }
}
