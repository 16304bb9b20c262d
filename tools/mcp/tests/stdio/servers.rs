//! Real servers, which `.ci/mcp-servers` installs.

use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::Trial;
use rmcp::model::{ClientConfig, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _};
use tempfile::TempDir;
use tools_mcp::client::StdioServer;

use crate::setup::trial;

/// The servers, and the number of their tools.
pub(crate) const SERVERS: [(&str, usize); 7] = [
    ("everything", 13),
    ("filesystem", 14),
    ("memory", 9),
    ("sequential-thinking", 1),
    ("git", 12),
    ("time", 2),
    ("fetch", 1),
];

/// Returns a server. Its files are in `folder`.
pub(crate) fn server(name: &str, folder: &Path) -> StdioServer {
    let servers = std::env::var_os("TOOLCRIB_MCP_SERVERS").expect("run .ci/mcp-servers");
    let servers = PathBuf::from(servers);
    let is_python = ["git", "time", "fetch"].contains(&name);
    let program = match is_python {
        true => servers.join("python/bin").join(format!("mcp-server-{name}")),
        false => servers.join("node_modules/.bin").join(format!("mcp-server-{name}")),
    };
    let server = StdioServer::new(program.to_str().unwrap()).with_name(name).with_cwd(folder);
    let text = folder.to_str().unwrap();
    match name {
        "filesystem" => server.with_args([text]),
        "memory" => server.with_env("MEMORY_FILE_PATH", &format!("{text}/memory.jsonl")),
        "git" => server.with_args(["--repository", text]),
        "time" => server.with_args(["--local-timezone", "Europe/Berlin"]),
        _ => server,
    }
}

pub(crate) fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let made = Command::new("git").args(["init", "--quiet"]).arg(folder.path()).status().unwrap();
    assert!(made.success());
    folder
}

pub(crate) fn trials() -> Vec<Trial> {
    let each = SERVERS.map(|(name, number)| {
        let test = async move || {
            let folder = folder();
            let (read, write, process) = server(name, folder.path()).connect().await.unwrap();
            let modern = vec![ProtocolVersion::V_2026_07_28];
            let mode = ClientLifecycleMode::Auto { preferred_versions: modern, legacy_version: None };
            let client = ClientConfig::default().serve_with_lifecycle((read, write), mode).await.unwrap();
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
