//! Recorded exchanges with real services, served again in small pieces.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::service::reply::{Api, Way};
use crate::service::{Reply, Service, retry_policy};
use agent::{Driver, DriverError, ProviderError, Selection, Session};
use agent_rig::Remote;
use serde_json::{Value, json};
use tools::protocol::Message;
use tools::{Catalog, Effects, Tool, ToolContext};

type Calls = Vec<(String, Value)>;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the data folder: TOOLCRIB_DATA=..."]
async fn recorded_exchanges_are_understood_in_pieces_of_any_size() {
    let rows: Arc<[Value]> = rows().into();
    let tasks = std::thread::available_parallelism().unwrap().get();
    let tasks: Vec<_> = (0..tasks).map(|first| tokio::spawn(replay_all(rows.clone(), first, tasks))).collect();
    let mut wrong = Vec::new();
    for task in tasks {
        wrong.extend(task.await.unwrap());
    }
    let (mut seen, mut calls) = (BTreeMap::<String, usize>::new(), 0);
    for row in rows.iter() {
        calls += expected(row).len();
        let kind = format!("{} stream={} status={}", row["api"], row["stream"], row["status"]);
        *seen.entry(kind).or_default() += 1;
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(calls > 120, "the data has few calls: {calls}");
    assert!(seen.values().sum::<usize>() > 150, "the data has shrunk: {seen:?}");
}

/// Replays each row from `first` on, in steps of `step`, and returns the failures.
async fn replay_all(rows: Arc<[Value]>, first: usize, step: usize) -> Vec<String> {
    let mut wrong = Vec::new();
    for row in rows.iter().skip(first).step_by(step) {
        for piece in [1, 7, 97] {
            if let Err(reason) = replay(row, piece).await {
                wrong.push(format!("row {} in pieces of {piece}: {reason}", row["row"]));
            }
        }
    }
    wrong
}

async fn replay(row: &Value, piece: usize) -> Result<(), String> {
    let is_chat = row["api"] == "chat";
    let streaming = row["stream"] == true;
    let api = if is_chat { Api::Chat } else { Api::Messages };
    let way = if streaming { Way::Stream } else { Way::Whole };
    let status = u16::try_from(row["status"].as_u64().unwrap()).unwrap();
    let kind = row["content_type"].as_str().unwrap();
    let headers = format!("content-type: {kind}\r\n");
    let body = row["response"].as_str().unwrap().to_owned();
    let service = Service::new([Reply::Answer { status, headers, body, piece }, api.answer(way)]).await;
    let model = row["request"]["model"].as_str().unwrap_or("unnamed");
    let mut once = retry_policy();
    once.max_retries = 0;
    let options = service.options(model, streaming).with_retry_policy(once);
    let provider = match is_chat {
        true => Remote::openai(&options.with_base_url(format!("{}/v1", service.url))),
        false => Remote::anthropic(&options.with_base_url(&service.url)),
    };
    let provider = provider.unwrap();

    let executed = Arc::new(Mutex::new(Calls::new()));
    let catalog = catalog(row, &executed);
    let mut session = Session::new(catalog.list(), Selection::new(), ToolContext::new());
    let outcome = Driver::new(Arc::new(provider)).run(&mut session, "go").await;
    if status >= 400 {
        return match outcome {
            Err(DriverError::Provider(ProviderError::Status { status: actual, .. })) if actual == status => Ok(()),
            other => Err(format!("status {status} became {other:?}")),
        };
    }
    outcome.map_err(|error| error.to_string())?;
    let expected = expected(row);
    let called: Calls = session.messages().iter().flat_map(Message::calls).map(pair).collect();
    if called != expected {
        return Err(format!("called {called:?}, expected {expected:?}"));
    }
    let executed = executed.lock().unwrap().clone();
    match sorted(executed.clone()) == sorted(expected.clone()) {
        true => Ok(()),
        false => Err(format!("executed {executed:?}, expected {expected:?}")),
    }
}

fn pair(call: &tools::ToolCall) -> (String, Value) {
    (call.name.clone(), call.arguments.value().clone())
}

fn expected(row: &Value) -> Calls {
    let calls = row["expected_tool_calls"].as_array().into_iter().flatten();
    calls.map(|call| (call["name"].as_str().unwrap().to_owned(), call["arguments"].clone())).collect()
}

fn sorted(mut calls: Calls) -> Vec<String> {
    calls.sort_by_key(|call| format!("{call:?}"));
    calls.into_iter().map(|call| format!("{call:?}")).collect()
}

/// The tools that the row names. Each records its calls.
fn catalog(row: &Value, executed: &Arc<Mutex<Calls>>) -> Catalog {
    let mut catalog = Catalog::new();
    let offered = row["request"]["tools"].as_array().into_iter().flatten();
    for tool in offered {
        let tool = tool.get("function").unwrap_or(tool);
        let Some(name) = tool["name"].as_str().map(str::to_owned) else { continue };
        let definition = Tool::new(&name, "A recorded tool.", json!({"type": "object"})).unwrap();
        let executed = executed.clone();
        let handler = move |_: ToolContext, arguments: Value| {
            executed.lock().unwrap().push((name.clone(), arguments));
            async { "done".to_owned() }
        };
        catalog.register(definition.with_effects(Effects::Pure), handler).unwrap();
    }
    catalog
}

fn rows() -> Vec<Value> {
    let folder = PathBuf::from(std::env::var_os("TOOLCRIB_DATA").expect("TOOLCRIB_DATA names the data folder"));
    let file = std::fs::File::open(folder.join("llm_traffic_rubyllm.jsonl.gz")).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    rows.filter(|row| row["api"] == "chat" || row["api"] == "messages").collect()
}
