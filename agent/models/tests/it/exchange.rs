//! Handmade exchanges: requests, parsed turns and executed calls.

use std::sync::Arc;

use crate::prefix::field;
use crate::service::reply::{Api, Block, Way, completion};
use crate::service::{KEY, Reply, Service};
use crate::workshop::{Ran, answer, catalog, result, run};
use agent::{
    Driver, Provider, ProviderOptions, Request, Selection, Session, StopReason, SystemText,
};
use agent_models::Remote;
use serde_json::{Value, json};
use tools::protocol::wire::{Format, Strictness};
use tools::protocol::{Example, Message, Part, Role, ToolName};
use tools::{
    CancellationToken, Catalog, Content, Effects, Host, Tool, ToolCall, ToolContext, ToolResult,
};

#[tokio::test]
async fn a_call_goes_out_and_back_by_its_wire_name() {
    let service = Service::new([
        calls(&[("c1", "fs__read", r#"{"path":"a"}"#)]),
        Api::Chat.answer(Way::Whole),
    ])
    .await;
    let (summary, session, ran) = run(service.openai(false), &["fs.read", "fs/read.all"]).await;
    assert_eq!(answer(&summary), ("ok", &StopReason::Answer));
    assert_eq!(
        *ran.lock().unwrap(),
        [("fs.read".to_owned(), json!({"path": "a"}))]
    );
    assert_eq!(
        session.messages()[1].calls().next().unwrap().name,
        "fs.read"
    );
    let usage = summary.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (14, 6));

    let first = service.body(0);
    assert_eq!(first["model"], "gpt-test");
    let names: Vec<_> = first["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["function"]["name"])
        .collect();
    assert_eq!(names, ["fs__read", "fs--read__all"]);
    let second = service.body(1);
    let messages = second["messages"].as_array().unwrap();
    assert_eq!(
        messages
            .iter()
            .map(|message| message["role"].as_str().unwrap())
            .collect::<Vec<_>>(),
        ["user", "assistant", "tool"]
    );
    assert_eq!(messages[1]["tool_calls"][0]["function"]["name"], "fs__read");
    assert_eq!(messages[2]["tool_call_id"], "c1");
    assert!(
        messages[2].to_string().contains("ran fs.read"),
        "{}",
        messages[2]
    );
    assert!(
        service
            .head(0)
            .contains(&format!("authorization: bearer {KEY}"))
    );
}

#[tokio::test]
async fn an_error_goes_back_by_wire_names() {
    for api in Api::ALL {
        let blocks = [Block::Call("c1", "{}")];
        let call = api.reply(Way::Whole, &blocks, Some(api.stops(&blocks)));
        let service = Service::new([call, api.answer(Way::Whole)]).await;
        run(api.model(&service, false), &["fs.reads"]).await;
        let second = service.body(1)["messages"].to_string();
        assert!(
            second.contains("did you mean fs__reads?") && !second.contains("fs.reads"),
            "{second}"
        );
    }
}

#[tokio::test]
async fn the_system_text_goes_where_each_format_has_it() {
    let [openai, anthropic] =
        Api::ALL.map(|api| Service::new([api.answer(Way::Whole), api.answer(Way::Whole)]));
    let (openai, anthropic) = (openai.await, anthropic.await);
    let providers: [Arc<dyn Provider>; 2] = [
        Arc::new(openai.openai(false)),
        Arc::new(anthropic.anthropic(false)),
    ];
    for provider in providers {
        let (catalog, _) = catalog(&[]);
        let system = SystemText::new().with_section("identity", "You are \"it\".");
        let mut session =
            Session::new(catalog.list(), Selection::new(), Host::new()).with_system(system);
        for prompt in ["go", "on"] {
            Driver::new(provider.clone())
                .run(&mut session, prompt)
                .await
                .unwrap();
        }
    }
    let text = "<section name=\"identity\">\nYou are \"it\".\n</section>";
    for turn in 0..2 {
        let messages = openai.body(turn)["messages"].as_array().unwrap().clone();
        assert_eq!(
            (messages[0]["role"].as_str(), messages.len()),
            (Some("system"), 2 + 2 * turn)
        );
        assert!(
            messages[0] == json!({"role": "system", "content": text})
                || messages[0]["content"][0]["text"] == text
        );
        assert!(
            messages[1..]
                .iter()
                .all(|message| message["role"] != "system")
        );
        let body = anthropic.body(turn);
        assert!(
            body["system"] == text || body["system"][0]["text"] == text,
            "{body:#}"
        );
        assert_eq!(body["messages"].as_array().unwrap().len(), 1 + 2 * turn);
    }
}

#[tokio::test]
async fn the_definitions_sent_equal_those_of_the_tool_set() {
    let [openai, anthropic] =
        Api::ALL.map(|api| Service::new([api.answer(Way::Whole), api.answer(Way::Whole)]));
    let (openai, anthropic) = (openai.await, anthropic.await);
    let models: [(Arc<dyn Provider>, _, _); 2] = [
        (Arc::new(openai.openai(false)), &openai, Format::OpenAiChat),
        (
            Arc::new(anthropic.anthropic(false)),
            &anthropic,
            Format::Anthropic,
        ),
    ];
    for (model, service, format) in models {
        for (turn, names) in [&["fs.read", "fs/read", "time.now"][..], &["b", "a"]]
            .into_iter()
            .enumerate()
        {
            let (catalog, _) = catalog(names);
            let mut session = Session::new(catalog.list(), Selection::new(), Host::new());
            Driver::new(model.clone())
                .run(&mut session, "go")
                .await
                .unwrap();
            let body = service.text(turn);
            assert_eq!(
                field(&body, "tools"),
                &**session
                    .tools()
                    .wire(format, Strictness::Relaxed)
                    .definitions()
            );
        }
    }
}

#[tokio::test]
async fn rewritten_definitions_are_sent_and_the_calls_are_read_with_the_names_of_the_catalog() {
    let properties = json!({"$filter": {"const": "a"}, "limit": {"type": ["integer", "null"]}, "path": {"type": "string"}});
    let schema = json!({"oneOf": [{"required": ["path"]}, {"required": ["$filter"]}], "properties": properties});
    for (api, format) in [
        (Api::Chat, Format::OpenAiChat),
        (Api::Messages, Format::Anthropic),
    ] {
        let ran = Ran::default();
        let (runs, mut catalog) = (ran.clone(), Catalog::new());
        let tool = Tool::new("fs.read", "Finds.", schema.clone())
            .unwrap()
            .with_effects(Effects::Pure);
        let find = move |_: ToolContext, arguments: Value| {
            runs.lock().unwrap().push(("fs.read".to_owned(), arguments));
            async { "found" }
        };
        catalog.register(tool, find).unwrap();
        let mut session = Session::new(catalog.list(), Selection::new(), Host::new());
        let calls = [r#"{"filter":"a"}"#, r#"{"filter":"b"}"#].map(|arguments| {
            let blocks = [Block::Call("c1", arguments)];
            api.reply(Way::Whole, &blocks, Some(api.stops(&blocks)))
        });
        let service = Service::new(calls.into_iter().chain([api.answer(Way::Whole)])).await;
        Driver::new(Arc::new(api.model(&service, false)))
            .run(&mut session, "go")
            .await
            .unwrap();

        let body = service.text(0);
        let sent = field(&body, "tools");
        assert_eq!(
            sent,
            &**session
                .tools()
                .wire(format, Strictness::Relaxed)
                .definitions()
        );
        assert!(
            sent.contains("fs__read") && sent.contains("\"filter\"") && !sent.contains('$'),
            "{sent}"
        );
        assert_eq!(
            *ran.lock().unwrap(),
            [("fs.read".to_owned(), json!({"$filter": "a"}))]
        );
        let again = service.body(2)["messages"].to_string();
        assert!(
            again.contains("fs__read") && again.contains("`/filter`"),
            "{again}"
        );
        assert!(
            !again.contains("fs.read") && !again.contains('$'),
            "the model reads its own names: {again}"
        );
    }
}

#[tokio::test]
async fn content_that_a_model_cannot_be_shown_is_sent_without_its_data() {
    let blob =
        json!({"type": "resource", "resource": {"uri": "file:///a.bin", "blob": "c2VjcmV0"}});
    let content: Content = serde_json::from_value(blob).unwrap();
    let messages = [Message {
        role: Role::User,
        parts: vec![Part::Content(content)],
    }];
    let service = Service::new([Api::Chat.answer(Way::Whole)]).await;
    let session = Session::new(catalog(&[]).0.list(), Selection::new(), Host::new());
    let token = CancellationToken::new();
    service
        .openai(false)
        .complete(Request::new(&messages, session.tools(), &token))
        .await
        .unwrap();
    let sent = service.body(0)["messages"].to_string();
    assert!(
        sent.contains("a.bin") && !sent.contains("c2VjcmV0"),
        "{sent}"
    );
}

#[tokio::test]
async fn examples_are_sent_to_gateways_on_request_only() {
    let service = Service::new([
        Api::Messages.answer(Way::Whole),
        Api::Messages.answer(Way::Whole),
    ])
    .await;
    let mut catalog = Catalog::new();
    let tool = Tool::new("a", "A.", json!({"type": "object"}))
        .unwrap()
        .with_effects(Effects::Pure);
    let tool = tool.with_example(Example::new(json!({"b": 1})));
    catalog
        .register(tool, async |_: ToolContext, _: Value| "a")
        .unwrap();
    let options = ProviderOptions {
        base_url: Some(service.url.clone()),
        ..service.options("claude-test", false)
    };
    for model in [
        options.clone(),
        ProviderOptions {
            examples: Some(true),
            ..options
        },
    ]
    .map(|options| Remote::anthropic(&options).unwrap())
    {
        let mut session = Session::new(catalog.list(), Selection::new(), Host::new());
        Driver::new(Arc::new(model))
            .run(&mut session, "go")
            .await
            .unwrap();
    }
    let [default, requested] =
        [0, 1].map(|turn| service.body(turn)["tools"][0]["input_examples"].clone());
    assert_eq!((default, requested), (Value::Null, json!([{"b": 1}])));
}

#[tokio::test]
async fn the_digested_name_of_an_unknown_tool_is_recorded_as_no_tool() {
    let foreign = Format::OpenAiChat
        .names()
        .encode(&format!("server.{}", "x".repeat(80)))
        .into_owned();
    let service = Service::new([
        calls(&[("c1", &foreign, "{}")]),
        Api::Chat.answer(Way::Whole),
    ])
    .await;
    let (_, session, ran) = run(service.openai(false), &[&foreign]).await;
    assert!(ran.lock().unwrap().is_empty());
    let called = session.messages()[1].calls().next().unwrap().name.clone();
    assert!(
        ToolName::new(&called).is_err(),
        "{called} is the foreign tool"
    );
    let messages = service.body(1)["messages"].clone();
    assert_eq!(
        messages[1]["tool_calls"][0]["function"]["name"], foreign,
        "the model reads what it wrote"
    );
}

#[tokio::test]
async fn strict_definitions_are_sent_on_request() {
    let mut catalog = Catalog::new();
    let open = json!({"type": "object", "additionalProperties": {"type": "string"}});
    let tool = Tool::new("open", "Is open.", open)
        .unwrap()
        .with_effects(Effects::Pure);
    catalog
        .register(tool, async |_: ToolContext, _: Value| "open")
        .unwrap();
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "additionalProperties": false});
    let tool = Tool::new("fs.read", "Is closed.", schema)
        .unwrap()
        .with_effects(Effects::Pure);
    catalog
        .register(tool, async |_: ToolContext, arguments: Value| {
            arguments.to_string()
        })
        .unwrap();
    let arguments = Block::Call("c1", r#"{"path":null}"#);
    let call = Api::Chat.reply(
        Way::Whole,
        &[arguments],
        Some(Api::Chat.stops(&[arguments])),
    );
    let service = Service::new([call, Api::Chat.answer(Way::Whole)]).await;
    let options = ProviderOptions {
        base_url: Some(format!("{}/v1", service.url)),
        ..service.options("gpt-test", false)
    };
    let model = Remote::openai(&ProviderOptions {
        strictness: Some(Strictness::Strict),
        ..options
    })
    .unwrap();
    let mut session = Session::new(catalog.list(), Selection::new(), Host::new());
    Driver::new(Arc::new(model))
        .run(&mut session, "go")
        .await
        .unwrap();
    let sent = service.body(0)["tools"].clone();
    assert_eq!(
        field(&service.text(0), "tools"),
        &**session
            .tools()
            .wire(Format::OpenAiChat, Strictness::Strict)
            .definitions()
    );
    assert_eq!(
        (
            &sent[0]["function"]["strict"],
            sent[1]["function"]["strict"] == true
        ),
        (&json!(true), false),
        "{sent:#}"
    );
    assert_eq!(
        result(&session.messages()[2].parts[0]),
        "{}",
        "a null for an optional argument is its absence"
    );
}

#[tokio::test]
async fn thoughts_and_their_signatures_go_back_as_they_came() {
    let thought = json!({"type": "thinking", "thinking": "Hm, é.", "signature": "c2lnbmVk"});
    let sealed = json!({"type": "redacted_thinking", "data": "c2VhbGVk"});
    let call = Block::Call("t1", r#"{"path": "a"}"#);
    let blocks = [
        Block::Thought("Hm, é."),
        Block::Sealed("c2VhbGVk"),
        Block::Text("I look."),
        call,
    ];
    let api = Api::Messages;
    for (way, piece) in [
        (Way::Whole, 97),
        (Way::Stream, 1),
        (Way::Stream, 7),
        (Way::Stream, 97),
    ] {
        let replies = [
            api.reply(way, &blocks, Some(api.stops(&blocks))),
            api.answer(way),
        ];
        let service = Service::new(replies.map(|reply| reply.in_pieces(piece))).await;
        let (summary, session, ran) =
            run(service.anthropic(way == Way::Stream), &["fs.read"]).await;
        assert_eq!(answer(&summary), ("ok", &StopReason::Answer));
        assert_eq!(
            *ran.lock().unwrap(),
            [("fs.read".to_owned(), json!({"path": "a"}))]
        );
        assert!(
            matches!(&session.messages()[1].parts[0], Part::Reasoning { text, .. } if text == "Hm, é.")
        );
        let text = serde_json::to_string(session.messages()).unwrap();
        assert_eq!(
            serde_json::from_str::<Vec<Message>>(&text).unwrap(),
            session.messages()
        );

        let second = service.body(1);
        let again = second["messages"][1]["content"].as_array().unwrap();
        assert_eq!(again[..2], [thought.clone(), sealed.clone()]);
        assert_eq!(second["messages"][2]["content"][0]["tool_use_id"], "t1");
        assert!(service.head(0).contains(&format!("x-api-key: {KEY}")));
    }
}

#[tokio::test]
async fn a_picture_in_a_result_is_shown_to_the_model() {
    let picture = Content::Image {
        data: "iVBORw0KGgo=".to_owned(),
        mime_type: "image/png".to_owned(),
    };
    let result = ToolResult {
        content: vec![Content::text("[`a.png`]"), picture],
        ..ToolResult::default()
    };
    let (id, name) = ("c1".to_owned(), "fs.read".to_owned());
    let call = ToolCall::new(&*id, &*name, json!({"path": "a.png"}));
    let messages = [
        Message::text(Role::User, "go"),
        Message {
            role: Role::Assistant,
            parts: vec![Part::ToolCall(call)],
        },
        Message {
            role: Role::Tool,
            parts: vec![Part::ToolResult { id, name, result }],
        },
    ];
    let [openai, anthropic] = Api::ALL.map(|api| Service::new([api.answer(Way::Whole)]));
    let (openai, anthropic) = (openai.await, anthropic.await);
    let session = Session::new(
        catalog(&["fs.read"]).0.list(),
        Selection::new(),
        Host::new(),
    );
    let token = CancellationToken::new();
    for provider in [openai.openai(false), anthropic.anthropic(false)] {
        let turn = provider
            .complete(Request::new(&messages, session.tools(), &token))
            .await
            .unwrap();
        assert_eq!(turn.message.to_text(), "ok");
    }
    // A result of chat completions is text alone, so the picture comes after it.
    let sent = openai.body(0)["messages"].clone();
    assert_eq!(sent[2]["tool_call_id"], "c1", "{sent:#}");
    assert_eq!(
        sent[3]["content"][1]["image_url"]["url"], "data:image/png;base64,iVBORw0KGgo=",
        "{sent:#}"
    );
    let sent = anthropic.body(0)["messages"][2]["content"][0].take();
    assert_eq!(
        (&sent["tool_use_id"], &sent["content"][1]["source"]["data"]),
        (&json!("c1"), &json!("iVBORw0KGgo="))
    );
}

#[tokio::test]
async fn the_picture_of_a_failed_call_follows_the_results() {
    let png = Content::Image {
        data: "iVBORw0KGgo=".to_owned(),
        mime_type: "image/svg+xml".to_owned(),
    };
    let failed = ToolResult {
        content: vec![Content::text("broken"), png],
        is_error: true,
        ..ToolResult::default()
    };
    let results = [("c1", failed), ("c2", ToolResult::text(""))];
    let call =
        |(id, _): &(&str, ToolResult)| Part::ToolCall(ToolCall::new(*id, "fs.read", json!({})));
    let part = |(id, result): &(&str, ToolResult)| Part::ToolResult {
        id: (*id).to_owned(),
        name: "fs.read".to_owned(),
        result: result.clone(),
    };
    let messages = [
        Message::text(Role::User, "go"),
        Message {
            role: Role::Assistant,
            parts: results.iter().map(call).collect(),
        },
        Message {
            role: Role::Tool,
            parts: results.iter().map(part).collect(),
        },
    ];
    let service = Service::new([Api::Messages.answer(Way::Whole)]).await;
    let session = Session::new(
        catalog(&["fs.read"]).0.list(),
        Selection::new(),
        Host::new(),
    );
    let token = CancellationToken::new();
    service
        .anthropic(false)
        .complete(Request::new(&messages, session.tools(), &token))
        .await
        .unwrap();
    let sent = service.body(0)["messages"][2]["content"].take();
    let kinds: Vec<_> = sent
        .as_array()
        .unwrap()
        .iter()
        .map(|block| block["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["tool_result", "tool_result", "text", "image"],
        "{sent:#}"
    );
    let texts = sent[0]["content"]
        .as_array()
        .unwrap()
        .iter()
        .all(|block| block["type"] == "text");
    assert!(texts && sent[0]["is_error"] == true, "{sent:#}");
    assert_eq!(
        sent[3]["source"]["media_type"], "image/png",
        "the type of the data, not the one stated"
    );
    assert_ne!(sent[1]["content"][0]["text"], "", "{sent:#}");
}

#[tokio::test]
async fn malformed_and_foreign_calls_get_one_error_each_and_the_others_run() {
    let turn_of_calls = calls(&[
        ("a", "fs__read", r#"{"path": "#),
        ("b", "fs__read", "{}"),
        ("c", "no_such", "{}"),
        ("d", "fs__read", "[1]"),
    ]);
    let service = Service::new([turn_of_calls, Api::Chat.answer(Way::Whole)]).await;
    let (summary, session, ran) = run(service.openai(false), &["fs.read"]).await;
    assert_eq!((summary.calls, summary.failed_calls), (4, 3));
    assert_eq!(*ran.lock().unwrap(), [("fs.read".to_owned(), json!({}))]);
    let results: Vec<_> = session.messages()[2].parts.iter().map(result).collect();
    assert!(results[0].contains("not a JSON object"), "{}", results[0]);
    assert!(results[2].contains("no_such"), "{}", results[2]);
    assert!(results[3].contains("not a JSON object"), "{}", results[3]);
    let sent = service.body(1)["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| message["role"] == "tool")
        .count();
    assert_eq!(sent, 4);
}

#[tokio::test]
async fn a_refusal_in_a_field_of_its_own_is_one() {
    let refused = json!({"role": "assistant", "content": null, "refusal": "I cannot."});
    let service = Service::new([completion(
        json!({"index": 0, "message": refused, "finish_reason": "stop"}),
    )])
    .await;
    let (summary, ..) = run(service.openai(false), &[]).await;
    assert_eq!(answer(&summary).1, &StopReason::Refusal);
}

fn calls(calls: &[(&str, &str, &str)]) -> Reply {
    let calls: Vec<_> = calls
        .iter()
        .map(|(id, name, arguments)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}))
        .collect();
    let message = json!({"role": "assistant", "content": null, "tool_calls": calls});
    completion(json!({"index": 0, "message": message, "finish_reason": "tool_calls"}))
}
