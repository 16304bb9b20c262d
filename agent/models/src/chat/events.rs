//! Reads the chunks of chat completions, and whole replies.

use agent::Usage;
use serde_json::{Map, Value, json};

use super::calls::Calls;
use crate::broken::Broken;
use crate::raw::{Fields, Raw};
use crate::turn::{Kind, ReadReply, TurnBuilder};

/// The members of a message with a thought.
const THOUGHTS: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_text"];

/// The member with the parts of a thought, of which the service wants each back.
const DETAILS: &str = "reasoning_details";

/// The state of a reply.
#[derive(Default)]
pub(crate) struct Events {
    calls: Calls,
    /// The thought beside the content.
    thought: String,
    /// The member that the thought is in.
    thought_name: Option<&'static str>,
    /// The details of the thought.
    thought_item: Map<String, Value>,
    has_chunks: bool,
}

impl ReadReply for Events {
    fn read(&mut self, chunk: Fields<'_>, turn: &mut TurnBuilder<'_>) -> Result<(), Broken> {
        self.has_chunks = true;
        chunk.get("id").keep_text(&mut turn.response_id);
        chunk.get("model").keep_text(&mut turn.model);
        let choices = chunk.get("choices").objects();
        let is_only = choices.len() == 1;
        let choice = choices
            .into_iter()
            // The place of the only choice says nothing. Of several, the first is the answer, because a request asks for one.
            .find(|choice| is_only || choice.get("index").number().is_none_or(|index| index == 0));
        let choice = choice.unwrap_or_default();
        for usage in [chunk.get("usage"), choice.get("usage")] {
            if usage.is_object() {
                turn.usage = usage_of(&usage.fields()).or(turn.usage);
            }
        }
        let reasons = ["finish_reason", "native_finish_reason"];
        if let Some(reason) = reasons.iter().find_map(|name| choice.get(name).into_text()) {
            turn.end = Some(reason);
            turn.has_ended = true;
        }
        let message = choice.get("message");
        let delta = choice.get("delta");
        // Perplexity's chunks have the whole message so far beside the new piece.
        let is_whole = chunk.get("object").json() == "\"chat.completion\"";
        if message.is_object() && (is_whole || !delta.is_object()) {
            turn.has_ended = true;
            self.read_message(&message.fields(), turn);
        } else {
            self.read_message(&delta.fields(), turn);
        }
        Ok(())
    }

    fn read_mark(&mut self, turn: &mut TurnBuilder<'_>) {
        turn.has_ended |= self.has_chunks;
        turn.is_over = true;
    }

    fn finish(&mut self, turn: &mut TurnBuilder<'_>) {
        for block in turn.blocks() {
            if block.kind == Kind::Thought {
                let thinking = json!([{"type": "text", "text": block.text}]);
                block.item.insert("type".to_owned(), "thinking".into());
                block.item.insert("thinking".to_owned(), thinking);
            }
        }
        if !self.thought.is_empty() || !self.thought_item.is_empty() {
            let text = std::mem::take(&mut self.thought);
            let mut item = std::mem::take(&mut self.thought_item);
            if let Some(name) = self.thought_name {
                item.insert(name.to_owned(), text.as_str().into());
            }
            // A thought precedes its text, although its members may arrive after the first words.
            turn.prepend(Kind::Thought, text, item);
        }
    }
}

impl Events {
    fn read_message(&mut self, message: &Fields<'_>, turn: &mut TurnBuilder<'_>) {
        self.read_thought(message);
        if let Some(id) = message.get("audio").get("id").words() {
            let at = turn.part(Kind::Text);
            let item = &mut turn.block(at).item;
            item.insert("audio".to_owned(), json!({"id": id}));
        }
        let content = message.get("content");
        match content.text() {
            None => content
                .one_or_more()
                .into_iter()
                .for_each(|part| read_part(part, turn)),
            Some(text) => turn.write(Kind::Text, &text),
        }
        if let Some(refusal) = message.get("refusal").words() {
            turn.is_refusal = true;
            if content.words().is_none() {
                turn.write(Kind::Text, &refusal);
            }
        }
        if let Some(transcript) = message.get("audio").get("transcript").words() {
            turn.write(Kind::Text, &transcript);
        }
        for image in message.get("images").elements() {
            read_image(image, turn);
        }
        let calls = message.get("tool_calls").one_or_more();
        let calls: Vec<_> = calls.into_iter().filter(|call| !call.is_empty()).collect();
        // Older servers have one call in a member of its own.
        let function = message.get("function_call");
        if calls.is_empty() && function.is_object() {
            self.calls.read(function, turn);
        }
        for call in calls {
            self.calls.read(call, turn);
        }
    }

    fn read_thought(&mut self, message: &Fields<'_>) {
        let said = THOUGHTS
            .iter()
            .find_map(|name| Some((*name, message.get(name).words()?)));
        if let Some((name, text)) = said {
            self.thought += &text;
            self.thought_name.get_or_insert(name);
        }
        let details = message.get(DETAILS).elements();
        if !details.is_empty() {
            let merged = self.thought_item.entry(DETAILS);
            let merged = merged.or_insert_with(|| json!([]));
            let merged = merged.as_array_mut().into_iter();
            merged.for_each(|merged| {
                details
                    .iter()
                    .for_each(|detail| add_detail(merged, detail.value()))
            });
        }
    }
}

fn read_part(part: Raw<'_>, turn: &mut TurnBuilder<'_>) {
    let fields = part.fields();
    let kind = fields.get("type").text();
    let text = |name: &str| fields.get(name).text().unwrap_or_default();
    match kind.as_deref() {
        Some("text") => turn.write(Kind::Text, &text("text")),
        None if fields.get("text").is_string() => turn.write(Kind::Text, &text("text")),
        Some("refusal") => {
            turn.is_refusal = true;
            turn.write(Kind::Text, &text("refusal"));
        }
        // Mistral's form.
        Some("thinking") => {
            let thinking = fields.get("thinking");
            let chunks = thinking.elements().into_iter();
            let texts = chunks.filter_map(|chunk| chunk.get("text").text());
            texts
                .chain(thinking.text())
                .for_each(|text| turn.write(Kind::Thought, &text));
        }
        Some("image_url") => read_image(part, turn),
        _ => {
            let at = turn.open(Kind::Opaque);
            turn.block(at).item = fields.to_map();
        }
    }
}

/// Reads an image. One that is a link is left out.
fn read_image(part: Raw<'_>, turn: &mut TurnBuilder<'_>) {
    let image = part.get("image_url");
    let url = image.get("url").text().or_else(|| image.text());
    let Some((mime_type, data)) = url
        .as_deref()
        .and_then(|url| url.strip_prefix("data:")?.split_once(";base64,"))
    else {
        return;
    };
    let mime_type = mime_type.to_owned();
    let at = turn.open(Kind::Image { mime_type });
    turn.push(at, data);
}

/// Adds a detail of a thought. The texts of one detail arrive in pieces.
fn add_detail(merged: &mut Vec<Value>, detail: Value) {
    let kind = detail["type"].as_str();
    match (merged.last_mut(), &detail) {
        (Some(last), Value::Object(members))
            if matches!(kind, Some("reasoning.text" | "reasoning.summary"))
                && last["type"].as_str() == kind
                && last.get("index") == detail.get("index") =>
        {
            for (name, value) in members {
                match (name.as_str(), &mut last[name], value) {
                    ("text" | "summary", Value::String(text), Value::String(more)) => {
                        text.push_str(more)
                    }
                    (_, known, value) if known.is_null() || known == "" => *known = value.clone(),
                    _ => {}
                }
            }
        }
        _ => merged.push(detail),
    }
}

/// Returns the tokens. Returns `None` if none are stated.
fn usage_of(usage: &Fields<'_>) -> Option<Usage> {
    let details = usage.get("prompt_tokens_details").fields();
    let input = usage.get("prompt_tokens").number();
    let output = usage.get("completion_tokens").number();
    let total = usage.get("total_tokens").number();
    let cached = [
        details.get("cached_tokens"),
        usage.get("num_cached_tokens"),
        usage.get("prompt_cache_hit_tokens"),
    ];
    // A service that states the sum alone would else count as one without output in budgets.
    let rest = total.map(|total| total.saturating_sub(input.unwrap_or_default()));
    let usage = Usage {
        input_tokens: input.unwrap_or_default(),
        output_tokens: output.or(rest).unwrap_or_default(),
        cached_input_tokens: cached.into_iter().find_map(Raw::number).unwrap_or_default(),
        cache_write_tokens: details
            .get("cache_write_tokens")
            .number()
            .unwrap_or_default(),
    };
    (input.is_some() || output.is_some() || total.is_some()).then_some(usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pieces_of_a_detail_are_joined() {
        let mut merged = Vec::new();
        for detail in [
            json!({"type": "reasoning.text", "text": "a", "index": 0}),
            json!({"type": "reasoning.text", "text": "b", "signature": "s", "index": 0}),
            json!({"type": "reasoning.encrypted", "data": "x", "index": 0}),
            json!({"type": "reasoning.text", "text": "c", "index": 1}),
        ] {
            add_detail(&mut merged, detail);
        }
        assert_eq!(merged.len(), 3);
        assert_eq!(
            merged[0],
            json!({"type": "reasoning.text", "text": "ab", "signature": "s", "index": 0})
        );
    }
}
