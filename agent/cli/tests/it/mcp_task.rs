//! Tasks of an MCP server that outlive the program.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tools_testkit::http::{Received, TestServer};

use crate::Crib;
use crate::loopback::Loopback;
use crate::mcp::write_user;

/// A server whose tool goes on as a task, which ends when the test says so.
#[derive(Default)]
struct Slow {
    calls: AtomicUsize,
    is_done: AtomicBool,
    is_forgotten: AtomicBool,
    cancelled: Mutex<Vec<String>>,
}

impl Slow {
    fn answer(&self, request: &Received) -> Vec<u8> {
        let Ok(message) = serde_json::from_slice::<Value>(&request.body) else {
            return TestServer::head("405 Method Not Allowed", &[]);
        };
        if message["id"].is_null() {
            return TestServer::head("202 Accepted", &[]);
        }
        let answer = match self.result(&message) {
            Ok(result) => json!({"jsonrpc": "2.0", "id": message["id"], "result": result}),
            Err(error) => json!({"jsonrpc": "2.0", "id": message["id"], "error": error}),
        };
        TestServer::ok("application/json", answer.to_string())
    }

    fn result(&self, message: &Value) -> Result<Value, Value> {
        let task = |status: &str| {
            json!({
                "taskId": "the-task", "status": status, "createdAt": "2026-07-28T00:00:00Z",
                "lastUpdatedAt": "2026-07-28T00:00:00Z", "ttlMs": null, "pollIntervalMs": 100,
            })
        };
        Ok(match message["method"].as_str().unwrap() {
            "server/discover" => json!({
                "resultType": "complete", "supportedVersions": ["2026-07-28"], "ttlMs": 0, "cacheScope": "private",
                "capabilities": {"tools": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}},
                "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "slow", "version": "1"}},
            }),
            "tools/list" => json!({
                "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
                "tools": [{"name": "dig", "description": "Digs.", "inputSchema": {"type": "object"}}],
            }),
            "tools/call" => {
                self.calls.fetch_add(1, Ordering::SeqCst);
                let mut created = task("working");
                created["resultType"] = "task".into();
                created
            }
            "tasks/get" if self.is_forgotten.load(Ordering::SeqCst) => {
                return Err(json!({"code": -32602, "message": "unknown task"}));
            }
            "tasks/get" => {
                let is_done = self.is_done.load(Ordering::SeqCst);
                let mut state = task(if is_done { "completed" } else { "working" });
                state["resultType"] = "complete".into();
                state["result"] = json!({"content": [{"type": "text", "text": "a deep hole"}]});
                state
            }
            "tasks/cancel" => {
                self.cancelled
                    .lock()
                    .unwrap()
                    .push(message["params"]["taskId"].to_string());
                json!({"resultType": "complete"})
            }
            other => return Err(json!({"code": -32601, "message": format!("no method {other}")})),
        })
    }
}

fn served() -> (Arc<Slow>, Loopback) {
    let slow = Arc::new(Slow::default());
    let served = slow.clone();
    (slow, Loopback::new(move |request| served.answer(request)))
}

fn configure(crib: &Crib, server: &Loopback) {
    let url = format!("http://{}/mcp", server.address());
    write_user(
        crib,
        &json!({"mcpServers": {"slow": {"type": "http", "url": url}}}),
    );
}

/// Starts a session whose task goes on, and kills the program while the model waits for the result. Returns the script.
fn killed(crib: &Crib) -> String {
    let turns = json!([
        {"calls": [{"name": "mcp:slow/dig", "arguments": {}}]},
        {"calls": [{"name": "task.result", "arguments": {"task": "t1", "wait": 300}}]},
        {"text": "So deep."},
    ]);
    let script = crib.write("dig.json", &turns.to_string());
    let run = [
        "run",
        "dig",
        "--script",
        &script,
        "--allow",
        "world:write:mcp:slow/*",
        "--output",
        "stream-json",
    ];
    let mut child = crib
        .command(&run)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut events = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let started = events
        .by_ref()
        .find(|event| event["type"] == "result")
        .unwrap();
    assert_eq!(started["task"], "t1", "{started}");
    assert!(events.any(|event| event["type"] == "call_started" && event["name"] == "task.result"));
    child.kill().unwrap();
    child.wait().unwrap();
    script
}

/// Continues the session, and returns the last result.
fn resumed(crib: &Crib, script: &str) -> String {
    let run = [
        "run",
        "--resume",
        "--script",
        script,
        "--allow",
        "world:write:mcp:slow/*",
        "--output",
        "stream-json",
    ];
    let events = crib.run(&run).expect(0).documents();
    let results: Vec<_> = events
        .iter()
        .filter(|event| event["type"] == "result")
        .collect();
    assert_eq!(results.len(), 1, "{events:?}");
    results[0]["content"].to_string()
}

#[test]
fn the_task_of_a_killed_session_is_read_when_the_session_goes_on() {
    let (crib, (slow, server)) = (Crib::new(), served());
    configure(&crib, &server);
    let script = killed(&crib);
    slow.is_done.store(true, Ordering::SeqCst);
    let result = resumed(&crib, &script);
    assert!(
        result.contains("[t1: completed]") && result.contains("a deep hole"),
        "{result}"
    );
    assert_eq!(
        (
            slow.calls.load(Ordering::SeqCst),
            slow.cancelled.lock().unwrap().len()
        ),
        (1, 0)
    );
    let session = crib.run(&["sessions", "--json"]).expect(0).document()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let files = || {
        std::fs::read_dir(crib.dir.path().join("state/toolcrib/sessions"))
            .unwrap()
            .count()
    };
    assert!(files() > 0);
    crib.run(&["sessions", "erase", &session]).expect(0);
    assert_eq!(files(), 0, "the tasks go with their session");
}

#[test]
fn a_task_that_is_gone_says_so_when_its_session_goes_on() {
    for (is_removed, reason) in [
        (false, "does not know the task any more"),
        (true, "is not one of this session any more"),
    ] {
        let (crib, (slow, server)) = (Crib::new(), served());
        configure(&crib, &server);
        let script = killed(&crib);
        slow.is_forgotten.store(true, Ordering::SeqCst);
        if is_removed {
            crib.run(&["mcp", "remove", "slow"]).expect(0);
        }
        let result = resumed(&crib, &script);
        assert!(
            result.contains("the task is lost") && result.contains(reason),
            "{result}"
        );
    }
}
