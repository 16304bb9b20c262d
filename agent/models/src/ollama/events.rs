//! Reads the records of Ollama.

use crate::arguments::{NAMES, find_arguments};
use crate::broken::Broken;
use crate::raw::{Fields, Raw};
use crate::turn::{Kind, ReadReply, TurnBuilder, usage};

/// The state of a reply.
#[derive(Default)]
pub(crate) struct Events;

impl ReadReply for Events {
    fn read(&mut self, record: Fields<'_>, turn: &mut TurnBuilder<'_>) -> Result<(), Broken> {
        record.get("model").keep_text(&mut turn.model);
        let message = record.get("message").fields();
        for (kind, name) in [(Kind::Thought, "thinking"), (Kind::Text, "content")] {
            turn.write(kind, &message.get(name).text().unwrap_or_default());
        }
        for call in message.get("tool_calls").one_or_more() {
            read_call(call, turn);
        }
        if record.get("done").is_true() {
            turn.has_ended = true;
            turn.is_over = true;
            turn.end = record.get("done_reason").into_text();
            let counts = [
                "prompt_eval_count",
                "eval_count",
                "prompt_eval_cached_count",
            ];
            let [input, output, cached] = counts.map(|name| record.get(name));
            turn.usage = usage(input, output, cached, Raw::NULL);
        }
        Ok(())
    }

    fn finish(&mut self, turn: &mut TurnBuilder<'_>) {
        for block in turn.blocks() {
            if block.kind == Kind::Thought {
                let text = block.text.as_str().into();
                block.item.insert("thinking".to_owned(), text);
            }
        }
    }
}

fn read_call(call: Raw<'_>, turn: &mut TurnBuilder<'_>) {
    let (fields, function) = (call.fields(), call.get("function").fields());
    let text = |value: Raw<'_>| value.text().unwrap_or_default().into_owned();
    let id = text(fields.get("id"));
    let name = text(function.get("name"));
    let at = turn.open(Kind::Call { id, name });
    let block = turn.block(at);
    let arguments = find_arguments(&function, "arguments");
    if !arguments.is_null() && !arguments.is_empty() {
        block.text = arguments.json().to_owned();
    }
    block.item = fields.without(&["id", "function"]);
    let mut rest = function.without(&NAMES);
    rest.retain(|name, _| name != "name" && name != "index");
    if !rest.is_empty() {
        block.item.insert("function".to_owned(), rest.into());
    }
}
