//! Calls and results in the JSON of each service.

use protocol::wire::{Format, WireResult};
use protocol::{Content, Json, ResourceContents, ToolCall, ToolResult};
use serde_json::{Value, json};

fn calls() -> Vec<ToolCall> {
    vec![
        ToolCall::new("call_1", "fs__read", json!({"path": "a", "lines": [1, 2.5, null]})),
        ToolCall::new("call_2", "time__now", json!({})),
    ]
}

fn picture() -> Content {
    Content::Image { data: "aGk=".to_owned(), mime_type: "image/png".to_owned() }
}

/// Reads the calls of all messages.
fn read(format: Format, messages: &[Value]) -> Vec<ToolCall> {
    messages.iter().flat_map(|message| format.read_calls(message)).map(Result::unwrap).collect()
}

fn read_results(format: Format, messages: &[Value]) -> Vec<WireResult> {
    messages.iter().flat_map(|message| format.read_results(message)).collect()
}

#[test]
fn calls_survive_the_wire() {
    for format in Format::ALL {
        let mut expected = calls();
        if format == Format::Mcp {
            expected.iter_mut().for_each(|call| call.id.clear()); // The request has the id.
        }
        assert_eq!(read(format, &format.write_calls(&calls())), expected, "{format}");
    }
}

#[test]
fn results_survive_the_wire() {
    for format in Format::ALL {
        let results = [
            WireResult::new("call_1", "fs__read", ToolResult::text("one\ntwo")),
            WireResult::new("call_2", "time__now", ToolResult::error("no clock")),
        ];
        let read = read_results(format, &format.write_results(&results));
        for (read, sent) in read.iter().zip(&results) {
            assert_eq!(read.result, sent.result, "{format}");
            assert!(read.id == sent.id || format == Format::Mcp, "{format}");
            assert!(read.name == sent.name || read.name.is_empty(), "{format}");
        }
        assert_eq!(read.len(), 2, "{format}");
    }
}

#[test]
fn pictures_reach_the_model() {
    for format in Format::ALL {
        let result = ToolResult { content: vec![Content::text("see"), picture()], ..ToolResult::default() };
        let written = format.write_results(&[WireResult::new("1", "draw", result.clone())]);
        assert!(json!(written).to_string().contains("aGk="), "{format}");
        let read = read_results(format, &written);
        assert_eq!(read.len(), 1, "{format}");
        // Chat messages of tools have no place for a picture, and Ollama does not keep its type.
        if !matches!(format, Format::OpenAiChat | Format::Ollama) {
            assert_eq!(read[0].result, result, "{format}");
        }
    }
}

#[test]
fn content_that_a_model_cannot_be_shown_is_described_without_its_data() {
    let blob = ResourceContents::Blob { uri: "file:a".to_owned(), mime_type: None, blob: "c2VjcmV0".to_owned() };
    let result = ToolResult::from(Content::Resource { resource: blob });
    for format in Format::ALL.into_iter().filter(|format| *format != Format::Mcp) {
        let text = json!(format.write_results(&[WireResult::new("1", "f", result.clone())])).to_string();
        assert!(text.contains("file:a") && !text.contains("c2VjcmV0"), "{format}: {text}");
    }
    let read = read_results(Format::Mcp, &Format::Mcp.write_results(&[WireResult::new("", "", result.clone())]));
    assert_eq!(read[0].result, result);
}

#[test]
fn results_have_the_shapes_of_their_services() {
    let result = ToolResult { is_error: true, content: vec![Content::text("no"), picture()], ..ToolResult::default() };
    let write = |format: Format| json!(format.write_results(&[WireResult::new("1", "draw", result.clone())]));
    let url = "data:image/png;base64,aGk=";
    assert_eq!(
        write(Format::OpenAiChat),
        json!([
            {"role": "tool", "tool_call_id": "1", "content": "Error: no\n(the picture follows)"},
            {"role": "user", "content": [
                {"type": "text", "text": "Picture of the result of 1:"},
                {"type": "image_url", "image_url": {"url": url}},
            ]},
        ])
    );
    assert_eq!(
        write(Format::OpenAiResponses),
        json!([{"type": "function_call_output", "call_id": "1", "output": [
            {"type": "input_text", "text": "Error: no"},
            {"type": "input_image", "image_url": url},
        ]}])
    );
    let source = json!({"type": "base64", "media_type": "image/png", "data": "aGk="});
    assert_eq!(
        write(Format::Anthropic),
        json!([{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "is_error": true, "content": [
            {"type": "text", "text": "no"},
            {"type": "image", "source": source},
        ]}]}])
    );
    assert_eq!(
        write(Format::Gemini),
        json!([{"role": "user", "parts": [
            {"functionResponse": {"id": "1", "name": "draw", "response": {"error": "no"}}},
            {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
        ]}])
    );
    assert_eq!(
        write(Format::Ollama),
        json!([{"role": "tool", "tool_name": "draw", "tool_call_id": "1", "content": "Error: no", "images": ["aGk="]}])
    );
    let block = json!({"type": "image", "data": "aGk=", "mimeType": "image/png"});
    assert_eq!(write(Format::Mcp), json!([{"content": [{"type": "text", "text": "no"}, block], "isError": true}]));
}

#[test]
fn a_structured_result_survives_mcp() {
    let result = ToolResult::structured(json!({"n": 1}));
    let written = Format::Mcp.write_results(&[WireResult::new("", "", result.clone())]);
    assert_eq!(written[0]["structuredContent"], json!({"n": 1}));
    assert_eq!(read_results(Format::Mcp, &written)[0].result, result);
    let number = Format::Mcp.write_results(&[WireResult::new("", "", ToolResult::structured(json!(1)))]);
    assert_eq!(number[0].get("structuredContent"), None, "the protocol wants an object");
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
    assert_eq!(calls[1].as_ref().unwrap().arguments, Json::default());
    assert_eq!(calls[2].as_ref().unwrap().arguments.to_string(), "{\"n\":18446744073709551617}");
}

#[test]
fn a_call_without_an_id_gets_one_that_is_not_sent_back() {
    let gemini = json!({"parts": [{"text": "hm"}, {"functionCall": {"name": "f"}}, {"functionCall": {"name": "g", "args": {}}}]});
    let ollama = json!({"tool_calls": [{"function": {"name": "f", "arguments": {}}}, {"function": {"name": "g"}}]});
    for (format, message) in [(Format::Gemini, gemini), (Format::Ollama, ollama)] {
        let calls = read(format, &[message]);
        assert_ne!(calls[0].id, calls[1].id);
        let results = [WireResult::new(&*calls[1].id, "g", ToolResult::text("x"))];
        let sent = json!([format.write_calls(&calls), format.write_results(&results)]).to_string();
        assert!(!sent.contains("_call_") && !sent.contains("\"id\""), "{sent}");
    }
}

#[test]
fn messages_of_another_kind_have_no_calls_and_no_results() {
    for format in Format::ALL {
        for message in [json!({"role": "user", "content": "hi"}), json!({}), json!(null), json!([])] {
            if format != Format::Mcp {
                assert!(format.read_calls(&message).is_empty() && format.read_results(&message).is_empty(), "{format}");
            }
        }
    }
}
