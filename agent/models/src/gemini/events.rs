//! Reads the chunks of Gemini, and whole replies. Some gateways spell the members as Python does.

use agent::Usage;
use serde_json::{Map, Value};

use crate::arguments::{NAMES, find_arguments};
use crate::broken::Broken;
use crate::raw::{Fields, Raw};
use crate::turn::{Kind, ReadReply, TurnBuilder};

/// The reasons of a blocked prompt that say nothing.
const UNSPECIFIED: [&str; 3] = [
    "BLOCK_REASON_UNSPECIFIED",
    "BLOCKED_REASON_UNSPECIFIED",
    "reason 0",
];

/// The arguments of a call that arrive in parts, which are no JSON object, so that the call is refused.
const IN_PARTS: &str =
    "(the service sent the arguments in parts, which this program does not read)";

const SIGNATURE: &str = "thoughtSignature";

/// The state of a reply.
#[derive(Default)]
pub(crate) struct Events {
    /// True if the newest part has a signature.
    is_signed: bool,
    /// The position of the newest part.
    last: Option<usize>,
    /// A signature before the first part.
    signature: Option<Value>,
}

impl ReadReply for Events {
    fn read(&mut self, chunk: Fields<'_>, turn: &mut TurnBuilder<'_>) -> Result<(), Broken> {
        let chunk = chunk.in_camel_case();
        chunk.get("responseId").keep_text(&mut turn.response_id);
        let model = chunk.first(&["modelVersion", "model"]);
        model.keep_text(&mut turn.model);
        let usage = chunk.get("usageMetadata");
        if usage.is_object() {
            turn.usage = Some(usage_of(&members(usage)));
        }
        let feedback = members(chunk.get("promptFeedback"));
        if let Some(reason) = block_reason(feedback.get("blockReason")) {
            let at = turn.open(Kind::Text);
            turn.push(at, &format!("The service blocked the prompt ({reason})."));
            // A blocked prompt has no candidate, so the turn would look empty and be asked for again.
            turn.is_refusal = true;
            turn.has_ended = true;
        }
        let candidates = chunk.get("candidates").elements();
        let candidate = candidates.first().map(|candidate| members(*candidate));
        let candidate = candidate.unwrap_or_default();
        for part in candidate.get("content").get("parts").elements() {
            self.read_part(part, turn);
        }
        let reason = candidate.get("finishReason");
        if let Some(reason) = reason.into_text().or_else(|| {
            reason
                .number()
                .map(|number| format!("FINISH_REASON_{number}"))
        }) {
            turn.end = Some(reason);
            turn.has_ended = true;
        }
        Ok(())
    }

    fn finish(&mut self, turn: &mut TurnBuilder<'_>) {
        // A thought goes back whole, and so does a text without words, for its signature.
        for block in turn.blocks() {
            let is_thought = block.kind == Kind::Thought;
            if !is_thought && (block.kind != Kind::Text || !block.text.is_empty()) {
                continue;
            }
            let text = block.text.as_str().into();
            block.item.insert("text".to_owned(), text);
            if is_thought {
                block.item.insert("thought".to_owned(), true.into());
            } else {
                block.kind = Kind::Opaque;
            }
        }
    }
}

impl Events {
    fn read_part(&mut self, part: Raw<'_>, turn: &mut TurnBuilder<'_>) {
        let fields = members(part);
        let is_thought = fields.get("thought").is_true();
        let signature = fields.get(SIGNATURE);
        let is_signed = signature.words().is_some();
        let call = fields.get("functionCall");
        let image = members(fields.get("inlineData"));
        let mime_type = image.get("mimeType").words();
        if let Some(text) = fields.get("text").text() {
            self.read_text(&fields, &text, is_thought, is_signed, turn);
        } else if call.is_object() {
            self.read_call(&fields, &members(call), turn);
        } else if let (false, Some(mime_type), Some(data)) = (
            is_thought,
            mime_type.filter(|kind| kind.starts_with("image/")),
            image.get("data").text(),
        ) {
            let mime_type = mime_type.into_owned();
            let item = fields.without(&["inlineData", "thought"]);
            let at = self.open(Kind::Image { mime_type }, item, turn);
            turn.block(at).text = data.into_owned();
        } else if is_signed && fields.without(&["thought", "partMetadata"]).len() == 1 {
            // A signature alone is that of the part before it.
            match self.last {
                Some(at) => sign(&mut turn.block(at).item, signature.value()),
                None => self.signature = Some(signature.value()),
            }
        } else if fields.iter().next().is_some() {
            self.open(Kind::Opaque, fields.to_map(), turn);
        }
    }

    fn read_text(
        &mut self,
        fields: &Fields<'_>,
        text: &str,
        is_thought: bool,
        is_signed: bool,
        turn: &mut TurnBuilder<'_>,
    ) {
        if text.is_empty() && !is_signed {
            return;
        }
        let kind = if is_thought {
            Kind::Thought
        } else {
            Kind::Text
        };
        let own: &[&str] = &["text", "thought"];
        // Each signature belongs to its part: two signed parts that were joined would lose one.
        let last = self.last.filter(|_| !(self.is_signed && is_signed));
        let at = match last.filter(|at| turn.block(*at).kind == kind) {
            Some(at) => {
                let item = &mut turn.block(at).item;
                item.extend(fields.without(own));
                at
            }
            None => self.open(kind, fields.without(own), turn),
        };
        self.is_signed |= is_signed;
        turn.push(at, text);
    }

    fn read_call(&mut self, fields: &Fields<'_>, call: &Fields<'_>, turn: &mut TurnBuilder<'_>) {
        let text = |name: &str| call.get(name).text().unwrap_or_default().into_owned();
        let goes_on = call.get("willContinue").is_true();
        // A call without the rest of its arguments would be another one than the model wrote, so it is refused.
        let is_in_parts = goes_on || !call.get("partialArgs").is_null();
        let id = text("id");
        let name = text("name");
        // The rest of a call in parts.
        let args = find_arguments(call, "args");
        if name.is_empty() && (is_in_parts || args.is_null() || args.is_empty()) {
            return;
        }
        let mut item = fields.without(&["functionCall", "thought"]);
        let mut rest = call.without(&["id", "name", "partialArgs", "willContinue"]);
        rest.retain(|name, _| !NAMES.contains(&name.as_str()));
        if !rest.is_empty() {
            item.insert("functionCall".to_owned(), rest.into());
        }
        let at = self.open(Kind::Call { id, name }, item, turn);
        turn.block(at).text = match args {
            _ if is_in_parts => IN_PARTS.to_owned(),
            args if args.is_null() => String::new(),
            args => args.json().to_owned(),
        };
    }

    fn open(
        &mut self,
        kind: Kind,
        mut item: Map<String, Value>,
        turn: &mut TurnBuilder<'_>,
    ) -> usize {
        if let Some(signature) = self.signature.take() {
            sign(&mut item, signature);
        }
        self.is_signed = false;
        let at = turn.open(kind);
        turn.block(at).item = item;
        self.last = Some(at);
        at
    }
}

/// Returns the members of an object as the API spells them.
fn members(object: Raw<'_>) -> Fields<'_> {
    object.fields().in_camel_case()
}

fn sign(item: &mut Map<String, Value>, signature: Value) {
    item.insert(SIGNATURE.to_owned(), signature);
}

/// Returns the reason, which proto3 spells as a number if it is new. Returns `None` if it says nothing.
fn block_reason(reason: Raw<'_>) -> Option<String> {
    let word = reason.into_text();
    word.or_else(|| reason.number().map(|number| format!("reason {number}")))
        .filter(|word| !UNSPECIFIED.contains(&word.as_str()))
}

fn usage_of(usage: &Fields<'_>) -> Usage {
    let count = |name: &str| usage.get(name).number().unwrap_or_default();
    Usage {
        // Gemini counts the prompts of its own tools, and below the thoughts, apart from the others.
        input_tokens: count("promptTokenCount") + count("toolUsePromptTokenCount"),
        output_tokens: count("candidatesTokenCount") + count("thoughtsTokenCount"),
        cached_input_tokens: count("cachedContentTokenCount"),
        cache_write_tokens: 0,
    }
}
