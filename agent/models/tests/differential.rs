//! The recorded exchanges of all files, read by the providers of this crate and by the former ones over rig. Lists each difference.

#![allow(clippy::unwrap_used)]

#[path = "it/service/mod.rs"]
mod service;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Mutex;

use agent::{Provider, ProviderOptions, Request, Selection, Session, TextSink, Turn};
use serde_json::{Value, json};
use service::{Reply, Service, retry_policy, wire};
use tools::protocol::wire::Format;
use tools::protocol::{Message, Part, Role};
use tools::{CancellationToken, Catalog, Effects, Host, Tool, ToolContext, ToolResult};

const FILES: [&str; 2] = [
    "llm_traffic_rubyllm.jsonl.gz",
    "llm_traffic_rig_pydantic_half.jsonl.gz",
];

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the data folder: TOOLCRIB_DATA=..."]
async fn the_former_providers_read_and_write_the_same() {
    let mut sorts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let rows = rows();
    let total = rows.len();
    let mut tasks = Vec::new();
    let permits = std::sync::Arc::new(tokio::sync::Semaphore::new(4));
    for (place, row) in rows {
        let permits = permits.clone();
        tasks.push(tokio::spawn(async move {
            let _permit = permits.acquire().await.unwrap();
            let mut found = Vec::new();
            let [new, old] = [seen(&row, true).await, seen(&row, false).await];
            differences("", &old, &new, &mut found);
            (place, found)
        }));
    }
    for task in tasks {
        let (place, found) = task.await.unwrap();
        for (pointer, change) in found {
            sorts
                .entry(pointer)
                .or_default()
                .push(format!("{place}: {change}"));
        }
    }
    let mut text = String::new();
    for (pointer, rows) in &sorts {
        text += &format!("== {pointer}: {} of {total}\n", rows.len());
        for row in rows.iter().take(400) {
            text += &format!("   {row}\n");
        }
    }
    std::fs::write(std::env::var("DIFFERENCES").unwrap(), text).unwrap();
}

/// Everything that is seen of one provider.
async fn seen(row: &Value, is_new: bool) -> Value {
    let format = format(row);
    let streaming = row["stream"] == true;
    let service = Service::new([]).await;
    let path = row["path"].as_str().unwrap().rsplit('/').next().unwrap();
    let model = row["request"]["model"].as_str();
    let model = model.unwrap_or_else(|| path.split(':').next().unwrap());
    let mut once = retry_policy();
    once.max_retries = 0;
    let options = service
        .options(model, streaming)
        .with_base_url(&service.url)
        .with_retry_policy(once);
    let provider = provider(format, &options, is_new);
    service.serve([
        Reply::Answer {
            status: row["status"].as_u64().unwrap().try_into().unwrap(),
            headers: format!(
                "content-type: {}\r\n",
                row["content_type"].as_str().unwrap_or("application/json")
            ),
            body: row["response"].as_str().unwrap().to_owned(),
            piece: 997,
        },
        wire::reply(format, streaming, &[wire::Block::Text("ok")]),
    ]);
    let session = session(row);
    let mut messages = vec![Message::text(Role::User, "go")];
    let (outcome, text) = complete(&*provider, &session, &messages).await;
    let first = service.body(0);
    let mut seen = json!({"text": text, "first": first});
    match outcome {
        Err(error) => {
            seen["error"] =
                json!({"kind": error.kind().map(|k| k.to_string()), "text": error.to_string()})
        }
        Ok(mut turn) => {
            seen["turn"] = shown(&turn);
            // As a run gives each call an id.
            for (number, part) in turn.message.parts.iter_mut().enumerate() {
                if let Part::ToolCall(call) = part
                    && call.id.trim().is_empty()
                {
                    call.id = format!("call_{number}");
                }
            }
            let result = |call: &tools::ToolCall| Part::ToolResult {
                id: call.id.clone(),
                name: call.name.clone(),
                result: ToolResult::text("done"),
            };
            let results: Vec<_> = turn.message.calls().map(result).collect();
            messages.push(turn.message);
            messages.push(if results.is_empty() {
                Message::text(Role::User, "and now?")
            } else {
                Message {
                    role: Role::Tool,
                    parts: results,
                }
            });
            let (outcome, _) = complete(&*provider, &session, &messages).await;
            seen["second"] = match outcome {
                Ok(_) => service.body(1),
                Err(error) => json!(error.to_string()),
            };
        }
    }
    seen
}

fn provider(format: Format, options: &ProviderOptions, is_new: bool) -> Box<dyn Provider> {
    if is_new {
        return Box::new(wire::remote(format, options));
    }
    use agent_rig::Remote;
    Box::new(
        match format {
            Format::OpenAiChat => Remote::openai(options),
            Format::OpenAiResponses => Remote::openai_responses(options),
            Format::Anthropic => Remote::anthropic(options),
            Format::Gemini => Remote::gemini(options),
            _ => Remote::ollama(options),
        }
        .unwrap(),
    )
}

async fn complete(
    provider: &dyn Provider,
    session: &Session,
    messages: &[Message],
) -> (Result<Turn, agent::ProviderError>, String) {
    let sent = Mutex::new(String::new());
    let send = |text: &str| sent.lock().unwrap().push_str(text);
    let token = CancellationToken::new();
    let mut request = Request::new(messages, session.tools(), &token);
    request.text_sink = Some(TextSink::new(&send));
    let outcome = provider.complete(request).await;
    (outcome, sent.into_inner().unwrap())
}

fn shown(turn: &Turn) -> Value {
    let mut shown = serde_json::to_value(turn).unwrap();
    let part = |part: &Part| match part {
        Part::Reasoning { text, opaque } => {
            let item = opaque
                .get("item")
                .or(opaque.pointer("/block/native/item"))
                .or(opaque.pointer("/block/item"));
            json!({"thought": text, "item": item, "beside": opaque.get("beside")})
        }
        Part::ToolCall(call) => {
            json!({"call": call.name, "id": call.id, "arguments": call.arguments.to_string()})
        }
        other => serde_json::to_value(other).unwrap(),
    };
    shown["message"] = turn.message.parts.iter().map(part).collect();
    shown
}

fn differences(place: &str, old: &Value, new: &Value, found: &mut Vec<(String, String)>) {
    match (old, new) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<_> = a.keys().chain(b.keys()).collect();
            for key in keys {
                let null = Value::Null;
                let (a, b) = (a.get(key).unwrap_or(&null), b.get(key).unwrap_or(&null));
                differences(&format!("{place}/{key}"), a, b, found);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (a, b) in a.iter().zip(b) {
                differences(&format!("{place}/*"), a, b, found);
            }
        }
        (a, b) if a == b => {}
        (a, b) => {
            let short = |value: &Value| value.to_string().chars().take(700).collect::<String>();
            found.push((place.to_owned(), format!("{} => {}", short(a), short(b))));
        }
    }
}

fn format(row: &Value) -> Format {
    match row["api"].as_str().unwrap() {
        "chat" => Format::OpenAiChat,
        "responses" => Format::OpenAiResponses,
        "messages" => Format::Anthropic,
        "gemini" => Format::Gemini,
        _ => Format::Ollama,
    }
}

fn session(row: &Value) -> Session {
    let mut catalog = Catalog::new();
    let offered = row["request"]["tools"].as_array().into_iter().flatten();
    let offered = offered.flat_map(|tool| match tool["functionDeclarations"].as_array() {
        Some(functions) => functions.iter().collect(),
        None => vec![tool.get("function").unwrap_or(tool)],
    });
    for tool in offered {
        let Some(name) = tool["name"].as_str() else {
            continue;
        };
        let Ok(tool) = Tool::new(name, "A recorded tool.", json!({"type": "object"})) else {
            continue;
        };
        let _ = catalog.register(
            tool.with_effects(Effects::Pure),
            async |_: ToolContext, _: Value| "done",
        );
    }
    Session::new(catalog.list(), Selection::new(), Host::new())
}

fn rows() -> Vec<(String, Value)> {
    let folder = PathBuf::from(std::env::var_os("TOOLCRIB_DATA").unwrap());
    let mut rows = Vec::new();
    for name in FILES {
        let file = std::fs::File::open(folder.join(name)).unwrap();
        let mut text = String::new();
        flate2::read::GzDecoder::new(file)
            .read_to_string(&mut text)
            .unwrap();
        for (number, line) in text.lines().enumerate() {
            let row: Value = serde_json::from_str(line).unwrap();
            let apis = ["chat", "responses", "messages", "gemini", "ollama"];
            if apis.iter().any(|api| row["api"] == *api) {
                let file = row["file"].as_str().unwrap_or_default();
                rows.push((
                    format!("{}{number} {} {file}", &name[12..15], row["api"]),
                    row,
                ));
            }
        }
    }
    rows
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "compares with the former providers"]
async fn conversations_are_written_the_same() {
    use tools::{Content, ToolCall};
    let mut sorts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let png = || Content::Image {
        data: "iVBORw0KGgo=".to_owned(),
        mime_type: "image/png".to_owned(),
    };
    let call = |id: &str, name: &str| {
        Part::ToolCall(ToolCall::new(id, name, json!({"path": "a", "n": 1.5})))
    };
    let result = |id: &str, content: Vec<Content>, is_error| Part::ToolResult {
        id: id.to_owned(),
        name: "fs.read".to_owned(),
        result: ToolResult {
            content,
            is_error,
            ..ToolResult::default()
        },
    };
    let message = |role, parts| Message { role, parts };
    let text = |text: &str| Part::Content(Content::text(text));
    let messages = vec![
        message(Role::System, vec![text("You are it.\nReally.")]),
        message(
            Role::User,
            vec![text("look"), Part::Content(png()), text("please")],
        ),
        message(
            Role::Assistant,
            vec![
                Part::Reasoning {
                    text: "Hm.".to_owned(),
                    opaque: Value::Null,
                },
                text("I look."),
                call("c1", "fs.read"),
                call("functions.read:0", "fs.read"),
                call("c3", "fs.read"),
                call("c4", "no.such"),
            ],
        ),
        message(
            Role::Tool,
            vec![
                result(
                    "c1",
                    vec![Content::text("one"), Content::text("two")],
                    false,
                ),
                result("functions.read:0", vec![Content::text("see"), png()], false),
                result("c3", vec![Content::text("bad"), png()], true),
                result("c4", vec![], true),
            ],
        ),
        message(Role::User, vec![text("go on")]),
        message(Role::Assistant, vec![text("Done."), text("Really.")]),
        message(Role::Assistant, vec![]),
        message(Role::User, vec![text(" ")]),
        message(Role::User, vec![text("thanks")]),
        message(Role::User, vec![text("and bye")]),
    ];
    let row = json!({"request": {"tools": [{"name": "fs.read"}]}});
    for format in wire::ALL {
        let models: &[&str] = match format {
            Format::OpenAiChat | Format::OpenAiResponses => &[
                "gpt-5.1",
                "gpt-4o",
                "o3-mini",
                "qwen3",
                "mistral-small",
                "kimi-k3",
            ],
            Format::Anthropic => &[
                "claude-sonnet-4-5",
                "claude-opus-5",
                "claude-opus-4-6",
                "glm-5",
            ],
            Format::Gemini => &[
                "gemini-3-flash-preview",
                "gemini-2.5-flash",
                "gemini-2.0-flash",
            ],
            _ => &["qwen3"],
        };
        for model in models {
            for dialect in [
                None,
                Some("deepseek"),
                Some("groq"),
                Some("mistral"),
                Some("openrouter"),
                Some("moonshot"),
                Some("llamacpp"),
                Some("xai"),
                Some("azure.openai"),
                Some("together"),
                Some("zai"),
            ] {
                if dialect.is_some()
                    && !matches!(format, Format::OpenAiChat | Format::OpenAiResponses)
                {
                    continue;
                }
                for (streaming, generation) in [
                    (false, agent::GenerationOptions::new()),
                    (
                        true,
                        agent::GenerationOptions::new()
                            .with_max_output_tokens(20_000)
                            .with_caching(true),
                    ),
                    (true, agent::GenerationOptions::new().with_temperature(0.5)),
                    (
                        false,
                        agent::GenerationOptions::new()
                            .with_reasoning_effort(agent::ReasoningEffort::High),
                    ),
                    (
                        false,
                        agent::GenerationOptions::new()
                            .with_reasoning_effort(agent::ReasoningEffort::Off),
                    ),
                    (
                        false,
                        agent::GenerationOptions::new()
                            .with_reasoning_effort(agent::ReasoningEffort::Minimal),
                    ),
                    (
                        false,
                        agent::GenerationOptions::new()
                            .with_reasoning_effort(agent::ReasoningEffort::Max),
                    ),
                    (
                        false,
                        agent::GenerationOptions::new().with_parallel_calls(false),
                    ),
                    (
                        false,
                        agent::GenerationOptions::new()
                            .with_tool_choice(agent::ToolChoice::Required),
                    ),
                    (
                        false,
                        agent::GenerationOptions::new()
                            .with_tool_choice(agent::ToolChoice::Tool("fs.read".to_owned())),
                    ),
                    (
                        false,
                        agent::GenerationOptions::new().with_tool_choice(agent::ToolChoice::None),
                    ),
                ] {
                    let mut seen = Vec::new();
                    for is_new in [false, true] {
                        let service = Service::new([wire::reply(
                            format,
                            streaming,
                            &[wire::Block::Text("ok")],
                        )])
                        .await;
                        let mut options = service
                            .options(model, streaming)
                            .with_base_url(&service.url)
                            .with_generation(generation.clone());
                        options.dialect = dialect.map(str::to_owned);
                        let made = if is_new {
                            use agent_models::Remote;
                            match format {
                                Format::OpenAiChat => Remote::openai(&options),
                                Format::OpenAiResponses => Remote::openai_responses(&options),
                                Format::Anthropic => Remote::anthropic(&options),
                                Format::Gemini => Remote::gemini(&options),
                                _ => Remote::ollama(&options),
                            }
                            .map(|model| Box::new(model) as Box<dyn Provider>)
                        } else {
                            use agent_rig::Remote;
                            match format {
                                Format::OpenAiChat => Remote::openai(&options),
                                Format::OpenAiResponses => Remote::openai_responses(&options),
                                Format::Anthropic => Remote::anthropic(&options),
                                Format::Gemini => Remote::gemini(&options),
                                _ => Remote::ollama(&options),
                            }
                            .map(|model| Box::new(model) as Box<dyn Provider>)
                        };
                        seen.push(match made {
                            Err(error) => json!({"error": error.to_string()}),
                            Ok(provider) => {
                                let (outcome, _) = complete(&*provider, &session(&row), &messages).await;
                                json!({"ok": outcome.map(|_| ()).map_err(|error| error.to_string()), "head": service.requests().min(1) == 1 && service.head(0).contains("very-secret"),
                                    "path": if service.requests() > 0 { service.head(0).lines().next().unwrap().to_owned() } else { String::new() },
                                    "body": if service.requests() > 0 { service.body(0) } else { Value::Null }})
                            }
                        });
                    }
                    let mut found = Vec::new();
                    differences("", &seen[0], &seen[1], &mut found);
                    for (pointer, change) in found {
                        let sort = format!("{format} {pointer}");
                        sorts
                            .entry(sort)
                            .or_default()
                            .push(format!("{model} {dialect:?} {generation:?}: {change}"));
                    }
                }
            }
        }
    }
    let mut text = String::new();
    for (pointer, rows) in &sorts {
        text += &format!("== {pointer}: {}\n", rows.len());
        for row in rows {
            text += &format!("   {row}\n");
        }
    }
    std::fs::write(std::env::var("DIFFERENCES").unwrap(), text).unwrap();
}
