//! Messages that clients of `rmcp` do not send.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::sync::Notify;
use tools::{CancellationToken, Catalog, Host, Tool, ToolContext};
use tools_mcp::server::{MethodFuture, Methods, Peer, ServerLimits, ToolServer};

use crate::server_client::{server, tool};

/// A client that writes lines of its choice.
pub(crate) struct Raw {
    write: WriteHalf<DuplexStream>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
}

impl Raw {
    /// Connects a client of revision 2025-11-25 with elicitation.
    pub(crate) async fn connect(server: &ToolServer) -> Self {
        Self::connect_with(server, "2025-11-25").await
    }

    async fn connect_with(server: &ToolServer, revision: &str) -> Self {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let (read, write) = tokio::io::split(far);
        let server = server.clone();
        tokio::spawn(async move {
            server
                .serve_streams(read, write, CancellationToken::new())
                .await
        });
        let (read, write) = tokio::io::split(near);
        let mut raw = Self {
            write,
            lines: BufReader::new(read).lines(),
        };
        let client = json!({"name": "raw", "version": "1"});
        let params = json!({"protocolVersion": revision, "capabilities": {"elicitation": {}}, "clientInfo": client});
        raw.send(&json!({"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": params}))
            .await;
        assert_eq!(raw.next().await["result"]["protocolVersion"], revision);
        raw.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .await;
        raw
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.line(&message.to_string()).await;
    }

    async fn line(&mut self, line: &str) {
        self.write
            .write_all(format!("{line}\n").as_bytes())
            .await
            .unwrap();
    }

    pub(crate) async fn next(&mut self) -> Value {
        serde_json::from_str(&self.lines.next_line().await.unwrap().unwrap()).unwrap()
    }
}

fn catalog() -> Catalog {
    let mut catalog = Catalog::new();
    let parameters = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let number = Tool::new("number", "Returns a number.", parameters)
        .unwrap()
        .with_effects(tools::Effects::Pure);
    catalog
        .register(number, async |_: ToolContext, _: Value| "ran")
        .unwrap();
    catalog
        .register(tool("any"), async |_: ToolContext, _: Value| "ran")
        .unwrap();
    catalog
}

/// Prompts alone.
struct Prompts;

impl Methods for Prompts {
    fn capabilities(&self) -> serde_json::Map<String, Value> {
        [("prompts".to_owned(), json!({}))].into_iter().collect()
    }

    fn call(&self, _: &'static str, _: Value, _: Peer) -> MethodFuture {
        Box::pin(async { Ok(json!({"messages": []})) })
    }
}

#[tokio::test]
async fn arguments_that_are_no_object_are_a_result_that_the_model_reads() {
    let mut raw = Raw::connect(&server(catalog(), Host::new())).await;
    for name in ["number", "any"] {
        for arguments in [json!("str"), json!([1]), json!(1), json!(true)] {
            let params = json!({"name": name, "arguments": arguments});
            raw.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}))
                .await;
            let answer = raw.next().await;
            let text = answer["result"]["content"][0]["text"]
                .as_str()
                .unwrap_or_default();
            assert!(
                answer["result"]["isError"] == true && text.contains("object"),
                "{answer}"
            );
        }
    }
    let params = json!({"name": "numbr", "arguments": "str"});
    raw.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}))
        .await;
    assert_eq!(raw.next().await["error"]["code"], -32602);
}

/// Returns the parameters of a request of the newer generation.
fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "a", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}

#[tokio::test]
async fn parameters_that_do_not_fit_their_method_are_invalid() {
    let plain = server(catalog(), Host::new());
    let mut with_prompts = Raw::connect(&plain.clone().with_methods(Prompts)).await;
    let mut without = Raw::connect(&plain).await;
    for (method, params, code) in [
        ("tools/call", json!({"name": 1}), -32602),
        ("tools/call", json!({"arguments": {}}), -32602),
        ("logging/setLevel", json!({"level": "loud"}), -32602),
        ("logging/setLevel", modern(json!({"level": "loud"})), -32601),
        ("tasks/get", json!({}), -32601),
        ("tasks/get", modern(json!({})), -32602),
        ("initialize", modern(json!({"protocolVersion": 1})), -32601),
        ("subscriptions/listen", json!({"notifications": 1}), -32601),
        (
            "subscriptions/listen",
            modern(json!({"notifications": 1})),
            -32602,
        ),
        ("prompts/get", json!({"name": 1}), -32602),
        ("resources/read", json!({"uri": 1}), -32601),
        ("tools/cal", json!({}), -32601),
    ] {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        with_prompts.send(&request).await;
        let answer = with_prompts.next().await;
        assert_eq!(answer["error"]["code"], code, "{method}: {answer}");
        if method == "prompts/get" {
            without.send(&request).await;
            assert_eq!(without.next().await["error"]["code"], -32601);
        }
    }
}

#[tokio::test]
async fn a_message_over_the_limit_is_answered_if_its_id_can_be_read() {
    const LIMIT: usize = 10_000;
    let mut raw = Raw::connect(&server(catalog(), Host::new()).with_limits(ServerLimits {
        max_message_bytes: LIMIT,
        ..ServerLimits::default()
    }))
    .await;
    let long = "a".repeat(5 * LIMIT);
    for (line, id) in [
        (
            format!(
                r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"{long}"}}}}"#
            ),
            json!(2),
        ),
        (
            format!(
                r#"{{"method":"tools/call","params":{{"name":"{long}","id":7}},"jsonrpc":"2.0","id":"b"}}"#
            ),
            json!("b"),
        ),
        (
            format!(r#"{{"params":"{long}", "id" : 3 , "jsonrpc":"2.0","method":"tools/call"}} "#),
            json!(3),
        ),
    ] {
        raw.line(&line).await;
        let answer = raw.next().await;
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&id, &json!(-32600)),
            "{answer}"
        );
        assert!(
            answer["error"]["message"]
                .as_str()
                .unwrap()
                .contains("10000 bytes"),
            "{answer}"
        );
    }
    for line in [
        // Answers, notifications, and text that only looks like an id.
        format!(r#"{{"jsonrpc":"2.0","id":4,"result":{{"name":"{long}"}}}}"#),
        format!(r#"{{"result":"{long}","jsonrpc":"2.0","id":4}}"#),
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/a","params":{{"name":"{long}","id":4}}}}"#
        ),
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/a","params":"{long}\"id\":4}}"}}"#),
        long.clone(),
    ] {
        raw.line(&line).await;
    }
    raw.send(&json!({"jsonrpc": "2.0", "id": 5, "method": "ping"}))
        .await;
    assert_eq!(raw.next().await["id"], 5);
    // A message of the limit is no longer than it.
    let short = json!({"jsonrpc": "2.0", "id": 6, "method": "ping"}).to_string();
    raw.line(&format!("{short}{}", " ".repeat(LIMIT - short.len() - 1)))
        .await;
    assert_eq!(raw.next().await["id"], 6);
}

fn call(id: u64, tool: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": {}}})
}

/// Returns the ids of answers, in order.
fn ids(answers: &Value) -> Vec<String> {
    let answers = answers.as_array().unwrap_or_else(|| panic!("{answers}"));
    let mut ids: Vec<_> = answers
        .iter()
        .map(|answer| answer["id"].to_string())
        .collect();
    ids.sort();
    ids
}

#[tokio::test]
async fn the_messages_of_an_array_are_answered_in_one_if_the_revision_has_batches() {
    let (mut catalog, release) = (catalog(), Arc::new(Notify::new()));
    let released = release.clone();
    let wait = move |_: ToolContext, _: Value| {
        let released = released.clone();
        async move {
            released.notified().await;
            "waited"
        }
    };
    catalog.register(tool("wait"), wait).unwrap();
    let server = server(catalog, Host::new());
    let ping = |id: Value| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let mut raw = Raw::connect_with(&server, "2025-03-26").await;
    raw.send(&json!([call(1, "any"), note, ping(json!("a, [b]"))]))
        .await;
    let answers = raw.next().await;
    assert_eq!(ids(&answers), ["\"a, [b]\"", "1"]);
    assert!(answers.to_string().contains("ran"), "{answers}");
    // An answer of a batch waits for the others, and no other message does.
    raw.send(&json!([call(2, "wait"), ping(json!(3))])).await;
    raw.send(&json!([ping(json!(4)), 7, {"id": 5}])).await;
    assert_eq!(ids(&raw.next().await), ["4", "5", "null"]);
    raw.send(&ping(json!(6))).await;
    assert_eq!(raw.next().await["id"], 6);
    release.notify_one();
    assert_eq!(ids(&raw.next().await), ["2", "3"]);
    // A cancelled request keeps back no answer.
    raw.send(&json!([call(8, "wait"), ping(json!(9))])).await;
    raw.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 8}}),
    )
    .await;
    assert_eq!(ids(&raw.next().await), ["8", "9"]);
    // Nothing answers notifications, and an error an array without messages.
    raw.send(&json!([note, note])).await;
    raw.send(&json!([])).await;
    let answer = raw.next().await;
    assert_eq!(
        (&answer["error"]["code"], &answer["id"]),
        (&json!(-32600), &Value::Null),
        "{answer}"
    );
    for revision in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let mut raw = Raw::connect_with(&server, revision).await;
        raw.send(&json!([ping(json!(1)), ping(json!(2))])).await;
        let answer = raw.next().await;
        assert_eq!(answer["error"]["code"], -32600, "{revision} {answer}");
    }
}
