//! Completes the end of a streamed message in Anthropic's format.
//!
//! rig treats a stream without a `stop_reason` as broken off, but some services send only `message_stop`. Chat completions need no
//! such fix, because an option makes rig accept `[DONE]` as the end.

use serde_json::{Value, json};

/// The state of a stream whose end may lack the reason.
#[derive(Default)]
pub(super) struct MessageEnd {
    has_reason: bool,
    usage: Value,
}

impl MessageEnd {
    /// Returns the event to insert after the one with this data, or `None`.
    pub(super) fn missing_reason(&mut self, data: &str) -> Option<Value> {
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
    use super::*;

    const DELTA: &str = " {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\r\n";
    const TEXT: &str = "{\"type\":\"content_block_delta\",\"delta\":{\"text\":\"\\\"message_stop\\\" é\"}}\n";
    const STOP: &str = " {\"type\":\"message_stop\"}\n";

    fn missing(events: &[&str]) -> Vec<Value> {
        let mut end = MessageEnd::default();
        events.iter().filter_map(|data| end.missing_reason(data)).collect()
    }

    #[test]
    fn only_an_end_marker_without_a_reason_gets_one() {
        for events in [&[TEXT, DELTA, STOP][..], &[TEXT, TEXT], &[TEXT, "message_stop", ""], &[TEXT, DELTA]] {
            assert!(missing(events).is_empty(), "{events:?}");
        }
        let missing = missing(&[TEXT, STOP]);
        assert_eq!((missing.len(), missing[0]["type"].as_str()), (1, Some("message_delta")));
        assert!(missing[0]["delta"]["stop_reason"].is_string());
    }
}
