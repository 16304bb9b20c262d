//! Calls and results in the JSON of each service.

use protocol::wire::{Format, WireCall, WireResult};
use protocol::{Content, Json, ResourceContents, ToolCall, ToolResult};
use serde_json::{Value, json};

use super::exchange_rules::PNG;

pub(super) const FORMATS_WITHOUT_FAILURES: [Format; 3] =
    [Format::OpenAiChat, Format::OpenAiResponses, Format::Ollama];

pub(super) fn image(mime_type: &str, data: &str) -> Content {
    Content::Image {
        data: data.to_owned(),
        mime_type: mime_type.to_owned(),
    }
}

/// Reads the calls of all messages.
pub(super) fn read(format: Format, messages: &[Value]) -> Vec<WireCall> {
    messages
        .iter()
        .flat_map(|message| format.read_calls(message))
        .map(Result::unwrap)
        .collect()
}

pub(super) fn read_results(format: Format, messages: &[Value]) -> Vec<WireResult> {
    messages
        .iter()
        .flat_map(|message| super::read_results::read_results(format, message))
        .collect()
}

#[test]
fn results_have_the_shapes_of_their_services() {
    let content = vec![Content::text("no"), image("image/png", PNG)];
    let failed = ToolResult {
        is_error: true,
        content,
        ..ToolResult::default()
    };
    let results = [
        WireResult::new("1", "draw", failed),
        WireResult::new("2", "f", ToolResult::text("")),
    ];
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
    let blob = ResourceContents::Blob {
        uri: "file:a".to_owned(),
        mime_type: None,
        blob: data.clone(),
    };
    for content in [
        Content::Resource { resource: blob },
        Content::Audio {
            data: data.clone(),
            mime_type: "audio/wav".to_owned(),
        },
        image("image/svg+xml", &data),
        image("image/png", &data),
    ] {
        let result = ToolResult::from(content);
        for format in Format::ALL
            .into_iter()
            .filter(|format| *format != Format::Mcp)
        {
            let text = json!(format.write_results(&[WireResult::new("1", "f", result.clone())]))
                .to_string();
            assert!(
                !text.contains(&data) && (text.contains("file:a") || text.contains("mime_type")),
                "{text}"
            );
        }
        let read = read_results(
            Format::Mcp,
            &Format::Mcp.write_results(&[WireResult::new("", "", result.clone())]),
        );
        assert_eq!(read[0].result, result);
    }
}

#[test]
fn an_image_is_sent_with_the_type_of_its_data() {
    let result = ToolResult::from(image("image/jpg", PNG));
    let written = Format::Anthropic.write_results(&[WireResult::new("1", "f", result)]);
    assert_eq!(
        written[0]["content"][0]["content"][0]["source"]["media_type"],
        "image/png"
    );
}

#[test]
fn a_result_with_a_value_alone_shows_it() {
    let structured = Some(json!({"n": 1}).into());
    let result = ToolResult {
        structured,
        ..ToolResult::default()
    };
    for format in Format::ALL {
        let written =
            json!(format.write_results(&[WireResult::new("1", "f", result.clone())])).to_string();
        assert!(
            written.contains('n') && !written.contains("(no content)"),
            "{format}: {written}"
        );
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
        assert_eq!(
            read[1].result,
            ToolResult::text("Error: no clock"),
            "{format}"
        );
    }
}

#[test]
fn a_structured_result_survives_mcp() {
    let result = ToolResult::structured(json!({"n": 1}));
    let written = Format::Mcp.write_results(&[WireResult::new("", "", result.clone())]);
    assert_eq!(written[0]["structuredContent"], json!({"n": 1}));
    assert_eq!(read_results(Format::Mcp, &written)[0].result, result);
    let number =
        Format::Mcp.write_results(&[WireResult::new("", "", ToolResult::structured(json!(1)))]);
    assert_eq!(
        number[0].get("structuredContent"),
        None,
        "an object alone is taken by clients of every revision"
    );
}

#[test]
fn a_malformed_call_does_not_affect_the_others() {
    let call = |id: &str, arguments: &str| json!({"id": id, "function": {"name": "f", "arguments": arguments}});
    let message = json!({"tool_calls": [call("1", "{\"a\":"), call("2", ""), call("3", "{\"n\":18446744073709551617}")]});
    let calls = Format::OpenAiChat.read_calls(&message);
    let error = calls[0].as_ref().unwrap_err();
    assert_eq!((&*error.id, &*error.arguments), ("1", "{\"a\":"));
    assert!(
        !format!("{error:?}").contains("\\\"a"),
        "arguments may be secret"
    );
    assert_eq!(calls[1].as_ref().unwrap().call.arguments, Json::default());
    assert_eq!(
        calls[2].as_ref().unwrap().call.arguments.to_string(),
        "{\"n\":18446744073709551617}"
    );
}

#[test]
fn calls_of_other_kinds_are_not_ours() {
    let custom = json!({"tool_calls": [{"id": "1", "type": "custom", "custom": {"name": "f", "input": "x"}}]});
    let item = json!([{"type": "custom_tool_call", "call_id": "1", "name": "f", "input": "x"}]);
    let server = json!({"content": [{"type": "server_tool_use", "id": "1", "name": "web_search", "input": {}}]});
    for (format, message) in [
        (Format::OpenAiChat, custom),
        (Format::OpenAiResponses, item),
        (Format::Anthropic, server),
    ] {
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
    assert!(
        !json!(Format::Anthropic.write_calls(&calls))
            .to_string()
            .contains("c2ln")
    );

    let google = json!({"google": {"thought_signature": "c2ln"}});
    let function = json!({"name": "f", "arguments": "{}"});
    let call =
        json!({"id": "1", "type": "function", "function": function, "extra_content": google});
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
            .map(|call| {
                WireResult::new(
                    &*call.call.id,
                    &*call.call.name,
                    ToolResult::text(&*call.call.name),
                )
            })
            .collect();
        let written = format.write_results(&results);
        let sent = json!([format.write_calls(&calls), written]).to_string();
        assert!(
            !sent.contains("_call_") && !sent.contains("\"id\""),
            "{sent}"
        );
        let read: Vec<_> = read_results(format, &written)
            .into_iter()
            .map(|result| (result.id, result.name))
            .collect();
        assert_eq!(
            read,
            [
                (String::new(), "f".to_owned()),
                (String::new(), "g".to_owned())
            ],
            "{format}"
        );
    }
}

#[test]
fn arguments_that_are_no_object_reach_the_services_that_want_one() {
    let call = ToolCall::new("1", "f", json!([1]));
    for format in [
        Format::Anthropic,
        Format::Gemini,
        Format::Ollama,
        Format::Mcp,
    ] {
        let written = format.write_calls(&[call.clone().into()]);
        assert_eq!(
            read(format, &written)[0].call.arguments,
            json!({"arguments": [1]}),
            "{format}"
        );
    }
}

#[test]
fn messages_of_another_kind_have_no_calls_and_no_results() {
    for format in Format::ALL {
        for message in [
            json!({"role": "user", "content": "hi"}),
            json!({}),
            json!(null),
            json!([]),
        ] {
            assert!(format.read_calls(&message).is_empty(), "{format}");
            assert!(
                super::read_results::read_results(format, &message).is_empty()
                    || format == Format::Mcp,
                "{format}"
            );
        }
        assert!(
            format.write_calls(&[]).is_empty() && format.write_results(&[]).is_empty(),
            "{format}"
        );
    }
}
