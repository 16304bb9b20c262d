//! Completes the end of a streamed message in Anthropic's format.
//!
//! rig treats a stream without a `stop_reason` as broken off, but some services send only `message_stop`. Chat completions need no
//! such fix, because an option makes rig accept `[DONE]` as the end.

use bytes::Bytes;
use futures_util::TryStreamExt;
use rig_core::http_client::BoxedStream;
use serde_json::{Value, json};

/// Adds a stop reason after an end marker that came without one. Other bytes pass unchanged.
pub(super) fn with_stop_reason(body: BoxedStream) -> BoxedStream {
    let mut end = MessageEnd::default();
    let with_reason = move |piece: Bytes| match end.missing_reason(&piece) {
        Some(event) => [&piece[..], format!("\n\ndata: {event}\n\n").as_bytes()].concat().into(),
        None => piece,
    };
    Box::pin(body.map_ok(with_reason))
}

#[derive(Default)]
struct MessageEnd {
    /// The incomplete last line.
    line: Vec<u8>,
    has_reason: bool,
    usage: Value,
}

impl MessageEnd {
    /// Returns the event to insert after this piece, or `None`.
    fn missing_reason(&mut self, piece: &[u8]) -> Option<Value> {
        let mut missing = None;
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                missing = self.event_after(&line).or(missing);
            }
        }
        missing
    }

    /// Returns the event to insert after this line, or `None`.
    fn event_after(&mut self, line: &[u8]) -> Option<Value> {
        let data = std::str::from_utf8(line).ok()?.strip_prefix("data:")?;
        // Skips parsing of text events, which are the most frequent.
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
        let pieces: Vec<_> = with_stop_reason(Box::pin(stream::iter(pieces))).map(Result::unwrap).collect().await;
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
