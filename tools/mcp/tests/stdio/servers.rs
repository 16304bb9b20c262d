//! Real servers, which `.ci/mcp-servers` installs.

use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::Trial;
use rmcp::model::{ClientConfig, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _};
use tempfile::TempDir;
use tools_exec::supervise::Launch;
use tools_mcp::client::{StdioServer, server_command};

use crate::setup::trial;

/// The servers, and the number of their tools.
pub(crate) const SERVERS: [(&str, usize); 13] = [
    ("everything", 13),
    ("filesystem", 14),
    ("memory", 9),
    ("sequential-thinking", 1),
    ("git", 12),
    ("time", 2),
    ("fetch", 1),
    ("playwright", 25),
    ("pdf", 9),
    ("kubernetes", 20),
    ("excel", 46),
    ("word", 54),
    ("duckdb", 4),
];

/// The settings of a cluster that does not exist.
const NO_CLUSTER: &str = r#"{"apiVersion": "v1", "kind": "Config", "current-context": "none",
    "clusters": [{"name": "none", "cluster": {"server": "http://127.0.0.1:1"}}], "users": [{"name": "none", "user": {}}],
    "contexts": [{"name": "none", "context": {"cluster": "none", "user": "none"}}]}"#;

/// Debian's browser for `playwright`.
const BROWSER: &str = "/usr/bin/chromium-headless-shell";

/// Returns a server. Its files are in `folder`.
pub(crate) fn server(name: &str, folder: &Path) -> Launch {
    let servers = std::env::var_os("TOOLCRIB_MCP_SERVERS").expect("run .ci/mcp-servers");
    let servers = PathBuf::from(servers);
    let program = match name {
        "git" | "time" | "fetch" => format!("python/bin/mcp-server-{name}"),
        "excel" => "python/bin/excel-mcp-server".to_owned(),
        "word" => "python/bin/word_mcp_server".to_owned(),
        "duckdb" => "python/bin/mcp-server-motherduck".to_owned(),
        "playwright" => "node_modules/.bin/playwright-mcp".to_owned(),
        "pdf" => "node_modules/.bin/mcp-pdf-server".to_owned(),
        "kubernetes" => "node_modules/.bin/kubernetes-mcp-server".to_owned(),
        _ => format!("node_modules/.bin/mcp-server-{name}"),
    };
    let program = servers.join(program);
    let mut server = server_command(program);
    server.cwd = Some(folder.to_owned());
    let text = folder.to_str().unwrap();
    match name {
        "filesystem" => server.with_args([text]),
        "memory" => server.with_env("MEMORY_FILE_PATH", format!("{text}/memory.jsonl")),
        "git" => server.with_args(["--repository", text]),
        "time" => server.with_args(["--local-timezone", "Europe/Berlin"]),
        "playwright" => server.with_args([
            "--headless",
            "--isolated",
            "--no-sandbox",
            "--executable-path",
            BROWSER,
        ]),
        "kubernetes" => {
            let file = folder.join("kube.json");
            std::fs::write(&file, NO_CLUSTER).unwrap();
            server.with_args(["--kubeconfig", file.to_str().unwrap()])
        }
        "pdf" => server.with_args(["--stdio"]),
        "excel" => server.with_args(["stdio"]),
        "duckdb" => server.with_args(["--db-path", ":memory:", "--read-write"]),
        _ => server,
    }
}

pub(crate) fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let made = Command::new("git")
        .args(["init", "--quiet"])
        .arg(folder.path())
        .status()
        .unwrap();
    assert!(made.success());
    folder
}

pub(crate) fn trials() -> Vec<Trial> {
    let each = SERVERS.map(|(name, number)| {
        let test = async move || {
            let folder = folder();
            let server = StdioServer::new(name, server(name, folder.path()));
            let (read, write, process) = server.connect().await.unwrap();
            let modern = vec![ProtocolVersion::V_2026_07_28];
            let mode = ClientLifecycleMode::Auto {
                preferred_versions: modern,
                legacy_version: None,
            };
            let client = ClientConfig::default()
                .serve_with_lifecycle((read, write), mode)
                .await
                .unwrap();
            let tools = client.list_all_tools().await.unwrap();
            let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
            assert_eq!(names.len(), number, "{names:?}");
            client.cancel().await.unwrap();
            process.close().await;
        };
        trial(&format!("servers::{name}_is_listed"), test).with_ignored_flag(true)
    });
    each.into()
}
