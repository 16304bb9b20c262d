//! Connections that end, and lists that change.

use std::sync::atomic::Ordering;

use serde_json::json;
use tools::{Grant, Host, SharedCatalog};
use tools_mcp::client::{Servers, Status};

use crate::scripted::{BOTH, MODERN, Scripted, defined, tool};

#[tokio::test]
async fn a_changed_list_changes_exactly_what_differs() {
    for revision in BOTH {
        let catalog = SharedCatalog::new();
        let servers = Servers::new(catalog.clone());
        let scripted = Scripted::new(revision, vec![tool("kept"), tool("changed"), tool("gone")]);
        let imported = servers.import(scripted.import("s")).unwrap();
        imported.ready().await.unwrap();
        let before = |name: &str| catalog.get(&format!("mcp:s/{name}"));
        let (kept, changed) = (before("kept").unwrap(), before("changed").unwrap());

        let mut changes = catalog.subscribe();
        let other =
            defined(json!({"name": "changed", "description": "Otherwise.", "inputSchema": {}}));
        scripted
            .tools
            .send_replace(vec![tool("new"), other, tool("kept")]);
        while catalog.contains("mcp:s/gone") {
            changes.changed().await;
        }
        assert_eq!(
            catalog.names(),
            ["mcp:s/changed", "mcp:s/kept", "mcp:s/new"]
        );
        assert!(std::sync::Arc::ptr_eq(&kept, &before("kept").unwrap()));
        assert!(!std::sync::Arc::ptr_eq(
            &changed,
            &before("changed").unwrap()
        ));
        assert_eq!(before("changed").unwrap().tool().description, "Otherwise.");
    }
}

#[tokio::test(start_paused = true)]
async fn an_expired_list_is_read_again_and_another_is_not() {
    for (ttl_ms, expected) in [(Some(60_000), 11), (Some(1), 61), (Some(0), 1), (None, 1)] {
        let servers = Servers::new(SharedCatalog::new());
        let mut scripted = Scripted::new(MODERN, vec![tool("a")]);
        scripted.ttl_ms = ttl_ms;
        servers
            .import(scripted.import("s"))
            .unwrap()
            .ready()
            .await
            .unwrap();
        tokio::time::sleep(std::time::Duration::from_secs(602)).await;
        assert_eq!(
            scripted.lists.load(Ordering::SeqCst),
            expected,
            "{ttl_ms:?}"
        );
    }
}

#[tokio::test]
async fn a_tool_stays_while_its_server_is_connected_again_and_its_call_waits() {
    for revision in BOTH {
        let catalog = SharedCatalog::new();
        let servers = Servers::new(catalog.clone());
        let scripted = Scripted::new(revision, vec![tool("t")]);
        let imported = servers.import(scripted.import("s")).unwrap();
        imported.ready().await.unwrap();
        let entry = catalog.get("mcp:s/t").unwrap();
        let cx = Host::new().with_grant(Grant::parse(["world:write:**"]).unwrap());

        scripted.kill();
        while !matches!(imported.status(), Status::Disconnected { .. }) {
            tokio::task::yield_now().await;
        }
        catalog.execute(&cx, "mcp:s/t", json!({})).await.unwrap();
        assert!(std::sync::Arc::ptr_eq(
            &entry,
            &catalog.get("mcp:s/t").unwrap()
        ));
    }
}

#[tokio::test]
async fn dropping_the_last_handle_removes_the_tools_and_ends_the_connection() {
    let catalog = SharedCatalog::new();
    let servers = Servers::new(catalog.clone());
    let imported = servers
        .import(Scripted::new(MODERN, vec![tool("t")]).import("s"))
        .unwrap();
    imported.ready().await.unwrap();
    drop(servers);
    while imported.status() != Status::Removed {
        tokio::task::yield_now().await;
    }
    assert!(catalog.names().is_empty());
}
