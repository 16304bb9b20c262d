//! Servers that are careless, and mean no harm.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rmcp::model::{CallToolResult, ProgressNotificationParam};
use serde_json::{Value, json};
use tools::{Effects, Host, SharedCatalog, Tool, ToolErrorKind};
use tools_mcp::client::{Import, Report, Servers};

use crate::client_hostile::{done, legacy, raw, result};
use crate::scripted::{BOTH, MODERN, Scripted, cx, defined, imported, tool};

fn a_tool() -> Value {
    json!([{"name": "t", "description": "Does it.", "inputSchema": {"type": "object"}}])
}

/// Returns the answer to `initialize` of a server that has tools.
fn introduction(message: &Value) -> String {
    let info = json!({"name": "s", "version": "1"});
    result(
        message,
        json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}),
    )
}

/// Calls the tool of a server that answers with this text, in which `ID` stands for the id.
async fn called(answer: &'static str) -> Result<tools::ToolResult, tools::ToolError> {
    let script = move |message: &Value| vec![answer.replace("ID", &message["id"].to_string())];
    let (catalog, _servers, _) = imported(legacy(a_tool(), script)).await;
    catalog.execute(&cx(), "mcp:s/t", json!({})).await
}

#[tokio::test]
async fn an_answer_without_the_id_of_its_request_ends_the_call_at_once_and_says_why() {
    for (answer, word) in [
        (
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request"}}"#,
            "Bad Request",
        ),
        (
            r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"no","data":"more"}}"#,
            "no (more)",
        ),
        (
            r#"{"jsonrpc":"2.0","id":4711,"result":{"content":[]}}"#,
            "4711",
        ),
    ] {
        let start = Instant::now();
        let error = called(answer).await.unwrap_err();
        assert!(
            matches!(error.kind(), ToolErrorKind::ExecutionFailed { .. }),
            "{error}"
        );
        assert!(
            error.to_string().contains(word) && start.elapsed() < Duration::from_secs(10),
            "{error}"
        );
    }
    let text = called(
        r#"{"jsonrpc":"2.0","id":"ID","result":{"content":[{"type":"text","text":"as text"}]}}"#,
    )
    .await;
    assert_eq!(text.unwrap().to_text(), "as text");
}

#[tokio::test]
async fn an_answer_without_an_id_ends_each_open_call_that_gets_no_other_one() {
    // Each call is answered without its id, and the first one afterwards with it.
    let first = Mutex::new(None);
    let script = move |message: &Value| {
        let stray =
            json!({"id": null, "jsonrpc": "2.0", "error": {"code": 1, "message": "Bad Request"}});
        match first.lock().unwrap().replace(message.clone()) {
            None => vec![stray.to_string()],
            Some(first) => [vec![stray.to_string()], done(&first)].concat(),
        }
    };
    let review = |tool: Tool| Ok(tool.with_effects(Effects::Pure));
    let mut import = legacy(a_tool(), script);
    import.review = Some(Arc::new(review));
    let (catalog, _servers, _) = imported(import).await;
    let (start, cx) = (Instant::now(), cx());
    let call = || catalog.execute(&cx, "mcp:s/t", json!({}));
    let both = <[_; 2]>::from(tokio::join!(call(), call()));
    assert!(start.elapsed() < Duration::from_secs(8));
    let (answered, ended): (Vec<_>, Vec<_>) = both.into_iter().partition(Result::is_ok);
    assert_eq!((answered.len(), ended.len()), (1, 1), "{ended:?}");
    let error = ended[0].as_ref().unwrap_err();
    assert!(
        error.to_string().contains("Bad Request")
            && matches!(error.kind(), ToolErrorKind::ExecutionFailed { .. }),
        "{error}"
    );
}

#[tokio::test]
async fn a_result_with_a_defective_block_keeps_the_others() {
    let answer = r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"useful"},{"type":"json","json":{"a":1}}]}}"#;
    let text = called(answer).await.unwrap().to_text();
    assert!(
        text.starts_with("useful\n") && text.contains(r#"{"a":1}"#),
        "{text}"
    );
    let other = called(r#"{"jsonrpc":"2.0","id":ID,"result":{"items":[1]}}"#)
        .await
        .unwrap();
    assert_eq!(other.to_text(), r#"{"items":[1]}"#);
}

#[tokio::test]
async fn a_prompt_and_a_resource_with_a_defective_block_keep_the_others() {
    let server = raw(|message| {
        let offered = json!({"tools": {}, "prompts": {}, "resources": {}});
        let info = json!({"name": "s", "version": "1"});
        let answer = match message["method"].as_str().unwrap() {
            "initialize" => {
                json!({"protocolVersion": "2025-11-25", "capabilities": offered, "serverInfo": info})
            }
            "tools/list" => json!({"tools": a_tool()}),
            "prompts/get" => json!({"description": "d", "messages": [
                {"role": "user", "content": {"type": "text", "text": "useful"}},
                {"role": "user", "content": [{"type": "json", "json": {"a": 1}}, {"type": "text", "text": "more"}]},
            ]}),
            "resources/read" => {
                json!({"contents": [{"uri": "a:1", "text": "useful"}, {"text": "no URI"}, {"uri": "a:2"}]})
            }
            _ => {
                let error = json!({"code": -32601, "message": "no"});
                return vec![
                    json!({"jsonrpc": "2.0", "id": message["id"], "error": error}).to_string(),
                ];
            }
        };
        if message.get("id").is_some() {
            vec![result(message, answer)]
        } else {
            Vec::new()
        }
    });
    let (_catalog, _servers, imported) = imported(server).await;
    imported.ready().await.unwrap();
    let messages = imported.prompt(&Host::new(), "p", []).await.unwrap();
    let texts: Vec<_> = messages
        .iter()
        .filter_map(|message| message.content.as_text())
        .collect();
    assert!(
        texts[0] == "useful" && texts[1].contains(r#"{"a":1}"#) && texts[2] == "more",
        "{texts:?}"
    );
    let parts = imported.read_resource(&cx(), "a:1").await.unwrap();
    assert!(
        parts.len() == 3 && parts[2].as_text().unwrap().contains("a:2"),
        "{parts:?}"
    );
}

#[tokio::test]
async fn a_structured_value_beside_a_text_reaches_the_model() {
    let answer = r#"{"jsonrpc":"2.0","id":ID,"result":{"isError":true,"content":[{"type":"text","text":"needs a person"}],"structuredContent":{"url":"u"}}}"#;
    let result = called(answer).await.unwrap();
    assert!(result.is_error);
    assert_eq!(result.to_text(), "needs a person\n{\"url\":\"u\"}");
}

/// Returns a server with this answer to the request for its tools.
fn listing(answer: Value) -> Import {
    raw(move |message| match message["method"].as_str().unwrap() {
        "initialize" => vec![introduction(message)],
        "tools/list" if !answer.is_null() => vec![result(message, answer.clone())],
        "tools/call" => vec![result(message, json!({"content": "done"}))],
        _ if message.get("id").is_some() => {
            let error = json!({"code": -32601, "message": "no"});
            vec![json!({"jsonrpc": "2.0", "id": message["id"], "error": error}).to_string()]
        }
        _ => Vec::new(),
    })
}

#[tokio::test]
async fn the_tools_of_a_list_in_another_form_are_offered() {
    let definition = json!({"description": "d", "inputSchema": true});
    let mut named = definition.clone();
    named["name"] = json!("t");
    for answer in [
        json!([named]),
        json!({"tools": {"t": definition}}),
        json!({"tools": [named], "nextCursor": null}),
    ] {
        let (catalog, _servers, _) = imported(listing(answer)).await;
        assert_eq!(
            catalog
                .execute(&cx(), "mcp:s/t", json!({"any": 1}))
                .await
                .unwrap()
                .to_text(),
            "done"
        );
    }
}

#[tokio::test]
async fn an_answer_without_a_list_is_an_error_that_says_so_and_a_server_that_knows_none_has_no_tools()
 {
    for answer in [json!({"tools": null}), json!({}), json!("none")] {
        let servers = Servers::new(SharedCatalog::new());
        let error = servers
            .import(listing(answer))
            .unwrap()
            .ready()
            .await
            .unwrap_err()
            .to_string();
        assert!(error.contains("no list `tools`"), "{error}");
    }
    let (_, _servers, imported) = imported(listing(Value::Null)).await;
    let report = imported.ready().await.unwrap();
    assert!(
        report.tools.is_empty() && report.notes.len() == 1,
        "{report:?}"
    );
}

/// Imports a server with these definitions, and returns the report.
async fn listed(tools: Value) -> (SharedCatalog, Servers, Report) {
    let (catalog, servers, imported) = imported(legacy(tools, done)).await;
    let report = imported.ready().await.unwrap();
    (catalog, servers, Report::clone(&report))
}

#[tokio::test]
async fn a_tool_with_a_rule_that_cannot_be_used_is_offered_without_it() {
    let definition = |name: &str, schema: Value| json!({"name": name, "description": "d", "inputSchema": schema});
    let to = |schema: Value| json!({"type": "object", "properties": {"to": schema}});
    let (catalog, _servers, report) = listed(json!([
        definition("pattern", to(json!({"type": "string", "pattern": r"^[\w-.]+@x$"}))),
        definition("required", json!({"type": "object", "required": null})),
        definition("enum", to(json!({"enum": []}))),
        definition("itself", json!({"type": "object", "properties": {"to": {}}, "allOf": [{"$ref": "#"}]})),
        definition("dialect", json!({"type": "object", "$schema": "https://example.org/mine"})),
        {"name": "hints", "description": "d", "inputSchema": {"type": "object"}, "annotations": "none"},
        {"name": "output", "description": "d", "inputSchema": {"type": "object"}, "outputSchema": {"type": "dict"}},
    ]))
    .await;
    assert!(report.refused.is_empty(), "{report:?}");
    assert_eq!(
        (report.tools.len(), report.notes.len()),
        (7, 7),
        "{report:?}"
    );
    assert!(
        report
            .notes
            .iter()
            .any(|note| note.contains("/properties/to/pattern")),
        "{report:?}"
    );
    assert_eq!(
        catalog.get("mcp:s/pattern").unwrap().tool().parameters["properties"]["to"],
        json!({"type": "string"})
    );
    for tool in ["pattern", "enum", "itself"] {
        let called = catalog.execute(&cx(), &format!("mcp:s/{tool}"), json!({"to": "a"}));
        assert!(called.await.is_ok(), "{tool}");
    }
    assert!(
        catalog
            .execute(&cx(), "mcp:s/pattern", json!({"to": [1]}))
            .await
            .is_err()
    );
}

#[tokio::test]
async fn null_is_passed_on_for_a_required_argument_that_is_nullable() {
    let schema = json!({
        "type": "object", "required": ["note", "kind", "level", "plain"],
        "$defs": {"kind": {"type": "object", "properties": {"a": {"type": "string"}}}},
        "properties": {
            "note": {"type": "string", "nullable": true}, "kind": {"$ref": "#/$defs/kind", "nullable": true},
            "level": {"type": "string", "enum": ["a"], "nullable": true}, "plain": {"type": "string"},
        },
    });
    let tools = json!([{"name": "t", "description": "d", "inputSchema": schema}]);
    let echo = |message: &Value| {
        let text = message["params"]["arguments"].to_string();
        vec![result(
            message,
            json!({"content": [{"type": "text", "text": text}]}),
        )]
    };
    let (catalog, _servers, _) = imported(legacy(tools, echo)).await;
    let given = json!({"note": null, "kind": null, "level": null, "plain": "a"});
    let called = catalog
        .execute(&cx(), "mcp:s/t", given.clone())
        .await
        .unwrap();
    let sent: Value = serde_json::from_str(&called.to_text()).unwrap();
    assert_eq!(sent, given);
    for wrong in [
        ("plain", json!(null)),
        ("level", json!("b")),
        ("note", json!([1])),
    ] {
        let mut given = given.clone();
        given[wrong.0] = wrong.1;
        assert!(catalog.execute(&cx(), "mcp:s/t", given).await.is_err());
    }
}

#[tokio::test]
async fn the_tools_of_a_repeated_page_count_once_with_a_warning() {
    let import = raw(|message| match message["method"].as_str().unwrap() {
        "tools/list" => vec![result(
            message,
            json!({"tools": a_tool(), "nextCursor": ""}),
        )],
        "initialize" => {
            let info = json!({"name": "raw", "version": "1"});
            let capabilities = json!({"tools": {}});
            vec![result(
                message,
                json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info}),
            )]
        }
        "server/discover" => {
            let error = json!({"code": -32601, "message": "Method not found"});
            vec![json!({"jsonrpc": "2.0", "id": message["id"], "error": error}).to_string()]
        }
        _ => Vec::new(),
    });
    let (_, _servers, imported) = imported(import).await;
    let report = imported.ready().await.unwrap();
    assert_eq!(
        (&report.tools[..], report.cut.as_deref()),
        (
            &["mcp:s/t".parse().unwrap()][..],
            Some("the list ended where its pages repeat")
        )
    );
    assert_eq!(report.notes.len(), 1, "{report:?}");
}

#[tokio::test]
async fn a_required_argument_with_a_default_may_be_left_out_and_is_sent() {
    let schema = json!({
        "type": "object", "properties": {"type": {"type": "string", "default": "png"}, "n": {"type": "integer"}}, "required": ["type", "n"],
    });
    let definition = defined(json!({"name": "shot", "description": "d", "inputSchema": schema}));
    let (catalog, _servers, _) =
        imported(Scripted::new(MODERN, vec![definition]).import("s")).await;
    let result = catalog
        .execute(&cx(), "mcp:s/shot", json!({"n": 1}))
        .await
        .unwrap();
    assert_eq!(
        result.to_text(),
        r#"{"arguments":{"n":1,"type":"png"},"tool":"shot"}"#
    );
    assert!(
        catalog
            .execute(&cx(), "mcp:s/shot", json!({}))
            .await
            .is_err()
    );
}

/// A server whose call lasts, with or without progress each second.
fn lasting(seconds: u64, has_progress: bool) -> Scripted {
    Scripted::new(MODERN, vec![tool("t")]).with_call(move |_, context| async move {
        let token = context.meta.get_progress_token().unwrap();
        for second in 0..seconds {
            tokio::time::sleep(Duration::from_secs(1)).await;
            if has_progress {
                let progress = ProgressNotificationParam::new(token.clone(), second as f64);
                context.peer.notify_progress(progress).await.unwrap();
            }
        }
        Ok(CallToolResult::success(Vec::new()).into())
    })
}

#[tokio::test(start_paused = true)]
async fn progress_renews_the_time_limit_of_a_call_up_to_a_maximum() {
    let call = async |seconds, has_progress, timeout, cx: Host| {
        let mut import = lasting(seconds, has_progress).import("s");
        import.call_timeout = timeout;
        let (catalog, _servers, _) = imported(import).await;
        catalog
            .execute(&cx, "mcp:s/t", json!({}))
            .await
            .map_err(|error| matches!(error.kind(), ToolErrorKind::Timeout { .. }))
    };
    assert!(call(36, true, None, cx()).await.is_ok());
    assert_eq!(call(36, false, None, cx()).await, Err(true));
    assert!(
        call(36, false, Some(Duration::from_secs(60)), cx())
            .await
            .is_ok()
    );
    assert_eq!(
        call(36, true, Some(Duration::from_millis(500)), cx()).await,
        Err(true)
    );
    assert_eq!(call(1000, true, None, cx()).await, Err(true));
    // The limit of the host is the last word.
    assert_eq!(
        call(36, true, None, cx().with_timeout(Duration::from_secs(20))).await,
        Err(true)
    );
}

#[tokio::test]
async fn a_call_after_the_end_of_a_connection_waits_for_the_next_one() {
    for revision in BOTH {
        let scripted = Scripted::new(revision, vec![tool("t")]);
        let (catalog, _servers, _) = imported(scripted.import("s")).await;
        for _ in 0..2 {
            scripted.kill();
            tokio::time::sleep(Duration::from_millis(50)).await;
            let result = catalog.execute(&cx(), "mcp:s/t", json!({})).await;
            assert!(result.is_ok(), "{result:?}");
        }
    }
}

#[tokio::test]
async fn a_server_that_is_silent_on_a_method_that_it_does_not_know_has_its_tools_soon() {
    let server = raw(|message| match message["method"].as_str().unwrap() {
        "initialize" => vec![introduction(message)],
        "tools/list" => vec![result(message, json!({"tools": a_tool()}))],
        "tools/call" => vec![result(message, json!({"content": "done"}))],
        _ => Vec::new(),
    });
    let start = Instant::now();
    let (catalog, _servers, _) = imported(server).await;
    assert!(start.elapsed() < Duration::from_secs(5));
    let called = catalog.execute(&cx(), "mcp:s/t", json!({})).await;
    assert_eq!(called.unwrap().to_text(), "done");
}

#[tokio::test]
async fn a_page_that_fails_or_has_a_number_as_its_cursor_takes_no_other_page_with_it() {
    let server = raw(|message| match message["method"].as_str().unwrap() {
        "initialize" => vec![introduction(message)],
        "tools/list" => match message["params"]["cursor"].as_str() {
            None => vec![result(message, json!({"tools": a_tool(), "nextCursor": 2}))],
            Some("2") => {
                let second = json!([{"name": "u", "inputSchema": {"type": "object"}}]);
                vec![result(message, json!({"tools": second, "nextCursor": "c"}))]
            }
            _ => {
                let error = json!({"code": -32602, "message": "bad cursor"});
                vec![json!({"jsonrpc": "2.0", "id": message["id"], "error": error}).to_string()]
            }
        },
        _ if message.get("id").is_some() => {
            let error = json!({"code": -32601, "message": "no"});
            vec![json!({"jsonrpc": "2.0", "id": message["id"], "error": error}).to_string()]
        }
        _ => Vec::new(),
    });
    let (_, _servers, imported) = imported(server).await;
    let report = imported.ready().await.unwrap();
    assert_eq!(report.tools, ["mcp:s/t", "mcp:s/u"], "{report:?}");
    assert!(
        report.notes.iter().any(|note| note.contains("bad cursor")),
        "{report:?}"
    );
}

#[tokio::test]
async fn a_tool_whose_arguments_are_said_to_be_a_text_takes_an_object() {
    let string = json!({"type": "string", "properties": {"a": {"type": "string"}}});
    let (catalog, _servers, report) =
        listed(json!([{"name": "t", "inputSchema": string, "description": "d"}])).await;
    assert!(
        report.refused.is_empty() && report.notes[0].contains("/type"),
        "{report:?}"
    );
    let called = catalog.execute(&cx(), "mcp:s/t", json!({"a": "x"})).await;
    assert!(called.is_ok(), "{called:?}");
}
