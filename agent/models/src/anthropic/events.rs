//! Reads the events of messages, and whole messages.

use std::borrow::Cow;

use agent::Usage;
use serde_json::{Value, json};

use crate::arguments::find_arguments;
use crate::broken::Broken;
use crate::raw::{Fields, Raw};
use crate::turn::{Kind, ReadReply, TurnBuilder};

/// The reason of a turn whose end has none.
const END: &str = "end_turn";

/// The members of a call.
const CALL: [&str; 7] = [
    "type",
    "id",
    "name",
    "input",
    "arguments",
    "args",
    "parameters",
];

/// The state of a reply. Some services leave out the index or the end of a block, or the reason of the end.
#[derive(Default)]
pub(crate) struct Events {
    open: Vec<OpenBlock>,
    started: Counts,
}

struct OpenBlock {
    index: u64,
    /// The position in the turn.
    at: usize,
    /// The input as the start of the block has it. Fragments replace it.
    input: String,
}

/// The tokens that an event names: of the input and the output, and those read from the cache and written to it.
type Counts = [Option<u64>; 4];

impl ReadReply for Events {
    fn read(&mut self, event: Fields<'_>, turn: &mut TurnBuilder<'_>) -> Result<(), Broken> {
        let kind = event.get("type").text().unwrap_or_default();
        // Some services leave out the type of a whole message.
        let is_whole = event.get("role").is_string() && !event.get("content").is_null();
        match &*kind {
            "message_start" => self.read_head(&event.get("message").fields(), turn),
            "content_block_start" => {
                let index = event.get("index").number();
                // A service that leaves out the end of a block begins the next one at the same index.
                if let Some(at) = self.open.iter().position(|open| Some(open.index) == index) {
                    self.close(at, turn);
                }
                let block = event.get("content_block");
                self.start(index.unwrap_or_default(), block, turn)?;
            }
            "content_block_delta" => self.read_delta(&event, turn)?,
            "content_block_stop" => {
                if let Some(at) = self.position(event.get("index")) {
                    self.close(at, turn);
                }
            }
            "message_delta" => {
                let delta = event.get("delta").fields();
                read_end(&delta, turn);
                let mut ended = counts(&event.get("usage").fields());
                // No request has an input of 0 tokens: a service that writes so at the end has stated the number at the start.
                ended[0] = ended[0].filter(|tokens| *tokens > 0);
                // The end of a stream may name those of its start again.
                for (count, started) in ended.iter_mut().zip(self.started) {
                    *count = count.or(started);
                }
                turn.usage = usage(ended).or(turn.usage);
            }
            "message_stop" => self.read_mark(turn),
            kind if kind == "message" || is_whole => self.read_whole(&event, turn)?,
            _ => {}
        }
        Ok(())
    }

    fn read_mark(&mut self, turn: &mut TurnBuilder<'_>) {
        turn.has_ended = true;
        turn.is_over = true;
    }

    fn finish(&mut self, turn: &mut TurnBuilder<'_>) {
        while !self.open.is_empty() {
            self.close(0, turn);
        }
        // Complete calls of a reply without a reason are made, so the missing reason counts as the usual one.
        turn.end.get_or_insert_with(|| END.to_owned());
    }
}

impl Events {
    fn read_whole(
        &mut self,
        message: &Fields<'_>,
        turn: &mut TurnBuilder<'_>,
    ) -> Result<(), Broken> {
        self.read_head(message, turn);
        let content = message.get("content");
        if let Some(text) = content.text() {
            let at = turn.open(Kind::Text);
            turn.push(at, &text);
        }
        for (index, block) in (0..).zip(content.elements()) {
            self.start(index, block, turn)?;
        }
        read_end(message, turn);
        self.read_mark(turn);
        Ok(())
    }

    fn read_head(&mut self, message: &Fields<'_>, turn: &mut TurnBuilder<'_>) {
        self.started = counts(&message.get("usage").fields());
        turn.usage = usage(self.started);
        turn.response_id = message.get("id").into_text();
        turn.model = message.get("model").text().map(Cow::into_owned);
    }

    fn start(
        &mut self,
        index: u64,
        block: Raw<'_>,
        turn: &mut TurnBuilder<'_>,
    ) -> Result<(), Broken> {
        let fields = block.fields();
        let text = |name: &str| fields.get(name).text().unwrap_or_default();
        let (kind, own): (_, &[&str]) = match &*text("type") {
            // The service gave the request to another model, before its first word.
            "fallback" => return Ok(()),
            "" => return Err(Broken::garbled(block.json())),
            "text" => (Kind::Text, &["type", "text"]),
            // A thought goes back as it came, because its signature covers all of its members.
            "thinking" | "redacted_thinking" => (Kind::Thought, &[]),
            "tool_use" => {
                let id = text("id").into_owned();
                let name = text("name").into_owned();
                (Kind::Call { id, name }, &CALL)
            }
            _ => (Kind::Opaque, &[]),
        };
        let piece = match kind {
            Kind::Text => text("text"),
            Kind::Thought => text("thinking"),
            _ => Cow::default(),
        };
        let input = match (&kind, find_arguments(&fields, "input")) {
            (Kind::Call { .. }, input) if !input.is_null() => input.json().to_owned(),
            _ => String::new(),
        };
        let at = turn.open(kind);
        turn.block(at).item = fields.without(own);
        turn.push(at, &piece);
        self.open.push(OpenBlock { index, at, input });
        Ok(())
    }

    /// Returns the position of the open block with this index, or of the only open one.
    fn position(&self, index: Raw<'_>) -> Option<usize> {
        // The only open block takes the fragment also if the index is another one, because some services number blocks wrongly or not at
        // all.
        let mut open = self.open.iter();
        let named = open.position(|open| Some(open.index) == index.number());
        named.or((self.open.len() == 1).then_some(0))
    }

    fn read_delta(&mut self, event: &Fields<'_>, turn: &mut TurnBuilder<'_>) -> Result<(), Broken> {
        let delta = event.get("delta").fields();
        let text = |name: &str| delta.get(name).text().unwrap_or_default();
        let kind = text("type");
        let begun = match &*kind {
            "text_delta" => Some(r#"{"type":"text"}"#),
            "thinking_delta" => Some(r#"{"type":"thinking"}"#),
            _ => None,
        };
        let position = match (self.position(event.get("index")), begun) {
            (Some(position), _) => position,
            (None, Some(begun)) => {
                let block = serde_json::from_str(begun).map_err(|_| Broken::garbled(begun))?;
                let index = event.get("index").number().unwrap_or_default();
                self.start(index, Raw::new(block), turn)?;
                self.open.len() - 1
            }
            // No call may run without these arguments.
            (None, None) if kind == "input_json_delta" => {
                return Err(Broken::garbled("a fragment of no open block"));
            }
            (None, None) => return Ok(()),
        };
        let open = &self.open[position];
        match &*kind {
            "text_delta" => turn.push(open.at, &text("text")),
            "thinking_delta" => turn.push(open.at, &text("thinking")),
            "input_json_delta" => turn.push(open.at, &text("partial_json")),
            "signature_delta" => {
                let item = &mut turn.block(open.at).item;
                // The service refuses a thought whose signature lacks one of the pieces that it was sent in.
                let signature = item.entry("signature").or_insert_with(|| "".into());
                *signature = Value::from(format!(
                    "{}{}",
                    signature.as_str().unwrap_or_default(),
                    text("signature")
                ));
            }
            "citations_delta" => {
                let item = &mut turn.block(open.at).item;
                let citations = item.entry("citations").or_insert_with(|| json!([]));
                if !citations.is_array() {
                    *citations = json!([]);
                }
                let citations = citations.as_array_mut().into_iter();
                citations.for_each(|citations| citations.push(delta.get("citation").value()));
            }
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, position: usize, turn: &mut TurnBuilder<'_>) {
        let open = self.open.remove(position);
        let block = turn.block(open.at);
        match block.kind {
            Kind::Call { .. } if block.text.is_empty() => block.text = open.input,
            // The input of a call of the service's own tools.
            Kind::Opaque if !block.text.is_empty() => {
                let input = serde_json::from_str(&block.text).unwrap_or_else(|_| json!({}));
                block.item.insert("input".to_owned(), input);
                block.text.clear();
            }
            Kind::Thought => {
                if block.item["type"] == "thinking" {
                    block
                        .item
                        .insert("thinking".to_owned(), block.text.as_str().into());
                }
                let is_said = |name: &str| block.item.get(name).is_some_and(|value| *value != "");
                // The service refuses a thought without its signature.
                if !is_said("signature") && !is_said("data") {
                    block.item.clear();
                }
            }
            _ => {}
        }
    }
}

fn counts(usage: &Fields<'_>) -> Counts {
    let names = [
        "input_tokens",
        "output_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
    ];
    names.map(|name| usage.get(name).number())
}

/// Returns the tokens of all inputs. The service counts cached ones apart.
fn usage([input, output, read, written]: Counts) -> Option<Usage> {
    let [read, written] = [read, written].map(Option::unwrap_or_default);
    (input.is_some() || output.is_some()).then(|| Usage {
        input_tokens: input.map_or(0, |input| input + read + written),
        output_tokens: output.unwrap_or_default(),
        cached_input_tokens: read,
        cache_write_tokens: written,
    })
}

fn read_end(fields: &Fields<'_>, turn: &mut TurnBuilder<'_>) {
    if let Some(reason) = fields.get("stop_reason").words() {
        turn.has_ended = true;
        let words = fields.get("stop_details").get("explanation").words();
        let words = words.unwrap_or(Cow::Borrowed("The model refused to complete the request"));
        turn.explanation = (reason == "refusal").then(|| words.into_owned());
        turn.end = Some(reason.into_owned());
    }
}
