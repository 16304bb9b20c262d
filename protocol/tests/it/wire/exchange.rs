//! Calls and results in the JSON of each service.

use proptest::prelude::*;
use protocol::wire::{Format, WireCall, WireResult};
use protocol::{Content, Json, ResourceContents, ToolCall, ToolResult};
use serde_json::{Value, json};

use super::exchange_rules::{PNG, images, violations};
use crate::sample::{config, exact, nested};

const FORMATS_WITHOUT_FAILURES: [Format; 3] = [Format::OpenAiChat, Format::OpenAiResponses, Format::Ollama];

fn image(mime_type: &str, data: &str) -> Content {
    Content::Image { data: data.to_owned(), mime_type: mime_type.to_owned() }
}

/// Reads the calls of all messages.
fn read(format: Format, messages: &[Value]) -> Vec<WireCall> {
    messages.iter().flat_map(|message| format.read_calls(message)).map(Result::unwrap).collect()
}

fn read_results(format: Format, messages: &[Value]) -> Vec<WireResult> {
    messages.iter().flat_map(|message| format.read_results(message)).collect()
}

#[test]
fn results_have_the_shapes_of_their_services() {
    let content = vec![Content::text("no"), image("image/png", PNG)];
    let failed = ToolResult { is_error: true, content, ..ToolResult::default() };
    let results = [WireResult::new("1", "draw", failed), WireResult::new("2", "f", ToolResult::text(""))];
    let write = |format: Format| json!(format.write_results(&results));
    let url = format!("data:image/png;base64,{PNG}");
    assert_eq!(
        write(Format::OpenAiChat),
        json!([
            {"role": "tool", "tool_call_id": "1", "content": "Error: no\n(the images follow)"},
            {"role": "tool", "tool_call_id": "2", "content": "(no content)"},
            {"role": "user", "content": [
                {"type": "text", "text": "Images of the result of 1:"},
                {"type": "image_url", "image_url": {"url": url}},
            ]},
        ])
    );
    assert_eq!(
        write(Format::OpenAiResponses),
        json!([
            {"type": "function_call_output", "call_id": "1", "output": [
                {"type": "input_text", "text": "Error: no"},
                {"type": "input_image", "image_url": url},
            ]},
            {"type": "function_call_output", "call_id": "2", "output": "(no content)"},
        ])
    );
    let text = |text: &str| json!({"type": "text", "text": text});
    let source = json!({"type": "base64", "media_type": "image/png", "data": PNG});
    assert_eq!(
        write(Format::Anthropic),
        json!([{"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "1", "is_error": true, "content": [text("no\n(the images follow)")]},
            {"type": "tool_result", "tool_use_id": "2", "content": [text("(no content)")]},
            text("Images of the result of 1:"),
            {"type": "image", "source": source},
        ]}])
    );
    let parts = json!([{"inlineData": {"mimeType": "image/png", "data": PNG}}]);
    assert_eq!(
        write(Format::Gemini),
        json!([{"role": "user", "parts": [
            {"functionResponse": {"id": "1", "name": "draw", "response": {"error": "no"}, "parts": parts}},
            {"functionResponse": {"id": "2", "name": "f", "response": {"output": "(no content)"}}},
        ]}])
    );
    assert_eq!(
        write(Format::Ollama),
        json!([
            {"role": "tool", "tool_name": "draw", "tool_call_id": "1", "content": "Error: no", "images": [PNG]},
            {"role": "tool", "tool_name": "f", "tool_call_id": "2", "content": "(no content)"},
        ])
    );
    let block = json!({"type": "image", "data": PNG, "mimeType": "image/png"});
    assert_eq!(
        write(Format::Mcp),
        json!([{"content": [text("no"), block], "isError": true}, {"content": [text("")], "isError": false}])
    );
}

#[test]
fn other_content_is_described_without_its_data() {
    let data = "c2VjcmV0".to_owned();
    let blob = ResourceContents::Blob { uri: "file:a".to_owned(), mime_type: None, blob: data.clone() };
    for content in [
        Content::Resource { resource: blob },
        Content::Audio { data: data.clone(), mime_type: "audio/wav".to_owned() },
        image("image/svg+xml", &data),
        image("image/png", &data),
    ] {
        let result = ToolResult::from(content);
        for format in Format::ALL.into_iter().filter(|format| *format != Format::Mcp) {
            let text = json!(format.write_results(&[WireResult::new("1", "f", result.clone())])).to_string();
            assert!(!text.contains(&data) && (text.contains("file:a") || text.contains("mime_type")), "{text}");
        }
        let read = read_results(Format::Mcp, &Format::Mcp.write_results(&[WireResult::new("", "", result.clone())]));
        assert_eq!(read[0].result, result);
    }
}

#[test]
fn an_image_is_sent_with_the_type_of_its_data() {
    let result = ToolResult::from(image("image/jpg", PNG));
    let written = Format::Anthropic.write_results(&[WireResult::new("1", "f", result)]);
    assert_eq!(written[0]["content"][0]["content"][0]["source"]["media_type"], "image/png");
}

#[test]
fn a_result_with_a_value_alone_shows_it() {
    let structured = Some(json!({"n": 1}).into());
    let result = ToolResult { structured, ..ToolResult::default() };
    for format in Format::ALL {
        let written = json!(format.write_results(&[WireResult::new("1", "f", result.clone())])).to_string();
        assert!(written.contains('n') && !written.contains("(no content)"), "{format}: {written}");
    }
}

#[test]
fn a_text_is_never_read_as_a_failure() {
    let results = [
        WireResult::new("1", "f", ToolResult::text("Error: is the title")),
        WireResult::new("2", "f", ToolResult::error("no clock")),
    ];
    for format in FORMATS_WITHOUT_FAILURES {
        let read = read_results(format, &format.write_results(&results));
        assert_eq!(read[0].result, results[0].result, "{format}");
        assert_eq!(read[1].result, ToolResult::text("Error: no clock"), "{format}");
    }
}

#[test]
fn a_structured_result_survives_mcp() {
    let result = ToolResult::structured(json!({"n": 1}));
    let written = Format::Mcp.write_results(&[WireResult::new("", "", result.clone())]);
    assert_eq!(written[0]["structuredContent"], json!({"n": 1}));
    assert_eq!(read_results(Format::Mcp, &written)[0].result, result);
    let number = Format::Mcp.write_results(&[WireResult::new("", "", ToolResult::structured(json!(1)))]);
    assert_eq!(number[0].get("structuredContent"), None, "an object alone is taken by clients of every revision");
}

#[test]
fn a_malformed_call_does_not_affect_the_others() {
    let call = |id: &str, arguments: &str| json!({"id": id, "function": {"name": "f", "arguments": arguments}});
    let message =
        json!({"tool_calls": [call("1", "{\"a\":"), call("2", ""), call("3", "{\"n\":18446744073709551617}")]});
    let calls = Format::OpenAiChat.read_calls(&message);
    let error = calls[0].as_ref().unwrap_err();
    assert_eq!((&*error.id, &*error.arguments), ("1", "{\"a\":"));
    assert!(!format!("{error:?}").contains("\\\"a"), "arguments may be secret");
    assert_eq!(calls[1].as_ref().unwrap().call.arguments, Json::default());
    assert_eq!(calls[2].as_ref().unwrap().call.arguments.to_string(), "{\"n\":18446744073709551617}");
}

#[test]
fn calls_of_other_kinds_are_not_ours() {
    let custom = json!({"tool_calls": [{"id": "1", "type": "custom", "custom": {"name": "f", "input": "x"}}]});
    let item = json!([{"type": "custom_tool_call", "call_id": "1", "name": "f", "input": "x"}]);
    let server = json!({"content": [{"type": "server_tool_use", "id": "1", "name": "web_search", "input": {}}]});
    for (format, message) in
        [(Format::OpenAiChat, custom), (Format::OpenAiResponses, item), (Format::Anthropic, server)]
    {
        assert_eq!(format.read_calls(&message), [], "{format}");
    }
}

#[test]
fn fields_beside_a_call_go_back_with_it_to_the_same_service() {
    let message = json!({"role": "model", "parts": [
        {"functionCall": {"name": "f", "args": {"a": 1}}, "thoughtSignature": "c2ln"},
        {"functionCall": {"id": "2", "name": "g", "args": {}}},
    ]});
    let calls = read(Format::Gemini, std::slice::from_ref(&message));
    assert_eq!(Format::Gemini.write_calls(&calls), [message]);
    assert!(!json!(Format::Anthropic.write_calls(&calls)).to_string().contains("c2ln"));

    let google = json!({"google": {"thought_signature": "c2ln"}});
    let function = json!({"name": "f", "arguments": "{}"});
    let call = json!({"id": "1", "type": "function", "function": function, "extra_content": google});
    let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    let calls = read(Format::OpenAiChat, std::slice::from_ref(&message));
    assert_eq!(Format::OpenAiChat.write_calls(&calls), [message]);
}

#[test]
fn a_call_without_an_id_gets_one_that_is_not_sent_back() {
    let gemini = json!({"parts": [{"text": "hm"}, {"functionCall": {"name": "f"}}, {"functionCall": {"name": "g", "args": {}}}]});
    let ollama = json!({"tool_calls": [{"function": {"name": "f", "arguments": {}}}, {"function": {"name": "g"}}]});
    for (format, message) in [(Format::Gemini, gemini), (Format::Ollama, ollama)] {
        let calls = read(format, &[message]);
        assert_ne!(calls[0].call.id, calls[1].call.id);
        let results: Vec<_> = calls
            .iter()
            .map(|call| WireResult::new(&*call.call.id, &*call.call.name, ToolResult::text(&*call.call.name)))
            .collect();
        let written = format.write_results(&results);
        let sent = json!([format.write_calls(&calls), written]).to_string();
        assert!(!sent.contains("_call_") && !sent.contains("\"id\""), "{sent}");
        let read: Vec<_> = read_results(format, &written).into_iter().map(|result| (result.id, result.name)).collect();
        assert_eq!(read, [(String::new(), "f".to_owned()), (String::new(), "g".to_owned())], "{format}");
    }
}

#[test]
fn arguments_that_are_no_object_reach_the_services_that_want_one() {
    let call = ToolCall::new("1", "f", json!([1]));
    for format in [Format::Anthropic, Format::Gemini, Format::Ollama, Format::Mcp] {
        let written = format.write_calls(&[call.clone().into()]);
        assert_eq!(read(format, &written)[0].call.arguments, json!({"arguments": [1]}), "{format}");
    }
}

#[test]
fn messages_of_another_kind_have_no_calls_and_no_results() {
    for format in Format::ALL {
        for message in [json!({"role": "user", "content": "hi"}), json!({}), json!(null), json!([])] {
            assert!(format.read_calls(&message).is_empty(), "{format}");
            assert!(format.read_results(&message).is_empty() || format == Format::Mcp, "{format}");
        }
        assert!(format.write_calls(&[]).is_empty() && format.write_results(&[]).is_empty(), "{format}");
    }
}

/// Returns content that every service but MCP describes in text.
fn odd_content() -> impl Strategy<Value = Content> {
    let data = "[A-Za-z0-9+/]{0,12}={0,3}";
    prop_oneof![
        "[ \n\t]{0,3}".prop_map(Content::text),
        ("image/(png|jpg|heic|svg.xml)", data).prop_map(|(mime_type, data)| image(&mime_type, &data)),
        data.prop_map(|data| Content::Audio { data, mime_type: "audio/wav".to_owned() }),
        any::<String>().prop_map(|text| Content::Resource {
            resource: ResourceContents::Text { uri: "file:a".to_owned(), mime_type: None, text }
        }),
        data.prop_map(|blob| Content::Resource {
            resource: ResourceContents::Blob { uri: "file:a".to_owned(), mime_type: None, blob }
        }),
        any::<String>().prop_map(|name| Content::ResourceLink {
            uri: "file:a".to_owned(),
            name,
            description: None,
            mime_type: None,
            size: Some(1),
        }),
    ]
}

/// Returns a text with a visible character, or an image of a type.
fn plain_content(types: &'static [&'static str]) -> impl Strategy<Value = Content> {
    let images: Vec<_> = images().into_iter().filter(|(name, _)| types.contains(name)).collect();
    prop_oneof![
        3 => any::<String>().prop_map(|text| Content::text(text + "x")),
        1 => prop::sample::select(images).prop_map(|(mime_type, data)| image(mime_type, data)),
    ]
}

fn results(content: impl Strategy<Value = Content>, min: usize) -> impl Strategy<Value = Vec<WireResult>> {
    let result = (prop::collection::vec(content, min..4), any::<bool>());
    let result = result.prop_map(|(content, is_error)| ToolResult { content, is_error, ..ToolResult::default() });
    prop::collection::vec(result, 1..4).prop_map(|results| {
        let named = |(index, result)| WireResult::new(format!("id{index}"), format!("tool{index}"), result);
        results.into_iter().enumerate().map(named).collect()
    })
}

/// Returns a result as it reads after it was written.
fn expected(format: Format, mut result: ToolResult) -> ToolResult {
    if format == Format::Mcp || format == Format::Anthropic && !result.is_error {
        return result;
    }
    let has_field = !FORMATS_WITHOUT_FAILURES.contains(&format);
    if result.is_error && !has_field {
        match result.content.first_mut() {
            Some(Content::Text { text }) if text.starts_with("Error: ") => {}
            Some(Content::Text { text }) => *text = format!("Error: {text}"),
            _ => result.content.insert(0, Content::text("Error:")),
        }
        result.is_error = false;
    }
    if format == Format::OpenAiResponses {
        return result;
    }
    let (texts, images): (Vec<_>, Vec<_>) =
        result.content.into_iter().partition(|content| matches!(content, Content::Text { .. }));
    let mut texts: Vec<_> = texts.iter().filter_map(Content::as_text).collect();
    let follow = matches!(format, Format::OpenAiChat | Format::Anthropic);
    if follow && !images.is_empty() {
        texts.push("(the images follow)");
    }
    let mut content = if texts.is_empty() { Vec::new() } else { vec![Content::text(texts.join("\n"))] };
    if !follow {
        content.extend(images);
    }
    ToolResult { content, ..result }
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn calls_survive_every_wire(
        arguments in prop::collection::vec(prop::collection::hash_map(any::<String>(), nested(exact()), 0..4), 1..4),
        name in any::<String>(),
        extra in nested(exact()),
    ) {
        let calls: Vec<_> = arguments
            .into_iter()
            .enumerate()
            .map(|(index, arguments)| ToolCall::new(format!("id{index}"), &*name, json!(arguments)))
            .collect();
        for format in Format::ALL {
            let mut expected = calls.clone();
            if format == Format::Mcp {
                expected.iter_mut().for_each(|call| call.id.clear()); // The request has the id.
            }
            let bare: Vec<_> = calls.iter().cloned().map(WireCall::from).collect();
            let mut messages = format.write_calls(&bare);
            let read_back: Vec<_> = read(format, &messages).into_iter().map(|read| read.call).collect();
            prop_assert_eq!(&read_back, &expected, "{}", format);

            // Fields beside a call, and beside its name, go back.
            let list = ["tool_calls", "content", "parts"].into_iter().find(|list| messages[0][list].is_array());
            let elements = match list {
                Some(list) => messages[0][list].as_array_mut().unwrap(),
                None => &mut messages,
            };
            for element in elements {
                element["x_beside"] = extra.clone();
                for inner in ["function", "functionCall"] {
                    if element.get(inner).is_some() {
                        element[inner]["x_inside"] = extra.clone();
                    }
                }
            }
            prop_assert_eq!(format.write_calls(&read(format, &messages)), messages, "{}", format);
        }
    }

    #[test]
    fn results_survive_every_wire(
        plain in results(plain_content(&["image/png", "image/jpeg"]), 1),
        all in results(prop_oneof![plain_content(&["image/png", "image/gif", "image/webp"]), odd_content()], 0),
    ) {
        for format in Format::ALL {
            let results = if format == Format::Mcp { &all } else { &plain };
            let read = read_results(format, &format.write_results(results));
            prop_assert_eq!(read.len(), results.len(), "{}", format);
            for (read, sent) in read.iter().zip(results) {
                prop_assert_eq!(&read.result, &expected(format, sent.result.clone()), "{}", format);
                prop_assert!(read.id == sent.id || format == Format::Mcp, "{}", format);
                prop_assert!(read.name == sent.name || read.name.is_empty(), "{}", format);
            }
        }
    }

    #[test]
    fn no_result_breaks_a_rule_of_its_service(
        results in results(prop_oneof![plain_content(&["image/png", "image/gif", "image/webp"]), odd_content()], 0)
    ) {
        for format in Format::ALL {
            let written = format.write_results(&results);
            prop_assert_eq!(violations(format, &results, &written), Vec::<&str>::new(), "{} {}", format, json!(written));
        }
    }
}
