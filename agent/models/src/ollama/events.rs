//! Reads the records of Ollama.

use agent::Usage;

use crate::arguments::{NAMES, stated};
use crate::broken::Broken;
use crate::raw::{Fields, Raw};
use crate::turn::{Kind, ReadReply, TurnBuilder};

/// The state of a reply.
#[derive(Default)]
pub(crate) struct Events {
    /// The position of the text or the thought that is being written.
    writing: Option<usize>,
    is_over: bool,
}

impl ReadReply for Events {
    fn read(&mut self, record: Fields<'_>, turn: &mut TurnBuilder<'_>) -> Result<(), Broken> {
        if let Some(model) = record.get("model").words() {
            turn.model = Some(model.into_owned());
        }
        let message = record.get("message").fields();
        for (kind, name) in [(Kind::Thought, "thinking"), (Kind::Text, "content")] {
            if let Some(text) = message.get(name).words() {
                self.write(kind, &text, turn);
            }
        }
        for call in message.get("tool_calls").one_or_more() {
            self.stop_writing(turn);
            read_call(call, turn);
        }
        if record.get("done").is_true() {
            self.is_over = true;
            turn.end = record
                .get("done_reason")
                .words()
                .map(|reason| reason.into_owned());
            turn.usage = usage_of(&record);
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.is_over
    }

    fn finish(&mut self, turn: &mut TurnBuilder<'_>) -> bool {
        self.stop_writing(turn);
        self.is_over
    }
}

impl Events {
    fn write(&mut self, kind: Kind, text: &str, turn: &mut TurnBuilder<'_>) {
        let at = match self.writing.filter(|at| turn.block(*at).kind == kind) {
            Some(at) => at,
            None => {
                self.stop_writing(turn);
                let at = turn.open(kind);
                self.writing = Some(at);
                at
            }
        };
        turn.push(at, text);
    }

    fn stop_writing(&mut self, turn: &mut TurnBuilder<'_>) {
        let Some(at) = self.writing.take() else {
            return;
        };
        let block = turn.block(at);
        if block.kind == Kind::Thought {
            let text = block.text.as_str().into();
            block.item.insert("thinking".to_owned(), text);
        }
    }
}

fn read_call(call: Raw<'_>, turn: &mut TurnBuilder<'_>) {
    let (fields, function) = (call.fields(), call.get("function").fields());
    let text = |value: Raw<'_>| value.text().unwrap_or_default().into_owned();
    let (id, name) = (text(fields.get("id")), text(function.get("name")));
    let at = turn.open(Kind::Call { id, name });
    let block = turn.block(at);
    let arguments = stated(&function, "arguments");
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

/// Returns the tokens. Returns `None` if none are stated.
fn usage_of(record: &Fields<'_>) -> Option<Usage> {
    let (input, output) = (
        record.get("prompt_eval_count").number(),
        record.get("eval_count").number(),
    );
    (input.is_some() || output.is_some()).then(|| Usage {
        input_tokens: input.unwrap_or_default(),
        output_tokens: output.unwrap_or_default(),
        cached_input_tokens: record
            .get("prompt_eval_cached_count")
            .number()
            .unwrap_or_default(),
        cache_write_tokens: 0,
    })
}
