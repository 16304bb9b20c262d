//! The fields that a service puts beside the text or the call of a block, such as Gemini's `thoughtSignature` and Anthropic's
//! `citations`.
//!
//! A message has no place for them, so they travel in a part of reasoning before the block. Arguments are not stored twice: they
//! may be secret, and the journal knows only how to treat those of a call.

use rig_core::message::{AssistantContent, DocumentSourceKind, Image, MimeType};
use serde_json::{Map, Value, json};

use super::Api;

/// The type of a part of a message in the Responses API.
const OUTPUT_TEXT: &str = "output_text";

/// Takes the fields of the service's item that the block itself does not have. Returns `None` if there are none.
pub(super) fn take_beside(api: Api, block: &mut AssistantContent) -> Option<Value> {
    // A block that was changed has no item.
    block.native_item()?;
    let native = match block {
        AssistantContent::Text(text) => &mut text.native,
        AssistantContent::ToolCall(call) => &mut call.native,
        AssistantContent::Image(image) if api == Api::Gemini => &mut image.native,
        _ => return None,
    };
    let mut item = native.take()?.item;
    let own: &[&str] = match (api, block) {
        (Api::OpenAi, AssistantContent::ToolCall(_)) => &[
            "/function/name",
            "/function/arguments",
            "/id",
            "/type",
            "/index",
        ],
        (Api::OpenAi, AssistantContent::Text(_)) => &[],
        (Api::OpenAiResponses, AssistantContent::ToolCall(_)) => {
            &["/name", "/arguments", "/call_id"]
        }
        (Api::OpenAiResponses, AssistantContent::Text(_)) => {
            match item["content"].as_array().map(Vec::as_slice) {
                Some([part]) if part["type"] == OUTPUT_TEXT => &["/content/0/text"],
                _ => &["/content"],
            }
        }
        (Api::Anthropic, AssistantContent::Text(_)) => &["/text", "/type"],
        (Api::Anthropic, AssistantContent::ToolCall(_)) => &["/name", "/input", "/id", "/type"],
        (Api::Gemini, AssistantContent::ToolCall(_)) => &[
            "/functionCall/name",
            "/functionCall/args",
            "/functionCall/id",
            "/thought",
        ],
        (Api::Gemini, AssistantContent::Text(_)) => &["/text", "/thought"],
        (Api::Gemini, AssistantContent::Image(_)) => &["/inlineData"],
        (Api::Ollama, AssistantContent::ToolCall(_)) => &[
            "/function/name",
            "/function/arguments",
            "/function/index",
            "/id",
        ],
        _ => return None,
    };
    own.iter().for_each(|pointer| remove(&mut item, pointer));
    item.as_object()
        .is_some_and(|fields| fields.values().any(|value| !value.is_null()))
        .then_some(item)
}

/// Returns the block with these fields beside it, as the service sent it. A stored session may hold anything for them.
pub(super) fn with_fields(
    api: Api,
    block: AssistantContent,
    mut fields: Map<String, Value>,
) -> AssistantContent {
    let own: Vec<(&str, Value)> = match (api, &block) {
        (Api::OpenAiResponses, AssistantContent::ToolCall(call)) => {
            vec![
                ("name", json!(call.function.name)),
                (
                    "arguments",
                    json!(call.function.arguments_value().to_string()),
                ),
            ]
        }
        (Api::OpenAiResponses, AssistantContent::Text(text)) => {
            let mut part = match fields
                .remove("content")
                .and_then(|mut content| Some(content.get_mut(0)?.take()))
            {
                Some(Value::Object(part)) => part,
                _ => Map::from_iter([("annotations".to_owned(), json!([]))]),
            };
            part.insert("type".to_owned(), json!(OUTPUT_TEXT));
            part.insert("text".to_owned(), json!(text.text));
            vec![("content", json!([part]))]
        }
        (Api::Anthropic, AssistantContent::Text(text)) => {
            vec![("type", json!("text")), ("text", json!(text.text))]
        }
        (Api::Anthropic, AssistantContent::ToolCall(call)) => vec![
            ("type", json!("tool_use")),
            ("name", json!(call.function.name)),
            ("input", json!(call.function.arguments)),
        ],
        (Api::Gemini, AssistantContent::ToolCall(call)) => {
            let mut function = match fields.remove("functionCall") {
                Some(Value::Object(function)) => function,
                _ => Map::new(),
            };
            function.insert("name".to_owned(), json!(call.function.name));
            function.insert("args".to_owned(), json!(call.function.arguments));
            vec![("functionCall", function.into())]
        }
        (Api::Gemini, AssistantContent::Text(text)) => vec![("text", json!(text.text))],
        (
            Api::Gemini,
            AssistantContent::Image(Image {
                data,
                media_type: Some(kind),
                ..
            }),
        ) => {
            let DocumentSourceKind::Base64(data) = data else {
                return block;
            };
            vec![(
                "inlineData",
                json!({"mimeType": kind.to_mime_type(), "data": data}),
            )]
        }
        // rig writes the name, the arguments and the id of the other calls.
        _ => Vec::new(),
    };
    fields.extend(
        own.into_iter()
            .map(|(name, value)| (name.to_owned(), value)),
    );
    block.with_native(Value::Object(fields))
}

/// Removes the field at a pointer of one or two names, and its object if it is empty then.
fn remove(item: &mut Value, pointer: &str) {
    let Some((parent, name)) = pointer.rsplit_once('/') else {
        return;
    };
    let Some(fields) = item.pointer_mut(parent).and_then(Value::as_object_mut) else {
        return;
    };
    fields.remove(name);
    if fields.is_empty() && !parent.is_empty() {
        item.as_object_mut()
            .map(|item: &mut Map<_, _>| item.remove(parent.trim_start_matches('/')));
    }
}

#[cfg(test)]
mod tests {
    use rig_core::message::{CallId, ToolCall, ToolFunction, ToolName};

    use super::*;

    fn call() -> AssistantContent {
        let function = ToolFunction::new(ToolName::new("read").unwrap(), json!({"path": "a"}));
        AssistantContent::ToolCall(ToolCall::new(CallId::from_wire("c1"), function))
    }

    #[test]
    fn only_fields_with_a_value_are_beside_a_call() {
        let own = json!({"name": "read", "args": {"path": "a"}, "id": "c1"});
        let beside = |item| take_beside(Api::Gemini, &mut call().with_native(item));
        let signed = json!({"functionCall": own, "thoughtSignature": "s"});
        assert_eq!(
            beside(signed),
            Some(json!({"thoughtSignature": "s"})),
            "an object that is empty then is left out"
        );
        let partial =
            json!({"functionCall": {"name": "read", "partial": true}, "thoughtSignature": null});
        assert_eq!(
            beside(partial),
            Some(json!({"functionCall": {"partial": true}, "thoughtSignature": null}))
        );
        assert_eq!(
            beside(json!({"functionCall": own, "thoughtSignature": null})),
            None
        );
    }

    #[test]
    fn a_changed_call_has_no_fields_beside_it() {
        let mut block = call().with_native(json!({"thoughtSignature": "s"}));
        let AssistantContent::ToolCall(call) = &mut block else {
            panic!("{block:?}")
        };
        call.function.arguments.clear();
        assert_eq!(take_beside(Api::Gemini, &mut block), None);
    }

    #[test]
    fn fields_of_a_foreign_session_are_sent_around_the_call_itself() {
        let block = call();
        for foreign in [
            json!({"functionCall": 3}),
            json!({"functionCall": {"name": "remove", "args": {"path": "b"}}}),
        ] {
            let fields = foreign.as_object().unwrap().clone();
            let sent = with_fields(Api::Gemini, block.clone(), fields)
                .native_item()
                .unwrap()
                .clone();
            assert_eq!(
                sent,
                json!({"functionCall": {"name": "read", "args": {"path": "a"}}})
            );
        }
    }

    #[test]
    fn fields_of_a_foreign_session_are_sent_around_the_text_itself() {
        for foreign in [
            json!(3),
            json!([]),
            json!(["b"]),
            json!([{"type": "refusal", "text": "b", "annotations": []}]),
        ] {
            let (block, fields) = (
                AssistantContent::text("a"),
                Map::from_iter([("content".to_owned(), foreign)]),
            );
            let sent = with_fields(Api::OpenAiResponses, block, fields)
                .native_item()
                .unwrap()
                .clone();
            assert_eq!(
                sent,
                json!({"content": [{"type": "output_text", "text": "a", "annotations": []}]})
            );
        }
    }
}
