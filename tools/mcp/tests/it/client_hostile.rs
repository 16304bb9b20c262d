//! Servers that break the rules.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tools::ToolErrorKind;
use tools_mcp::client::{Import, ImportError, Refusal, Status};

use crate::scripted::{cx, imported};

/// The lines that a server writes as an answer to a message.
type Script = dyn Fn(&Value) -> Vec<String> + Send + Sync;

/// A server that answers each line of the client with lines of a script. An empty line ends the connection.
pub(crate) fn raw(script: impl Fn(&Value) -> Vec<String> + Send + Sync + 'static) -> Import {
    let script: Arc<Script> = Arc::new(script);
    let open = move || {
        let script = script.clone();
        async move {
            let (ours, theirs) = tokio::io::duplex(1024 * 1024);
            tokio::spawn(async move {
                let (read, mut write) = tokio::io::split(theirs);
                let mut lines = BufReader::new(read).lines();
                while let Ok(Some(line)) = lines.next_line().await {
                    for answer in script(&serde_json::from_str(&line).unwrap()) {
                        if answer.is_empty()
                            || write.write_all((answer + "\n").as_bytes()).await.is_err()
                        {
                            return;
                        }
                    }
                }
            });
            Ok(tokio::io::split(ours))
        }
    };
    Import::from_streams("s".parse().unwrap(), open)
}

pub(crate) fn result(message: &Value, result: Value) -> String {
    json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string()
}

/// Answers the handshake of revision 2025-11-25 and the list of tools, and leaves calls to a script.
pub(crate) fn legacy(
    tools: Value,
    call: impl Fn(&Value) -> Vec<String> + Send + Sync + 'static,
) -> Import {
    raw(move |message| match message["method"].as_str().unwrap() {
        "server/discover" => {
            let error = json!({"code": -32601, "message": "Method not found"});
            vec![json!({"jsonrpc": "2.0", "id": message["id"], "error": error}).to_string()]
        }
        "initialize" => vec![result(message, initialized())],
        "tools/list" => vec![result(message, json!({"tools": tools}))],
        "tools/call" => call(message),
        _ => Vec::new(),
    })
}

fn initialized() -> Value {
    let info = json!({"name": "raw", "version": "1"});
    json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info})
}

pub(crate) fn done(message: &Value) -> Vec<String> {
    vec![result(
        message,
        json!({"content": [{"type": "text", "text": "done"}]}),
    )]
}

fn a_tool() -> Value {
    json!([{"name": "t", "inputSchema": {"type": "object"}}])
}

#[tokio::test]
async fn an_old_server_that_knows_no_discovery_is_imported() {
    let (catalog, _servers, imported) = imported(legacy(a_tool(), done)).await;
    assert_eq!(
        imported.status(),
        Status::Connected {
            protocol: "2025-11-25".to_owned()
        }
    );
    assert_eq!(
        catalog
            .execute(&cx(), "mcp:s/t", json!({}))
            .await
            .unwrap()
            .to_text(),
        "done"
    );
}

#[tokio::test]
async fn an_old_server_that_ends_at_an_unknown_message_gets_another_connection() {
    let import = raw(|message| match message["method"].as_str().unwrap() {
        "server/discover" => vec![String::new()],
        "initialize" => vec![result(message, initialized())],
        "tools/list" => vec![result(message, json!({"tools": a_tool()}))],
        _ => Vec::new(),
    });
    let (catalog, ..) = imported(import).await;
    drop(catalog);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_is_an_error() {
    let servers = tools_mcp::client::Servers::new(Default::default());
    let limit = Duration::from_secs(25);
    let silent = servers
        .import({
            let mut import = raw(|_| Vec::new());
            import.connect_timeout = limit;
            import
        })
        .unwrap();
    let error = silent.ready().await.unwrap_err();
    assert_eq!(
        error,
        ImportError::Timeout {
            name: "s".parse().unwrap(),
            limit,
            advice: "see whether it runs".to_owned()
        }
    );
}

#[tokio::test]
async fn a_server_that_speaks_something_else_is_an_error() {
    let servers = tools_mcp::client::Servers::new(Default::default());
    let import = raw(|_| vec!["HTTP/1.1 400 Bad Request".to_owned(), String::new()]);
    let error = servers.import(import).unwrap().ready().await.unwrap_err();
    assert!(matches!(error, ImportError::Handshake { .. }), "{error}");
}

#[tokio::test]
async fn a_malformed_definition_affects_no_other() {
    let tools = json!([
        {"name": "a", "inputSchema": {"type": "object"}},
        {"name": "b\u{202e}"},
        {"name": "c", "inputSchema": []},
        {"inputSchema": {}},
        "d",
        {"name": "e", "inputSchema": {}, "icons": [{"src": "x", "theme": "purple"}]},
        {"name": "", "inputSchema": {"type": "object"}},
    ]);
    let (catalog, _servers, imported) = imported(legacy(tools, done)).await;
    let report = imported.ready().await.unwrap();
    assert_eq!(
        report.tools,
        [
            "mcp:s/a",
            "mcp:s/b%E2%80%AE",
            "mcp:s/c",
            "mcp:s/e",
            "mcp:s/%-1"
        ]
    );
    assert_eq!(report.notes.len(), 3, "{report:?}");
    assert!(
        report
            .refused
            .iter()
            .all(|refused| matches!(refused.refusal, Refusal::Malformed { .. }))
    );
    let refused: Vec<_> = report
        .refused
        .iter()
        .map(|refused| refused.tool.as_str())
        .collect();
    assert_eq!(refused, ["", ""]);
    assert_eq!(catalog.names().len(), 5);
}

#[tokio::test]
async fn a_list_of_a_hundred_thousand_tools_is_cut() {
    let tools: Vec<_> = (0..100_000)
        .map(|number| json!({"name": format!("t{number}"), "inputSchema": {"type": "object"}}))
        .collect();
    let (catalog, _servers, imported) = imported(legacy(tools.into(), done)).await;
    let report = imported.ready().await.unwrap();
    assert_eq!(
        report.cut.as_deref(),
        Some("the list ended after 20000 items")
    );
    assert_eq!(
        (report.tools.len(), catalog.names().len()),
        (20_000, 20_000)
    );
}

#[tokio::test]
async fn a_result_of_64_mebibytes_is_dropped_and_the_next_call_is_answered() {
    let import = legacy(
        a_tool(),
        |message| match message["params"]["arguments"]["big"].as_bool() {
            Some(true) => {
                let text = "x".repeat(64 * 1024 * 1024);
                vec![result(
                    message,
                    json!({"content": [{"type": "text", "text": text}]}),
                )]
            }
            _ => done(message),
        },
    );
    let (catalog, _servers, _) = imported(import).await;
    let cx = cx().with_timeout(Duration::from_secs(5));
    let error = catalog
        .execute(&cx, "mcp:s/t", json!({"big": true}))
        .await
        .unwrap_err();
    assert!(
        matches!(error.kind(), ToolErrorKind::Timeout { .. }),
        "{error}"
    );
    assert_eq!(
        catalog
            .execute(&cx, "mcp:s/t", json!({}))
            .await
            .unwrap()
            .to_text(),
        "done"
    );
}

#[tokio::test]
async fn answers_that_nobody_waits_for_are_dropped() {
    let import = legacy(a_tool(), |message| {
        let mut answers = vec![
            result(
                &json!({"id": 4711}),
                json!({"content": [{"type": "text", "text": "of another"}]}),
            ),
            "{\"jsonrpc\": \"2.0\", \"id\": null, \"error\": {\"code\": -1, \"message\": \"x\"}}"
                .to_owned(),
            "no JSON".to_owned(),
        ];
        answers.extend(done(message));
        // Twice the same id.
        answers.push(result(
            message,
            json!({"content": [{"type": "text", "text": "second"}]}),
        ));
        answers
    });
    let (catalog, _servers, _) = imported(import).await;
    for _ in 0..3 {
        assert_eq!(
            catalog
                .execute(&cx(), "mcp:s/t", json!({}))
                .await
                .unwrap()
                .to_text(),
            "done"
        );
    }
}

#[tokio::test]
async fn a_result_of_another_kind_is_shown_as_it_is() {
    for (other, text) in [
        (json!({"prompts": []}), r#"{"prompts":[]}"#),
        (json!({"content": "text"}), "text"),
        (json!([1]), "[1]"),
        (
            json!({"content": [{"type": "video"}]}),
            r#"{"type":"video"}"#,
        ),
    ] {
        let import = legacy(a_tool(), move |message| {
            vec![result(message, other.clone())]
        });
        let (catalog, _servers, _) = imported(import).await;
        let read = catalog
            .execute(&cx(), "mcp:s/t", json!({}))
            .await
            .unwrap()
            .to_text();
        assert!(read.contains(text), "{read}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_read_its_answers_waits() {
    const PINGS: usize = 20_000;
    let (stuck, written) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (stalls, lines) = (stuck.clone(), written.clone());
    let open = move || {
        let (stalls, written) = (stalls.clone(), lines.clone());
        async move {
            let (ours, theirs) = tokio::io::duplex(16 * 1024);
            tokio::spawn(async move {
                let (read, mut write) = tokio::io::split(theirs);
                let mut lines = BufReader::new(read).lines();
                while let Ok(Some(line)) = lines.next_line().await {
                    let message: Value = serde_json::from_str(&line).unwrap();
                    if message["method"] == "tools/call" {
                        for number in 0..PINGS {
                            let ping = json!({"jsonrpc": "2.0", "id": number, "method": "ping"})
                                .to_string()
                                + "\n";
                            let mut ping = ping.as_bytes();
                            while !ping.is_empty() {
                                // The clock stands still while anything can go on.
                                match tokio::time::timeout(
                                    Duration::from_secs(1),
                                    write.write(ping),
                                )
                                .await
                                {
                                    Ok(length) => ping = &ping[length.unwrap()..],
                                    Err(_) => {
                                        stalls.compare_exchange(0, number, SeqCst, SeqCst).ok();
                                        lines.next_line().await.unwrap();
                                    }
                                }
                            }
                        }
                        written.store(PINGS, SeqCst);
                    }
                    for answer in answered(&message) {
                        write.write_all((answer + "\n").as_bytes()).await.unwrap();
                    }
                }
            });
            Ok(tokio::io::split(ours))
        }
    };
    let import = Import::from_streams("s".parse().unwrap(), open);
    let (catalog, _servers, _) = imported(import).await;
    let result = catalog
        .execute(
            &cx().with_timeout(Duration::from_secs(1_000_000)),
            "mcp:s/t",
            json!({}),
        )
        .await;
    assert_eq!(result.unwrap().to_text(), "done");
    let stuck = stuck.load(SeqCst);
    assert!(stuck > 0 && stuck < 2_000, "{stuck}");
    assert_eq!(written.load(SeqCst), PINGS);
}

/// Answers as [`legacy`] does.
fn answered(message: &Value) -> Vec<String> {
    match message["method"].as_str().unwrap_or_default() {
        "server/discover" => {
            let error = json!({"code": -32601, "message": "Method not found"});
            vec![json!({"jsonrpc": "2.0", "id": message["id"], "error": error}).to_string()]
        }
        "initialize" => vec![result(message, initialized())],
        "tools/list" => vec![result(message, json!({"tools": a_tool()}))],
        "tools/call" => done(message),
        _ => Vec::new(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_of_slow_pages_without_end_is_cut_in_time() {
    let pages = std::sync::atomic::AtomicUsize::new(0);
    let open = move || {
        let first = pages.fetch_add(1000, std::sync::atomic::Ordering::Relaxed);
        async move {
            let (ours, theirs) = tokio::io::duplex(1024 * 1024);
            tokio::spawn(async move {
                let (read, mut write) = tokio::io::split(theirs);
                let mut lines = BufReader::new(read).lines();
                let mut page = first;
                while let Ok(Some(line)) = lines.next_line().await {
                    let message: Value = serde_json::from_str(&line).unwrap();
                    let answer = match message["method"].as_str().unwrap() {
                        "initialize" => result(&message, initialized()),
                        "tools/list" => {
                            tokio::time::sleep(Duration::from_secs(7)).await;
                            page += 1;
                            let tool = json!({"name": format!("t{page}"), "inputSchema": {"type": "object"}});
                            result(
                                &message,
                                json!({"tools": [tool], "nextCursor": page.to_string()}),
                            )
                        }
                        "server/discover" => {
                            let error = json!({"code": -32601, "message": "Method not found"});
                            json!({"jsonrpc": "2.0", "id": message["id"], "error": error})
                                .to_string()
                        }
                        _ => continue,
                    };
                    write.write_all((answer + "\n").as_bytes()).await.unwrap();
                }
            });
            Ok(tokio::io::split(ours))
        }
    };
    let import = Import::from_streams("s".parse().unwrap(), open);
    let (_catalog, _servers, imported) = imported(import).await;
    let report = imported.ready().await.unwrap();
    assert_eq!(
        (report.tools.len(), report.cut.as_deref()),
        (8, Some("the list ended after 60s"))
    );
}
