//! [`MessageBlocks`]: completes the streams of careless services in Anthropic's format.
//!
//! rig treats a stream without a `stop_reason` as broken off, and ends at a fragment of an unknown block. Chat completions need no such
//! end, because an option makes rig accept `[DONE]`.

use std::borrow::Cow;

use serde_json::{Value, json};

/// The state of a stream whose blocks may lack their index or their end, and whose end may lack the reason.
#[derive(Default)]
pub(super) struct MessageBlocks {
    has_reason: bool,
    usage: Value,
    /// The indices of the open blocks.
    open: Vec<u64>,
}

impl MessageBlocks {
    /// Returns the events in place of the one with this data.
    pub(super) fn read<'a>(&mut self, data: &'a str) -> Vec<Cow<'a, str>> {
        let event = || serde_json::from_str::<Value>(data).ok();
        let Some(event) = Some(data)
            .filter(|data| data.contains("\"type\""))
            .and_then(|_| event())
        else {
            return vec![data.into()];
        };
        let before = self.before(&event);
        let data = self
            .with_index(event)
            .map_or(Cow::Borrowed(data), |event| event.to_string().into());
        before
            .into_iter()
            .map(|event| event.to_string().into())
            .chain([data])
            .collect()
    }

    /// Returns the missing event before this one: the end of the block that had its index, or the reason of the end.
    fn before(&mut self, event: &Value) -> Option<Value> {
        match event["type"].as_str()? {
            "content_block_start" => {
                let index = number(&event["index"])?;
                let is_open = self.open.contains(&index);
                self.open.retain(|open| *open != index);
                self.open.push(index);
                is_open.then(|| json!({"type": "content_block_stop", "index": index}))
            }
            "message_delta" => {
                self.has_reason |= event["delta"]["stop_reason"].is_string();
                self.usage = event["usage"].clone();
                None
            }
            "message_stop" if !self.has_reason => {
                self.has_reason = true;
                let delta = json!({"stop_reason": "end_turn"});
                Some(json!({"type": "message_delta", "delta": delta, "usage": self.usage}))
            }
            _ => None,
        }
    }

    /// Returns the event with the index of the only open block, if its own is that of none.
    fn with_index(&mut self, mut event: Value) -> Option<Value> {
        let is_end = match event["type"].as_str()? {
            "content_block_delta" => false,
            "content_block_stop" => true,
            _ => return None,
        };
        let named = number(&event["index"]).filter(|index| self.open.contains(index));
        let index = named.or(match self.open[..] {
            [only] => Some(only),
            _ => None,
        })?;
        if is_end {
            self.open.retain(|open| *open != index);
        }
        event["index"] = index.into();
        named.is_none().then_some(event)
    }
}

fn number(index: &Value) -> Option<u64> {
    index.as_u64().or_else(|| index.as_str()?.parse().ok())
}

/// Returns a whole message with its type and its blocks.
pub(super) fn whole(payload: &str) -> Cow<'_, str> {
    if !payload.contains("\"stop_reason\"") {
        return Cow::Borrowed(payload);
    }
    let Ok(Value::Object(mut message)) = serde_json::from_str(payload) else {
        return Cow::Borrowed(payload);
    };
    let Some(content) = message
        .get_mut("content")
        .filter(|_| payload.contains("\"role\""))
    else {
        return Cow::Borrowed(payload);
    };
    let is_text = content.is_string();
    if is_text {
        *content = json!([{"type": "text", "text": content}]);
    }
    if !is_text && message.contains_key("type") {
        return Cow::Borrowed(payload);
    }
    message.insert("type".to_owned(), "message".into());
    Value::Object(message).to_string().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELTA: &str =
        " {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\r\n";
    const TEXT: &str =
        "{\"type\":\"content_block_delta\",\"delta\":{\"text\":\"\\\"message_stop\\\" é\"}}\n";
    const STOP: &str = " {\"type\":\"message_stop\"}\n";

    fn read(events: &[&str]) -> Vec<String> {
        let mut blocks = MessageBlocks::default();
        events
            .iter()
            .flat_map(|data| blocks.read(data))
            .map(Cow::into_owned)
            .collect()
    }

    #[test]
    fn only_an_end_marker_without_a_reason_gets_one() {
        for events in [
            &[TEXT, DELTA, STOP][..],
            &[TEXT, TEXT],
            &[TEXT, "message_stop", ""],
            &[TEXT, DELTA],
        ] {
            assert_eq!(read(events), events);
        }
        let events = read(&[TEXT, STOP]);
        assert!(
            events.len() == 3
                && events[1].contains("message_delta")
                && events[1].contains("end_turn"),
            "{events:?}"
        );
    }

    #[test]
    fn a_fragment_without_its_index_belongs_to_the_only_open_block() {
        let start = |index: u64| {
            json!({"type": "content_block_start", "index": index, "content_block": {}}).to_string()
        };
        let more = |index: Value| {
            json!({"type": "content_block_delta", "index": index, "delta": {}}).to_string()
        };
        let placed = |starts: &[u64], index: Value| {
            let events: Vec<_> = starts
                .iter()
                .map(|index| start(*index))
                .chain([more(index)])
                .collect();
            let read = read(&events.iter().map(String::as_str).collect::<Vec<_>>());
            serde_json::from_str::<Value>(read.last().unwrap()).unwrap()["index"].clone()
        };
        assert_eq!(
            [placed(&[2], json!(7)), placed(&[2], Value::Null)],
            [json!(2), json!(2)]
        );
        assert_eq!(
            [placed(&[2, 3], json!(7)), placed(&[2, 3], json!(3))],
            [json!(7), json!(3)]
        );
        let again = read(&[&start(0), &start(0)]);
        assert!(
            again.len() == 3 && again[1].contains("content_block_stop"),
            "{again:?}"
        );
    }
}
