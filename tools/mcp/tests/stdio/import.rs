//! Servers that are imported into a catalog as child processes.

use std::path::Path;
use std::sync::Arc;

use libtest_mimic::Trial;
use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _};
use serde_json::{Value, json};
use tools::{Grant, Host, SharedCatalog};
use tools_mcp::client::{Import, Imported, Servers, Status, StdioServer};

use crate::peer::SERVER;
use crate::servers::{SERVERS, folder, server};
use crate::setup::{pids, runs, script, script_command, trial, until};

async fn imported(name: &str, server: StdioServer) -> (SharedCatalog, Servers, Arc<Imported>) {
    let catalog = SharedCatalog::new();
    let servers = Servers::new(catalog.clone());
    let imported = servers
        .import(Import::from_stdio(name.parse().unwrap(), server))
        .unwrap();
    imported.ready().await.unwrap();
    (catalog, servers, imported)
}

fn cx() -> Host {
    Host::new().with_grant(Grant::parse(["world:write:**"]).unwrap())
}

fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid.try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial(
            "import::a_killed_server_is_started_again",
            a_killed_server_is_started_again,
        ),
        trial(
            "import::a_program_that_is_no_server_is_an_error_with_its_last_words",
            async || {
                let servers = Servers::new(SharedCatalog::new());
                let server = script("echo 'no license found' >&2; exit 3");
                let imported = servers
                    .import(Import::from_stdio("s".parse().unwrap(), server))
                    .unwrap();
                let error = imported.ready().await.unwrap_err();
                assert!(error.to_string().contains("no license found"), "{error}");
            },
        ),
    ];
    trials.extend(SERVERS.map(|(name, number)| {
        let test = async move || a_real_server_is_imported(name, number).await;
        trial(&format!("servers::{name}_is_imported_and_called"), test).with_ignored_flag(true)
    }));
    trials
}

async fn a_killed_server_is_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pids");
    let program = std::env::current_exe().unwrap();
    let script = r#"echo $$ >>"$PIDS"; exec "$0" "$1""#;
    let command = script_command(script)
        .with_args([program.to_str().unwrap(), SERVER])
        .with_env("PIDS", file.to_str().unwrap());
    let server = StdioServer::new("s", command);
    let (catalog, servers, imported) = imported("s", server).await;
    let echo = || catalog.execute(&cx(), "mcp:s/echo", json!({"n": 1}));
    assert_eq!(echo().await.unwrap().to_text(), r#"{"n":1}"#);

    let first = pids(&file, 1).await;
    kill(*first.last().unwrap());
    until("the end is noticed", || {
        matches!(imported.status(), Status::Disconnected { .. })
    })
    .await;
    // A call waits for the next connection.
    assert_eq!(echo().await.unwrap().to_text(), r#"{"n":1}"#);

    let last = *pids(&file, first.len() + 1).await.last().unwrap();
    assert!(runs(last));
    servers.remove("s").await;
    assert!(!runs(last));
}

/// Returns a call that succeeds and one that fails.
fn calls(name: &str, folder: &Path, url: &str) -> [(&'static str, Value); 2] {
    let path = folder.to_str().unwrap();
    match name {
        "everything" => [("echo", json!({"message": "hello"})), ("echo", json!({}))],
        "filesystem" => [
            ("list_directory", json!({"path": path})),
            ("read_text_file", json!({"path": format!("{path}/none")})),
        ],
        "memory" => [
            ("read_graph", json!({})),
            ("open_nodes", json!({"names": {"a": 1}})),
        ],
        "sequential-thinking" => {
            let thought = json!({"thought": "a", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1});
            [
                ("sequentialthinking", thought),
                ("sequentialthinking", json!({"thought": 1})),
            ]
        }
        "git" => [
            ("git_status", json!({"repo_path": path})),
            ("git_show", json!({"repo_path": path, "revision": "none"})),
        ],
        "time" => [
            ("get_current_time", json!({"timezone": "UTC"})),
            ("get_current_time", json!({"timezone": "Nowhere/None"})),
        ],
        "playwright" => [
            ("browser_navigate", json!({"url": url})),
            ("browser_click", json!({"target": "none"})),
        ],
        "pdf" => [
            ("list_pdfs", json!({})),
            ("display_pdf", json!({"url": format!("{path}/none.pdf")})),
        ],
        "kubernetes" => [("configuration_view", json!({})), ("pods_list", json!({}))],
        "excel" => {
            let book = format!("{path}/book.xlsx");
            [
                ("create_workbook", json!({"path": book})),
                ("describe_workbook", json!({"path": "none.xlsx"})),
            ]
        }
        "word" => {
            let document = format!("{path}/text.docx");
            [
                ("create_document", json!({"filename": document})),
                ("create_document", json!({"filename": []})),
            ]
        }
        "duckdb" => [
            ("execute_query", json!({"sql": "select 42"})),
            ("execute_query", json!({"sql": 1})),
        ],
        _ => [
            ("fetch", json!({"url": url})),
            ("fetch", json!({"url": "http://127.0.0.1:1/"})),
        ],
    }
}

/// Returns a schema without the names of the required arguments, some of which have a default.
fn without_required(schema: &Value) -> Value {
    let mut schema = schema.clone();
    schema.as_object_mut().unwrap().remove("required");
    schema
}

async fn a_real_server_is_imported(name: &'static str, number: usize) {
    let folder = folder();
    let page = axum::Router::new().route("/page", axum::routing::get(async || "a page"));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/page", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, page).await });

    let server = match name {
        "fetch" => server(name, folder.path()).with_args(["--allow-private-ips"]),
        _ => server(name, folder.path()),
    };
    let server = StdioServer::new(name, server);
    let (catalog, servers, imported) = imported(name, server.clone()).await;
    let report = imported.ready().await.unwrap();
    // It has two more tools for a client that can ask a person.
    let number = if name == "everything" {
        number + 2
    } else {
        number
    };
    assert_eq!(
        (report.tools.len(), report.refused.as_slice()),
        (number, &[][..])
    );

    // The definitions as the server sends them.
    let (read, write, process) = server.connect().await.unwrap();
    let mode = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: None,
    };
    let client = rmcp::model::ClientConfig::default()
        .serve_with_lifecycle((read, write), mode)
        .await
        .unwrap();
    let mut empty = Vec::new();
    for sent in client.list_all_tools().await.unwrap() {
        if sent
            .annotations
            .as_ref()
            .and_then(|hints| hints.read_only_hint)
            != Some(false)
            && name != "everything"
        {
            let params =
                CallToolRequestParams::new(sent.name.clone()).with_arguments(Default::default());
            if client
                .call_tool(params)
                .await
                .is_ok_and(|result| result.is_error != Some(true))
            {
                empty.push(sent.name.clone());
            }
        }
        let entry = catalog.get(&format!("mcp:{name}/{}", sent.name)).unwrap();
        let tool = entry.tool();
        assert_eq!(
            without_required(&tool.parameters),
            without_required(&json!(sent.input_schema))
        );
        assert_eq!(
            tool.output,
            sent.output_schema
                .map(|schema| Value::Object((*schema).clone()))
        );
        assert_eq!(json!(tool.annotations), json!(sent.annotations));
        assert_eq!(tool.title, sent.title);
    }
    client.cancel().await.unwrap();
    process.close().await;

    // A call without arguments succeeds here if it does at a client without validation.
    for sent in empty {
        let called = catalog
            .execute(&cx(), &format!("mcp:{name}/{sent}"), json!({}))
            .await;
        assert!(
            called.as_ref().is_ok_and(|result| !result.is_error),
            "{sent}: {called:?}"
        );
    }

    let [(good, arguments), (bad, wrong)] = calls(name, folder.path(), &url);
    let result = catalog
        .execute(&cx(), &format!("mcp:{name}/{good}"), arguments)
        .await
        .unwrap();
    assert!(
        !result.is_error && !result.to_text().is_empty(),
        "{result:?}"
    );
    let refused = catalog
        .execute(&cx(), &format!("mcp:{name}/{bad}"), wrong)
        .await;
    assert!(
        refused.as_ref().is_err() || refused.as_ref().is_ok_and(|result| result.is_error),
        "{refused:?}"
    );
    servers.remove(name).await;
    assert!(catalog.names().iter().all(|name| !name.starts_with("mcp:")));
}
