//! The five formats: the calls, results and fields of each one on the wire.

use std::sync::{Arc, Mutex};

use agent::{
    Driver, GenerationOptions, Provider, ProviderError, Proxy, ReasoningEffort, Request, Selection, Session,
    StopReason, SystemText, ToolChoice,
};
use agent_rig::Remote;
use serde_json::{Value, json};
use tools::protocol::wire::{Format, Strictness, WireResult};
use tools::protocol::{Message, Part, Role};
use tools::{CancellationToken, Catalog, Content, Effects, Tool, ToolCall, ToolContext, ToolResult};

use crate::judge::Judge;
use crate::service::wire::{self, ALL, Block, SIGNATURE, options, remote, reply};
use crate::service::{KEY, Service, json as whole};
use crate::workshop::{answer, catalog, run};

const PNG: &str = "iVBORw0KGgo=";

fn two_calls() -> [Block; 3] {
    let call = |id, path: &str| Block::Call(id, "fs__read", json!({"path": path, "n": 12_345_678_901_234_567_u64}));
    [Block::Text("I look: é. "), call("c1", "a"), call("c2", "色")]
}

#[tokio::test]
async fn parallel_calls_and_their_results_go_over_each_format() {
    for format in ALL {
        for (streaming, piece) in [(false, 97), (true, 1), (true, 7), (true, 97)] {
            let replies = [two_calls().to_vec(), vec![Block::Text("done")]];
            let replies = replies.map(|blocks| reply(format, streaming, &blocks).in_pieces(piece));
            let service = Service::new(replies).await;
            let model = remote(format, &options(format, &service, streaming));
            let (summary, session, ran) = run(model, &["fs.read"]).await;
            assert_eq!(answer(&summary), ("done", &StopReason::Answer), "{format}");
            let arguments = |path: &str| json!({"path": path, "n": 12_345_678_901_234_567_u64});
            let expected = [arguments("a"), arguments("色")].map(|arguments| ("fs.read".to_owned(), arguments));
            assert_eq!(*ran.lock().unwrap(), expected, "{format}");
            assert_eq!(session.messages()[1].to_text().trim(), "I look: é.", "{format}");

            let body = service.body(1);
            let calls = wire::sent_calls(format, &body);
            let calls: Vec<_> = calls.iter().map(|call| (call.id.as_str(), call.name.as_str())).collect();
            assert_eq!(calls, [("c1", "fs__read"), ("c2", "fs__read")], "{format}: {body:#}");
            let results = wire::sent_results(format, &body);
            assert_eq!(results.iter().map(|result| result.id.as_str()).collect::<Vec<_>>(), ["c1", "c2"], "{format}");
            assert!(results.iter().all(|result| result.result.to_text().contains("ran fs.read")), "{format}: {body:#}");

            let usage = summary.usage.unwrap();
            assert_eq!((usage.input_tokens, usage.output_tokens, usage.cached_input_tokens), (140, 6, 128), "{format}");
        }
    }
}

#[tokio::test]
async fn the_definitions_in_a_body_keep_the_rules_of_the_service() {
    let properties =
        json!({"path": {"type": "string"}, "$filter": {"const": "a"}, "limit": {"type": ["integer", "null"]}});
    let schema = json!({"properties": properties, "oneOf": [{"required": ["path"]}, {"required": ["$filter"]}]});
    for format in ALL {
        for strictness in [Strictness::Relaxed, Strictness::Strict] {
            let mut catalog = Catalog::new();
            for (name, schema) in [("fs.find", &schema), ("fs.read", &json!({"type": "object", "properties": {}}))] {
                let tool = Tool::new(name, "A tool.", schema.clone()).unwrap().with_effects(Effects::Pure);
                catalog.register(tool, async |_: ToolContext, _: Value| "ok").unwrap();
            }
            let service = Service::new([reply(format, false, &[Block::Text("ok")])]).await;
            let model = remote(format, &options(format, &service, false).with_strictness(strictness));
            let mut session = Session::new(catalog.list(), Selection::new(), ToolContext::new());
            Driver::new(Arc::new(model)).run(&mut session, "go").await.unwrap();
            let body = service.body(0);
            let sent =
                if format == Format::Gemini { &body["tools"][0]["functionDeclarations"] } else { &body["tools"] };
            let sent = sent.as_array().unwrap();
            assert_eq!(sent.len(), 2, "{format}: {body:#}");
            for (definition, wire) in sent.iter().zip(session.tools().wire(format, strictness).list()) {
                let mode = if wire.is_strict { Strictness::Strict } else { Strictness::Relaxed };
                assert_eq!(Judge::new(format, mode).violations(definition), [], "{format}: {definition:#}");
                let own = serde_json::from_str::<Value>(&wire.definition).unwrap();
                assert!(is_within(&own, definition), "{format}: {own} {definition}");
            }
        }
    }
}

/// Returns true if the other object has all fields of this one. rig adds `strict: false` for the Responses API.
fn is_within(own: &Value, other: &Value) -> bool {
    own.as_object().unwrap().iter().all(|(name, value)| other[name] == *value)
}

#[tokio::test]
async fn text_is_streamed_in_each_format() {
    for format in ALL {
        let service = Service::new([reply(format, true, &[Block::Text("one "), Block::Text("two")])]).await;
        let pieces = Mutex::new(Vec::new());
        let sink = |text: &str| pieces.lock().unwrap().push(text.to_owned());
        let (messages, session, token) = (prompt(), session(&[]), CancellationToken::new());
        let request = Request::new(&messages, session.tools(), &token).with_text_sink(agent::TextSink::new(&sink));
        let turn = remote(format, &options(format, &service, true)).complete(request).await.unwrap();
        let pieces = pieces.into_inner().unwrap();
        assert_eq!((pieces.concat().as_str(), pieces.len()), ("one two", 2), "{format}");
        assert_eq!(turn.message.to_text().replace('\n', ""), "one two", "{format}");
    }
}

#[tokio::test]
async fn the_fields_beside_a_call_go_back_unchanged() {
    for format in ALL {
        for streaming in [false, true] {
            let replies = [reply(format, streaming, &two_calls()), reply(format, streaming, &[Block::Text("done")])];
            let service = Service::new(replies).await;
            let (_, session, _) = run(remote(format, &options(format, &service, streaming)), &["fs.read"]).await;
            let body = service.body(1);
            let messages = wire::messages(format, &body);
            let ids = |pointer: &str| -> Vec<Value> {
                messages.iter().filter_map(|item| item.pointer(pointer)).cloned().collect()
            };
            match format {
                Format::OpenAiChat => {
                    for call in messages[1]["tool_calls"].as_array().unwrap() {
                        assert_eq!(call["extra_content"]["google"]["thought_signature"], SIGNATURE, "{body:#}");
                    }
                }
                Format::OpenAiResponses => {
                    assert_eq!(ids("/id"), ["rs_1", "msg_1", "fc_c1", "fc_c2"], "{body:#}");
                    assert_eq!(ids("/encrypted_content"), [SIGNATURE], "{body:#}");
                }
                Format::Anthropic => {
                    let calls = &messages[1]["content"];
                    assert!((1..3).all(|index| calls[index]["caller"]["type"] == "direct"), "{body:#}");
                }
                Format::Gemini => {
                    let parts = messages[1]["parts"].as_array().unwrap();
                    let signed = parts.iter().filter(|part| part["thoughtSignature"] == SIGNATURE).count();
                    assert_eq!(signed, 2, "{body:#}");
                }
                _ => assert_eq!(messages[1]["tool_calls"].as_array().unwrap().len(), 2),
            }
            // The fields are kept without the arguments, which may be secret.
            let kept = session.messages()[1].parts.iter().filter_map(|part| match part {
                Part::Reasoning { opaque, .. } => Some(opaque.to_string()),
                _ => None,
            });
            assert!(kept.into_iter().all(|opaque| !opaque.contains("色")), "{format}");
        }
    }
}

#[tokio::test]
async fn a_turn_of_another_model_goes_back_without_its_fields() {
    let service = Service::new([
        reply(Format::Gemini, false, &two_calls()),
        reply(Format::OpenAiResponses, false, &[Block::Text("done")]),
    ])
    .await;
    let mut session = session(&["fs.read"]);
    let first = Driver::new(Arc::new(remote(Format::Gemini, &options(Format::Gemini, &service, false))));
    first.with_max_steps(1).run(&mut session, "go").await.unwrap();
    let format = Format::OpenAiResponses;
    Driver::new(Arc::new(remote(format, &options(format, &service, false)))).run(&mut session, "on").await.unwrap();
    let body = service.body(1);
    assert!(!body.to_string().contains(SIGNATURE), "{body:#}");
    assert_eq!(wire::sent_calls(format, &body).len(), 2);
}

#[tokio::test]
async fn a_failed_call_says_so_in_each_format() {
    for format in ALL {
        let body = sent_with_results(
            format,
            None,
            &[("c1", ToolResult::error("no such file")), ("c2", ToolResult::text("fine"))],
        )
        .await;
        let results = wire::sent_results(format, &body);
        let [failed, fine] = &results[..] else { panic!("{body:#}") };
        let is_told =
            |result: &WireResult| result.result.is_error || result.result.to_text().to_lowercase().contains("error");
        assert!(is_told(failed) && !is_told(fine), "{format}: {body:#}");
        assert!(failed.result.to_text().contains("no such file"), "{format}: {body:#}");
    }
}

#[tokio::test]
async fn images_of_parallel_results_are_beside_their_call_or_name_it() {
    let old_gemini = [(Format::Gemini, Some("gemini-2.5-flash"))];
    for (format, model) in ALL.map(|format| (format, None)).into_iter().chain(old_gemini) {
        let image = |suffix: &str| Content::Image { data: format!("{PNG}{suffix}"), mime_type: "image/png".to_owned() };
        let result = |text: &str| ToolResult { content: vec![Content::text(text), image("")], ..ToolResult::default() };
        let body = sent_with_results(format, model, &[("c1", result("one")), ("c2", result("two"))]).await;
        let shown = wire::after_results(format, &body);
        let of = |id: &str| {
            shown.iter().position(|content| content.as_text().is_some_and(|text| text.contains(id))).unwrap()
        };
        let images: Vec<_> = shown
            .iter()
            .enumerate()
            .filter(|(_, content)| matches!(content, Content::Image { .. }))
            .map(|(at, _)| at)
            .collect();
        assert_eq!(images.len(), 2, "{format}: {body:#}");
        if (format, model) == (Format::Gemini, None) {
            // The images are in the parts of the response itself.
            let parts = &wire::messages(format, &body)[2]["parts"];
            assert!(
                (0..2).all(|at| parts[at]["functionResponse"]["parts"][0]["inlineData"]["data"] == PNG),
                "{body:#}"
            );
        } else if format == Format::Ollama {
            // The images of a message are a list of their own, in the order of the labels in its text.
            let last = wire::messages(format, &body).pop().unwrap();
            let text = last["content"].as_str().unwrap().to_owned();
            assert!(text.find("c1").unwrap() < text.find("c2").unwrap(), "{body:#}");
        } else if matches!(format, Format::OpenAiChat | Format::Gemini) {
            let labels: Vec<_> = shown
                .iter()
                .filter_map(Content::as_text)
                .filter(|text| text.starts_with("Images of the result of"))
                .collect();
            assert!(labels.len() == 2 && labels[0].contains("c1") && labels[1].contains("c2"), "{body:#}");
        } else {
            assert!(of("c1") < images[1] && of("one") < images[0] && images[0] < of("two"), "{format}: {body:#}");
        }
    }
}

#[tokio::test]
async fn the_options_of_answers_reach_each_service() {
    let generation =
        GenerationOptions::new().with_max_output_tokens(20_000).with_reasoning_effort(ReasoningEffort::High);
    for format in ALL {
        let service =
            Service::new([reply(format, true, &[Block::Text("ok")]), reply(format, false, &[Block::Text("ok")])]).await;
        for streaming in [true, false] {
            let options = options(format, &service, streaming).with_generation(generation.clone());
            complete(&remote(format, &options), &["fs.read"]).await.unwrap();
        }
        for turn in 0..2 {
            let body = service.body(turn);
            let (limit, effort) = match format {
                Format::OpenAiChat => ("/max_completion_tokens", ("/reasoning_effort", json!("high"))),
                Format::OpenAiResponses => ("/max_output_tokens", ("/reasoning/effort", json!("high"))),
                Format::Anthropic => ("/max_tokens", ("/thinking/budget_tokens", json!(16_384))),
                Format::Gemini => (
                    "/generationConfig/maxOutputTokens",
                    ("/generationConfig/thinkingConfig/thinkingLevel", json!("high")),
                ),
                _ => ("/options/num_predict", ("/think", json!("high"))),
            };
            assert_eq!(body.pointer(limit), Some(&json!(20_000)), "{format}: {body:#}");
            let found = body.pointer(effort.0).map(|found| found.to_string().to_lowercase());
            assert_eq!(found, Some(effort.1.to_string()), "{format}: {body:#}");
        }
    }
}

#[tokio::test]
async fn temperature_and_calls_in_parallel_reach_each_service_or_are_refused() {
    let model = |format| if format == Format::OpenAiResponses { "gpt-4.1" } else { "" };
    for format in ALL {
        let service = Service::new([reply(format, false, &[Block::Text("ok")])]).await;
        let generation = GenerationOptions::new().with_temperature(0.5).with_parallel_calls(false);
        let mut options = options(format, &service, false).with_generation(generation);
        if !model(format).is_empty() {
            options = options.with_model(model(format));
        }
        let outcome = complete(&remote(format, &options), &["fs.read"]).await;
        let parallel = match format {
            Format::OpenAiChat | Format::OpenAiResponses => ("/parallel_tool_calls", json!(false)),
            Format::Anthropic => ("/tool_choice/disable_parallel_tool_use", json!(true)),
            _ => {
                let error = outcome.unwrap_err();
                assert!(matches!(error, ProviderError::Options { .. }), "{format}: {error:?}");
                assert_eq!(service.requests(), 0);
                continue;
            }
        };
        outcome.unwrap();
        let body = service.body(0);
        assert_eq!(body.pointer(parallel.0), Some(&parallel.1), "{format}: {body:#}");
        assert_eq!(body["temperature"], 0.5, "{format}: {body:#}");
    }
}

#[tokio::test]
async fn a_forced_call_is_asked_for_once_so_that_the_run_ends() {
    for format in ALL.into_iter().filter(|format| *format != Format::Ollama) {
        for choice in [ToolChoice::Required, ToolChoice::Tool("fs.read".to_owned())] {
            let service =
                Service::new([reply(format, false, &two_calls()), reply(format, false, &[Block::Text("done")])]).await;
            let generation = GenerationOptions::new().with_tool_choice(choice.clone());
            let model = remote(format, &options(format, &service, false).with_generation(generation));
            run(model, &["fs.read"]).await;
            let field = if format == Format::Gemini { "toolConfig" } else { "tool_choice" };
            let [first, second] = [0, 1].map(|turn| service.body(turn)[field].clone());
            assert!(!first.is_null() && second.is_null(), "{format}: {first} {second}");
            let names_tool = first.to_string().contains("fs__read");
            assert_eq!(names_tool, choice != ToolChoice::Required, "{format}: {first}");
        }
        let service = Service::new([]).await;
        let absent = GenerationOptions::new().with_tool_choice(ToolChoice::Tool("fs.write".to_owned()));
        let model = remote(format, &options(format, &service, false).with_generation(absent));
        let error = complete(&model, &["fs.read"]).await.unwrap_err();
        assert!(error.to_string().contains("fs.write") && service.requests() == 0, "{error}");
    }
}

#[tokio::test]
async fn settings_that_no_service_takes_are_refused_at_once() {
    let service = Service::new([]).await;
    let refused = |format, generation: GenerationOptions| {
        let options = options(format, &service, false).with_generation(generation);
        match format {
            Format::Ollama => Remote::ollama(&options),
            _ => Remote::openai(&options),
        }
        .unwrap_err()
    };
    for error in [
        refused(Format::OpenAiChat, GenerationOptions::new().with_temperature(2.1)),
        refused(Format::OpenAiChat, GenerationOptions::new().with_temperature(f64::NAN)),
        refused(Format::OpenAiChat, GenerationOptions::new().with_max_output_tokens(0)),
        refused(Format::Ollama, GenerationOptions::new().with_tool_choice(ToolChoice::Required)),
    ] {
        assert!(matches!(error, ProviderError::Options { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn anthropic_caches_the_tools_the_system_text_and_the_conversation_on_request() {
    let format = Format::Anthropic;
    let service =
        Service::new([reply(format, false, &[Block::Text("ok")]), reply(format, false, &[Block::Text("ok")])]).await;
    for caching in [true, false] {
        let options = options(format, &service, false).with_generation(GenerationOptions::new().with_caching(caching));
        let system = SystemText::new().with_section("identity", "You are it.");
        let mut session = session(&["a", "b"]).with_system(system);
        Driver::new(Arc::new(remote(format, &options))).run(&mut session, "go").await.unwrap();
    }
    let marker = json!({"type": "ephemeral"});
    let body = service.body(0);
    assert_eq!((&body["cache_control"], &body["tools"][0]["cache_control"]), (&marker, &Value::Null), "{body:#}");
    for place in ["/tools/1/cache_control/type", "/system/0/cache_control/type"] {
        assert_eq!(body.pointer(place), Some(&json!("ephemeral")), "{body:#}");
    }
    assert!(!service.body(1).to_string().contains("cache_control"));
}

#[tokio::test]
async fn the_output_limit_of_anthropic_fits_the_model() {
    let service = Service::new([]).await;
    for (model, limit) in [("claude-sonnet-4-5", 64_000), ("claude-3-haiku-20240307", 4096), ("glm-5", 8192)] {
        service.serve([reply(Format::Anthropic, false, &[Block::Text("ok")])]);
        let turn = service.requests();
        let options = options(Format::Anthropic, &service, false).with_model(model);
        complete(&remote(Format::Anthropic, &options), &[]).await.unwrap();
        assert_eq!(service.body(turn)["max_tokens"], limit, "{model}");
    }
}

#[tokio::test]
async fn a_url_may_be_a_host_a_base_or_an_endpoint() {
    let cases: [(Format, &str, &[&str]); 5] = [
        (Format::OpenAiChat, "/v1/chat/completions", &["", "/", "/v1", "/v1/", "/v1/chat/completions"]),
        (Format::OpenAiResponses, "/v1/responses", &["", "/v1/", "/v1/responses"]),
        (Format::Anthropic, "/v1/messages", &["", "/", "/v1", "/v1/messages"]),
        (
            Format::Gemini,
            "/v1beta/models/gemini-3-flash-preview:generatecontent",
            &["", "/v1beta", "/v1beta/models/gemini-3-flash-preview:generateContent"],
        ),
        (Format::Ollama, "/api/chat", &["", "/", "/v1", "/api", "/api/chat"]),
    ];
    let service = Service::new([]).await;
    for (format, path, endings) in cases {
        for ending in endings {
            service.serve([reply(format, false, &[Block::Text("ok")])]);
            let turn = service.requests();
            let options = options(format, &service, false).with_base_url(format!("{}{ending}", service.url));
            complete(&remote(format, &options), &[]).await.unwrap();
            let head = service.head(turn);
            assert!(head.starts_with(&format!("post {path} http/1.1")), "{ending}: {head}");
            assert!(head.contains(&format!("user-agent: toolcrib/{}", env!("CARGO_PKG_VERSION"))), "{head}");
            assert!(head.contains(KEY), "{head}");
        }
    }
}

#[tokio::test]
async fn the_dialect_of_a_known_service_is_chosen_by_name() {
    let format = Format::OpenAiChat;
    let replies = || [reply(format, false, &two_calls()), reply(format, false, &[Block::Text("done")])];
    let service = Service::new(replies()).await;
    let options = options(format, &service, false).with_model("a-model");
    run(remote(format, &options.clone().with_dialect("deepseek")), &["fs.read"]).await;
    // DeepSeek refuses a turn without the field, and other services one with it.
    assert_eq!(service.body(1)["messages"][1]["reasoning_content"], "");
    assert!(service.head(0).starts_with("post /chat/completions "), "{}", service.head(0));

    service.serve(replies());
    run(remote(format, &options.clone().with_dialect("groq")), &["fs.read"]).await;
    assert_eq!(service.body(3)["messages"][1]["reasoning_content"], Value::Null);
    assert!(service.head(2).starts_with("post /openai/v1/chat/completions "), "{}", service.head(2));

    let error = Remote::openai(&options.clone().with_dialect("nobody")).unwrap_err();
    assert!(error.to_string().contains("deepseek"), "{error}");
    // The name alone does not send prompts and keys elsewhere.
    let mut unplaced = options.with_dialect("groq");
    unplaced.base_url = None;
    let error = Remote::openai(&unplaced).unwrap_err();
    assert!(error.to_string().contains("https://api.groq.com"), "{error}");
}

#[tokio::test]
async fn a_service_of_the_user_gets_no_empty_key_and_its_refusal_names_the_variable() {
    for format in ALL {
        let service = Service::new([whole(401, json!({"error": {"message": "who are you?"}}))]).await;
        let mut options = options(format, &service, false);
        options.key = Some(agent::KeySource::File(empty_file()));
        let error = complete(&remote(format, &options), &[]).await.unwrap_err();
        let head = service.head(0);
        for header in ["authorization", "x-api-key", "x-goog-api-key", "api-key"] {
            assert!(!head.contains(&format!("\n{header}:")), "{format}: {head}");
        }
        assert!(!head.contains("key="), "{head}");
        assert!(error.to_string().contains("no key was sent"), "{error}");
    }
}

#[tokio::test]
async fn the_key_of_gemini_is_in_no_url() {
    let service = Service::new([reply(Format::Gemini, true, &[Block::Text("ok")])]).await;
    complete(&remote(Format::Gemini, &options(Format::Gemini, &service, true)), &[]).await.unwrap();
    let head = service.head(0);
    assert!(
        head.contains(&format!("x-goog-api-key: {KEY}")) && !head.lines().next().unwrap().contains("key"),
        "{head}"
    );
}

#[tokio::test]
async fn a_configured_proxy_is_used_except_for_this_machine() {
    let format = Format::OpenAiChat;
    let proxy = Service::new([reply(format, false, &[Block::Text("by proxy")])]).await;
    let service = Service::new([reply(format, false, &[Block::Text("direct")])]).await;
    let options = options(format, &service, false).with_proxy(Proxy::Url(proxy.url.clone()));
    let turn = complete(&remote(format, &options), &[]).await.unwrap();
    assert_eq!((turn.as_str(), proxy.requests()), ("direct", 0));
    let options = options.with_base_url("http://service.invalid/v1");
    let turn = complete(&remote(format, &options), &[]).await.unwrap();
    assert_eq!((turn.as_str(), proxy.requests()), ("by proxy", 1));
    assert!(proxy.head(0).starts_with("post http://service.invalid/v1/chat/completions "), "{}", proxy.head(0));

    let secret = options.with_proxy(Proxy::Url("http://me:secret@h".to_owned()));
    let error = Remote::openai(&secret).unwrap_err();
    assert!(!error.to_string().contains("secret"), "{error}");
}

fn prompt() -> [Message; 1] {
    [Message::text(Role::User, "go")]
}

fn session(tools: &[&str]) -> Session {
    Session::new(catalog(tools).0.list(), Selection::new(), ToolContext::new())
}

/// Sends a prompt, and returns the text of the answer.
async fn complete(model: &Remote, tools: &[&str]) -> Result<String, ProviderError> {
    let (messages, session, token) = (prompt(), session(tools), CancellationToken::new());
    let turn = model.complete(Request::new(&messages, session.tools(), &token)).await?;
    Ok(turn.message.to_text())
}

/// Returns the request with two calls of `fs.read` and these results.
async fn sent_with_results(format: Format, model: Option<&str>, results: &[(&str, ToolResult)]) -> Value {
    let name = "fs.read".to_owned();
    let call = |(id, _): &(&str, ToolResult)| Part::ToolCall(ToolCall::new(*id, &*name, json!({})));
    let result = |(id, result): &(&str, ToolResult)| Part::ToolResult {
        id: (*id).to_owned(),
        name: name.clone(),
        result: result.clone(),
    };
    let messages = [
        Message::text(Role::User, "go"),
        Message { role: Role::Assistant, parts: results.iter().map(call).collect() },
        Message { role: Role::Tool, parts: results.iter().map(result).collect() },
    ];
    let service = Service::new([reply(format, false, &[Block::Text("ok")])]).await;
    let mut options = options(format, &service, false);
    if let Some(model) = model {
        options = options.with_model(model);
    }
    let (session, token) = (session(&["fs.read"]), CancellationToken::new());
    remote(format, &options).complete(Request::new(&messages, session.tools(), &token)).await.unwrap();
    service.body(0)
}

fn empty_file() -> std::path::PathBuf {
    let path = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("empty.key");
    std::fs::write(&path, "\n").unwrap();
    path
}
