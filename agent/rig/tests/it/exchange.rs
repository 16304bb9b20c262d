//! Exchanges made by hand: what is asked, what is understood, what is run.

use crate::service;
use std::sync::Arc;

use crate::service::{KEY, Reply, Service};
use crate::workshop::{answer, catalog, result, run};
use agent::{Driver, Provider, Request, Selection, Session, Stop, SystemText};
use serde_json::{Value, json};
use tools::protocol::wire::Format;
use tools::protocol::{Message, Part, Role};
use tools::{CancellationToken, Content, ToolCall, ToolContext, ToolResult};

#[tokio::test]
async fn a_call_goes_out_and_back_by_its_wire_name() {
    let service = Service::new([chat(calls(&[("c1", "fs_read", r#"{"path":"a"}"#)])), chat(said("it says a"))]).await;
    let (summary, session, ran) = run(service.openai(false), &["fs.read", "fs/read.all"]).await;
    assert_eq!(answer(&summary), ("it says a", &Stop::Answer));
    assert_eq!(*ran.lock().unwrap(), [("fs.read".to_owned(), json!({"path": "a"}))]);
    assert_eq!(session.messages()[1].calls().next().unwrap().name, "fs.read");
    let usage = summary.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (14, 6));

    let first = service.body(0);
    assert_eq!(first["model"], "gpt-test");
    let names: Vec<_> = first["tools"].as_array().unwrap().iter().map(|tool| &tool["function"]["name"]).collect();
    assert_eq!(names, ["fs_read", "fs_read_all"]);
    let second = service.body(1);
    let messages = second["messages"].as_array().unwrap();
    assert_eq!(
        messages.iter().map(|message| message["role"].as_str().unwrap()).collect::<Vec<_>>(),
        ["user", "assistant", "tool"]
    );
    assert_eq!(messages[1]["tool_calls"][0]["function"]["name"], "fs_read");
    assert_eq!(messages[2]["tool_call_id"], "c1");
    assert!(messages[2].to_string().contains("ran fs.read"), "{}", messages[2]);
    assert!(service.head(0).contains(&format!("authorization: bearer {KEY}")));
}

#[tokio::test]
async fn the_system_text_goes_where_each_format_has_it() {
    let openai = Service::new([chat(said("ok")), chat(said("ok"))]).await;
    let over = || message(json!([{"type": "text", "text": "ok"}]), "end_turn");
    let anthropic = Service::new([over(), over()]).await;
    let providers: [Arc<dyn Provider>; 2] = [Arc::new(openai.openai(false)), Arc::new(anthropic.anthropic(false))];
    for provider in providers {
        let (catalog, _) = catalog(&[]);
        let system = SystemText::new().with_section("identity", "You are \"it\".");
        let mut session = Session::new(catalog.list(), Selection::new(), ToolContext::new()).with_system(system);
        for prompt in ["go", "on"] {
            Driver::new(provider.clone()).run(&mut session, prompt).await.unwrap();
        }
    }
    let text = "<section name=\"identity\">\nYou are \"it\".\n</section>";
    for turn in 0..2 {
        let messages = openai.body(turn)["messages"].as_array().unwrap().clone();
        assert_eq!((messages[0]["role"].as_str(), messages.len()), (Some("system"), 2 + 2 * turn));
        assert!(messages[0] == json!({"role": "system", "content": text}) || messages[0]["content"][0]["text"] == text);
        assert!(messages[1..].iter().all(|message| message["role"] != "system"));
        let body = anthropic.body(turn);
        assert!(body["system"] == text || body["system"][0]["text"] == text, "{body:#}");
        assert_eq!(body["messages"].as_array().unwrap().len(), 1 + 2 * turn);
    }
}

#[tokio::test]
async fn what_is_sent_of_tools_is_the_text_that_their_set_keeps() {
    let openai = Service::new([chat(said("ok")), chat(said("ok"))]).await;
    let over = || message(json!([{"type": "text", "text": "ok"}]), "end_turn");
    let anthropic = Service::new([over(), over()]).await;
    let models: [(Arc<dyn Provider>, _, _); 2] = [
        (Arc::new(openai.openai(false)), &openai, Format::OpenAiChat),
        (Arc::new(anthropic.anthropic(false)), &anthropic, Format::Anthropic),
    ];
    for (model, service, format) in models {
        for (turn, names) in [&["fs.read", "fs/read", "time.now"][..], &["b", "a"]].into_iter().enumerate() {
            let (catalog, _) = catalog(names);
            let mut session = Session::new(catalog.list(), Selection::new(), ToolContext::new());
            Driver::new(model.clone()).run(&mut session, "go").await.unwrap();
            // Bodies keep the order of keys here.
            let mut sent = service.body(turn)["tools"].take();
            for tool in sent.as_array_mut().unwrap() {
                // What rig adds to each for Anthropic.
                tool.as_object_mut().unwrap().remove("eager_input_streaming");
            }
            assert_eq!(sent.to_string(), *session.tools().wire_definitions(format));
        }
    }
}

#[tokio::test]
async fn thoughts_and_their_signatures_go_back_as_they_came() {
    let thought = json!({"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVk"});
    let sealed = json!({"type": "redacted_thinking", "data": "c2VhbGVk"});
    let call = json!({"type": "tool_use", "id": "t1", "name": "fs_read", "input": {"path": "a"}});
    let blocks = json!([thought, sealed, {"type": "text", "text": "I look."}, call]);
    let answers = [message(blocks.clone(), "tool_use"), message(json!([{"type": "text", "text": "ok"}]), "end_turn")];
    let service = Service::new(answers).await;
    let (summary, session, ran) = run(service.anthropic(false), &["fs.read"]).await;
    assert_eq!(answer(&summary), ("ok", &Stop::Answer));
    assert_eq!(ran.lock().unwrap().len(), 1);
    assert!(matches!(&session.messages()[1].parts[0], Part::Reasoning { text, .. } if text == "Hm."));
    let text = serde_json::to_string(session.messages()).unwrap();
    assert_eq!(serde_json::from_str::<Vec<tools::protocol::Message>>(&text).unwrap(), session.messages());

    let second = service.body(1);
    let again = second["messages"][1]["content"].as_array().unwrap();
    assert_eq!(again[..2], blocks.as_array().unwrap()[..2]);
    assert_eq!(second["messages"][2]["content"][0]["tool_use_id"], "t1");
    assert!(service.head(0).contains(&format!("x-api-key: {KEY}")));
}

#[tokio::test]
async fn a_picture_in_a_result_is_shown_to_the_model() {
    let picture = Content::Image { data: "iVBORw0KGgo=".to_owned(), mime_type: "image/png".to_owned() };
    let result = ToolResult { content: vec![Content::text("[`a.png`]"), picture], ..ToolResult::default() };
    let (id, name) = ("c1".to_owned(), "fs.read".to_owned());
    let call = ToolCall::new(&*id, &*name, json!({"path": "a.png"}));
    let messages = [
        Message::text(Role::User, "go"),
        Message { role: Role::Assistant, parts: vec![Part::ToolCall(call)] },
        Message { role: Role::Tool, parts: vec![Part::ToolResult { id, name, result }] },
    ];
    let openai = Service::new([chat(said("a dot"))]).await;
    let anthropic = Service::new([message(json!([{"type": "text", "text": "a dot"}]), "end_turn")]).await;
    let session = Session::new(catalog(&["fs.read"]).0.list(), Selection::new(), ToolContext::new());
    let token = CancellationToken::new();
    for provider in [openai.openai(false), anthropic.anthropic(false)] {
        let turn = provider.complete(Request::new(&messages, session.tools(), &token)).await.unwrap();
        assert_eq!(turn.message.to_text(), "a dot");
    }
    // A result of chat completions is text alone, so the picture comes after it.
    let sent = openai.body(0)["messages"].clone();
    assert_eq!(sent[2]["tool_call_id"], "c1", "{sent:#}");
    assert_eq!(sent[3]["content"][1]["image_url"]["url"], "data:image/png;base64,iVBORw0KGgo=", "{sent:#}");
    let sent = anthropic.body(0)["messages"][2]["content"][0].take();
    assert_eq!((&sent["tool_use_id"], &sent["content"][1]["source"]["data"]), (&json!("c1"), &json!("iVBORw0KGgo=")));
}

#[tokio::test]
async fn malformed_and_foreign_calls_get_one_error_each_and_the_others_run() {
    let asked = calls(&[
        ("a", "fs_read", r#"{"path": "#),
        ("b", "fs_read", "{}"),
        ("c", "no_such", "{}"),
        ("d", "fs_read", "[1]"),
    ]);
    let service = Service::new([chat(asked), chat(said("sorry"))]).await;
    let (summary, session, ran) = run(service.openai(false), &["fs.read"]).await;
    assert_eq!((summary.calls, summary.failed_calls), (4, 3));
    assert_eq!(*ran.lock().unwrap(), [("fs.read".to_owned(), json!({}))]);
    let results: Vec<_> = session.messages()[2].parts.iter().map(result).collect();
    assert!(results[0].contains("no JSON object"), "{}", results[0]);
    assert!(results[2].contains("no_such"), "{}", results[2]);
    assert!(results[3].contains("no JSON object"), "{}", results[3]);
    let sent =
        service.body(1)["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "tool").count();
    assert_eq!(sent, 4);
}

#[tokio::test]
async fn the_calls_of_a_turn_that_was_cut_off_are_reported_and_not_run() {
    let mut cut = calls(&[("a", "fs_read", "{}"), ("b", "fs_read", r#"{"path": "half"#)]);
    cut["finish_reason"] = json!("length");
    let input = json!([{"type": "tool_use", "id": "b", "name": "fs_read", "input": {}}]);
    let over = || message(json!([{"type": "text", "text": "ok"}]), "end_turn");
    let openai = Service::new([chat(cut), chat(said("ok"))]).await;
    let anthropic = Service::new([message(input, "max_tokens"), over()]).await;
    for (provider, calls) in [(openai.openai(false), 2), (anthropic.anthropic(false), 1)] {
        let (summary, session, ran) = run(provider, &["fs.read"]).await;
        assert_eq!((ran.lock().unwrap().len(), summary.failed_calls), (0, calls));
        for told in session.messages()[2].parts.iter().map(result) {
            assert!(told.contains("cut off"), "{told}");
        }
    }
}

#[tokio::test]
async fn limits_and_refusals_are_told() {
    let with = |finish: &str| json!({"message": {"role": "assistant", "content": "half"}, "finish_reason": finish, "index": 0});
    let refused = json!({"message": {"role": "assistant", "content": null, "refusal": "I cannot."}, "finish_reason": "stop", "index": 0});
    let cases = [(with("length"), Stop::Length), (with("content_filter"), Stop::Refusal), (refused, Stop::Refusal)];
    for (choice, stop) in cases {
        let service = Service::new([chat(choice)]).await;
        let (summary, ..) = run(service.openai(false), &[]).await;
        assert_eq!(answer(&summary).1, &stop);
    }
    let service = Service::new([message(json!([]), "refusal")]).await;
    let (summary, ..) = run(service.anthropic(false), &[]).await;
    assert_eq!(answer(&summary).1, &Stop::Refusal);
}

fn said(text: &str) -> Value {
    json!({"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"})
}

fn calls(calls: &[(&str, &str, &str)]) -> Value {
    let calls: Vec<_> = calls
        .iter()
        .map(|(id, name, arguments)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}))
        .collect();
    let message = json!({"role": "assistant", "content": null, "tool_calls": calls});
    json!({"index": 0, "message": message, "finish_reason": "tool_calls"})
}

fn chat(choice: Value) -> Reply {
    let usage = json!({"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10});
    let body = json!({"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage});
    service::json(200, body)
}

fn message(content: Value, stop: &str) -> Reply {
    let usage = json!({"input_tokens": 7, "output_tokens": 3});
    service::json(
        200,
        json!({"id": "x", "type": "message", "role": "assistant", "model": "claude-test", "content": content,
        "stop_reason": stop, "stop_sequence": null, "usage": usage}),
    )
}
