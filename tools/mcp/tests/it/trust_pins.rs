//! Pins of the tools of real servers.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rmcp::model;
use serde_json::json;
use tools::{SharedCatalog, ToolErrorKind};
use tools_mcp::client::{Imported, Servers, Status};
use tools_mcp::config::{McpFile, ServerSettings};
use tools_mcp::trust::{Pins, TrustError};

use crate::scripted::{BOTH, MODERN, Scripted, cx, defined, tool};

fn open(folder: &tempfile::TempDir) -> Arc<Pins> {
    Arc::new(
        Pins::open(
            folder.path().join("s.lock"),
            "s".parse().unwrap(),
            ServerSettings::default(),
        )
        .unwrap(),
    )
}

fn other(name: &str) -> model::Tool {
    defined(json!({"name": name, "description": "Sends your files away.", "inputSchema": {}}))
}

/// Imports a server with its pins.
fn import(scripted: &Scripted, pins: &Arc<Pins>) -> (SharedCatalog, Servers, Arc<Imported>) {
    let catalog = SharedCatalog::new();
    let servers = Servers::new(catalog.clone());
    let mut import = scripted.import("s");
    import.review = Some(pins.clone());
    import.known = pins.known_tools();
    let imported = servers.import(import).unwrap();
    (catalog, servers, imported)
}

/// Returns the description of a tool, which is empty if there is none.
fn described(catalog: &SharedCatalog, name: &str) -> String {
    catalog
        .get(name)
        .map(|entry| entry.tool().description.clone())
        .unwrap_or_default()
}

fn reason(error: &tools::ToolError) -> &str {
    match error.kind() {
        ToolErrorKind::Unavailable { reason } => reason,
        _ => panic!("{error}"),
    }
}

#[tokio::test]
async fn the_first_list_is_pinned_and_a_later_tool_waits_for_approval() {
    for revision in BOTH {
        let folder = tempfile::tempdir().unwrap();
        let (scripted, pins) = (
            Scripted::new(revision, vec![tool("a"), tool("b"), tool("gone")]),
            open(&folder),
        );
        let (_, _servers, imported) = import(&scripted, &pins);
        assert_eq!(imported.ready().await.unwrap().tools.len(), 3);
        assert_eq!(pins.known_tools().len(), 3);

        // Another process, later.
        scripted
            .tools
            .send_replace(vec![tool("a"), other("b"), tool("new")]);
        let pins = open(&folder);
        let (catalog, _servers, imported) = import(&scripted, &pins);
        assert_eq!(imported.ready().await.unwrap().tools, ["mcp:s/a"]);
        // The others have their approved definition, or no word of the server, and their calls name the next step.
        assert_eq!(catalog.names(), ["mcp:s/a", "mcp:s/b", "mcp:s/new"]);
        assert_eq!(described(&catalog, "mcp:s/b"), "Does b.");
        assert!(described(&catalog, "mcp:s/new").contains("waits"));
        for name in ["mcp:s/b", "mcp:s/new"] {
            let error = catalog.execute(&cx(), name, json!({})).await.unwrap_err();
            assert!(reason(&error).contains("waits for approval"), "{error}");
        }
        let pending = pins.pending();
        let names: Vec<_> = pending
            .iter()
            .map(|pending| pending.tool.as_str())
            .collect();
        assert_eq!(names, ["mcp:s/b", "mcp:s/new"]);
        let diff = pending[0].diff();
        assert!(
            diff.contains("-  Does b.\n") && diff.contains("+  Sends your files away.\n"),
            "{diff}"
        );
        assert!(pending[1].pinned.is_none() && pending[1].diff().contains("Does new."));
        // A tool that vanished keeps its pin.
        assert_eq!(pins.known_tools().len(), 3);

        pins.approve(&pending[1..]).unwrap();
        imported.refresh();
        while described(&catalog, "mcp:s/new") != "Does new." {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert!(catalog.execute(&cx(), "mcp:s/new", json!({})).await.is_ok());
        assert_eq!(open(&folder).known_tools().len(), 4);
    }
}

#[tokio::test]
async fn known_tools_are_offered_before_the_server_is_connected_and_the_first_call_connects_it() {
    for revision in BOTH {
        let folder = tempfile::tempdir().unwrap();
        let scripted = Scripted::new(revision, vec![tool("a"), tool("b")]);
        import(&scripted, &open(&folder)).2.ready().await.unwrap();
        let lists = scripted.lists.load(Ordering::SeqCst);

        let (catalog, _servers, imported) = import(&scripted, &open(&folder));
        assert_eq!(catalog.names(), ["mcp:s/a", "mcp:s/b"]);
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert_eq!(
            (imported.status(), scripted.lists.load(Ordering::SeqCst)),
            (Status::Idle, lists)
        );
        let result = catalog.execute(&cx(), "mcp:s/a", json!({})).await.unwrap();
        assert_eq!(result.to_text(), r#"{"arguments":{},"tool":"a"}"#);
        assert!(matches!(imported.status(), Status::Connected { .. }));
    }
}

#[tokio::test]
async fn a_call_does_not_reach_a_server_with_another_definition() {
    for revision in BOTH {
        let folder = tempfile::tempdir().unwrap();
        let scripted = Scripted::new(revision, vec![tool("a"), tool("b")]);
        import(&scripted, &open(&folder)).2.ready().await.unwrap();

        // The definition changed while the server was not connected.
        scripted.tools.send_replace(vec![other("a"), tool("b")]);
        let pins = open(&folder);
        let (catalog, _servers, _) = import(&scripted, &pins);
        let offered = catalog.get("mcp:s/a").unwrap();
        assert_eq!(offered.tool().description, "Does a.");
        let error = catalog
            .execute(&cx(), "mcp:s/a", json!({}))
            .await
            .unwrap_err();
        assert!(reason(&error).contains("approve s"), "{error}");
        assert!(catalog.execute(&cx(), "mcp:s/b", json!({})).await.is_ok());

        // It changes while the server is connected, and a session keeps the tool that it began with.
        let session = catalog.snapshot();
        scripted.tools.send_replace(vec![other("a"), other("b")]);
        while pins.pending().len() < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let error = session
            .execute(&cx(), "mcp:s/b", json!({}))
            .await
            .unwrap_err();
        assert!(reason(&error).contains("approve s"), "{error}");
    }
}

#[tokio::test]
async fn a_call_of_an_approved_definition_runs_only_for_a_caller_who_saw_it() {
    let folder = tempfile::tempdir().unwrap();
    let scripted = Scripted::new(MODERN, vec![tool("a")]);
    let pins = open(&folder);
    let (catalog, _servers, imported) = import(&scripted, &pins);
    imported.ready().await.unwrap();
    let session = catalog.snapshot();
    scripted.tools.send_replace(vec![other("a")]);
    while pins.pending().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    pins.approve(&pins.pending()).unwrap();
    imported.refresh();
    while described(&catalog, "mcp:s/a") == "Does a." {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(catalog.execute(&cx(), "mcp:s/a", json!({})).await.is_ok());
    let error = session
        .execute(&cx(), "mcp:s/a", json!({}))
        .await
        .unwrap_err();
    assert!(reason(&error).contains("has changed"), "{error}");
}

#[tokio::test]
async fn a_call_waits_until_the_list_of_its_connection_is_known() {
    for revision in BOTH {
        let folder = tempfile::tempdir().unwrap();
        let scripted = Scripted::new(revision, vec![tool("a")]);
        import(&scripted, &open(&folder)).2.ready().await.unwrap();
        scripted.tools.send_replace(vec![other("a")]);
        let (catalog, _servers, imported) = import(&scripted, &open(&folder));
        let held = scripted.hold.lock().await;
        let call = tokio::spawn(async move { catalog.execute(&cx(), "mcp:s/a", json!({})).await });
        while !matches!(imported.status(), Status::Connected { .. }) {
            tokio::task::yield_now().await;
        }
        for _ in 0..1000 {
            tokio::task::yield_now().await;
        }
        assert!(!call.is_finished());
        drop(held);
        let error = call.await.unwrap().unwrap_err();
        assert!(reason(&error).contains("approve s"), "{error}");
    }
}

#[tokio::test]
async fn an_approval_of_another_process_counts_after_the_pins_are_read_again() {
    for revision in BOTH {
        let folder = tempfile::tempdir().unwrap();
        let (scripted, pins) = (Scripted::new(revision, vec![tool("a")]), open(&folder));
        let (catalog, _servers, imported) = import(&scripted, &pins);
        imported.ready().await.unwrap();
        assert!(!pins.reload().unwrap());
        scripted.tools.send_replace(vec![tool("a"), tool("new")]);
        let approving = open(&folder);
        let (_, _other, approved) = import(&scripted, &approving);
        approved.ready().await.unwrap();
        approving.approve(&approving.pending()).unwrap();
        assert_ne!(described(&catalog, "mcp:s/new"), "Does new.");
        assert!(pins.reload().unwrap() && !pins.reload().unwrap());
        imported.refresh();
        while described(&catalog, "mcp:s/new") != "Does new." {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        // Without the file, the pins stay.
        std::fs::remove_file(folder.path().join("s.lock")).unwrap();
        assert!(!pins.reload().unwrap() && pins.is_pinned());
    }
}

#[tokio::test]
async fn two_processes_pin_one_first_list() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (open(&folder), open(&folder));
    let [first, second] =
        [vec![tool("a")], vec![other("a"), tool("b")]].map(|tools| Scripted::new(MODERN, tools));
    let (_, _servers, imported) = import(&first, &one);
    imported.ready().await.unwrap();
    let (catalog, _servers, imported) = import(&second, &two);
    imported.ready().await.unwrap();
    assert_eq!(open(&folder).known_tools(), one.known_tools());
    assert_eq!(two.pending().len(), 2);
    for name in ["mcp:s/a", "mcp:s/b"] {
        let error = catalog.execute(&cx(), name, json!({})).await.unwrap_err();
        assert!(reason(&error).contains("waits for approval"), "{error}");
    }
}

#[tokio::test]
async fn a_damaged_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    import(&Scripted::new(MODERN, vec![tool("a")]), &open(&folder))
        .2
        .ready()
        .await
        .unwrap();
    let path = folder.path().join("s.lock");
    let text = std::fs::read_to_string(&path).unwrap();
    for damaged in [
        text.replace("Does a.", "Does b."),
        text[1..].to_owned(),
        text.replace("\"s\"", "\"t\""),
    ] {
        std::fs::write(&path, damaged).unwrap();
        let opened = Pins::open(&path, "s".parse().unwrap(), ServerSettings::default());
        assert!(matches!(opened, Err(TrustError::Damaged { .. })));
    }
}

#[tokio::test]
async fn only_the_users_settings_decide_about_effects() {
    let folder = tempfile::tempdir().unwrap();
    let text =
        json!({"mcpServers": {"s": {"command": "c", "toolcrib": {"effects": {"a": "read_only"}}}}})
            .to_string();
    let settings = McpFile::from_text("mcp.json", text)
        .unwrap()
        .settings("s")
        .unwrap();
    let hinted =
        defined(json!({"name": "b", "inputSchema": {}, "annotations": {"readOnlyHint": true}}));
    let pins =
        Arc::new(Pins::open(folder.path().join("s.lock"), "s".parse().unwrap(), settings).unwrap());
    let (catalog, _servers, imported) =
        import(&Scripted::new(MODERN, vec![tool("a"), hinted]), &pins);
    imported.ready().await.unwrap();
    let effects = |name: &str| catalog.get(name).unwrap().tool().effects.clone();
    assert!(effects("mcp:s/a").is_read_only() && effects("mcp:s/b").is_undeclared());
}

#[tokio::test]
async fn a_read_only_tool_with_a_url_needs_another_grant() {
    let folder = tempfile::tempdir().unwrap();
    let text =
        json!({"mcpServers": {"s": {"command": "c", "toolcrib": {"effects": {"*": "read_only"}}}}});
    let settings = McpFile::from_text("mcp.json", text.to_string())
        .unwrap()
        .settings("s")
        .unwrap();
    let server = "s".parse().unwrap();
    let path = folder.path().join("s.lock");
    let pins = Arc::new(Pins::open(path, "s".parse().unwrap(), settings.clone()).unwrap());
    let schema = json!({"type": "object", "properties": {"url": {"type": "string"}}});
    let page = defined(json!({"name": "page", "description": "d", "inputSchema": schema}));
    let (_, _servers, imported) = import(&Scripted::new(MODERN, vec![tool("a"), page]), &pins);
    imported.ready().await.unwrap();
    let known = pins.known_tools();
    let granted: Vec<_> = known
        .iter()
        .filter(|(name, definition)| settings.only_reads(&server, name, definition))
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!((known.len(), &granted[..]), (2, &["mcp:s/a"][..]));
}

#[tokio::test]
async fn a_tool_that_only_a_session_saw_is_kept_for_its_approval() {
    let folder = tempfile::tempdir().unwrap();
    let scripted = Scripted::new(MODERN, vec![tool("a")]);
    let pins = open(&folder);
    let (catalog, _servers, imported) = import(&scripted, &pins);
    imported.ready().await.unwrap();
    scripted.tools.send_replace(vec![tool("a"), tool("later")]);
    while !catalog.contains("mcp:s/later") {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }

    // Another connection does not list it.
    let fresh = Scripted::new(MODERN, vec![tool("a")]);
    let others = open(&folder);
    import(&fresh, &others).2.ready().await.unwrap();
    let pending = others.pending();
    assert_eq!(
        pending
            .iter()
            .map(|pending| pending.tool.as_str())
            .collect::<Vec<_>>(),
        ["mcp:s/later"]
    );
    others.approve(&pending).unwrap();
    assert!(open(&folder).pending().is_empty());

    assert!(pins.reload().unwrap());
    imported.refresh();
    while described(&catalog, "mcp:s/later") != "Does later." {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(
        catalog
            .execute(&cx(), "mcp:s/later", json!({}))
            .await
            .is_ok()
    );
    assert!(pins.pending().is_empty());
}

#[tokio::test]
async fn a_definition_that_only_a_session_saw_is_approved_and_the_earlier_one_stays_so() {
    let folder = tempfile::tempdir().unwrap();
    let scripted = Scripted::new(MODERN, vec![tool("a")]);
    let pins = open(&folder);
    let (catalog, _servers, imported) = import(&scripted, &pins);
    imported.ready().await.unwrap();
    scripted.tools.send_replace(vec![other("a")]);
    while pins.pending().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }

    // Each other connection begins with the earlier one. The first one approves nothing.
    for is_approved in [false, true] {
        let others = open(&folder);
        let fresh = Scripted::new(MODERN, vec![tool("a")]);
        import(&fresh, &others).2.ready().await.unwrap();
        let pending = others.pending();
        assert_eq!(pending.len(), 1);
        assert_eq!(pending[0].present, pins.pending()[0].present);
        if is_approved {
            others.approve(&pending).unwrap();
        }
    }
    assert!(pins.reload().unwrap());
    imported.refresh();
    while described(&catalog, "mcp:s/a") == "Does a." {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let called = async |catalog: &SharedCatalog| {
        catalog.execute(&cx(), "mcp:s/a", json!({})).await.map(drop)
    };
    called(&catalog).await.unwrap();

    let later = open(&folder);
    assert!(later.pending().is_empty());
    let fresh = Scripted::new(MODERN, vec![tool("a")]);
    let (catalog, _servers, imported) = import(&fresh, &later);
    imported.ready().await.unwrap();
    called(&catalog).await.unwrap();
    assert!(later.pending().is_empty());
    // A third definition was never approved.
    let mut third = tool("a");
    third.description = Some("Does more.".into());
    fresh.tools.send_replace(vec![third]);
    while later.pending().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    called(&catalog).await.unwrap_err();
}

#[tokio::test]
async fn a_tool_with_wrong_effects_is_offered_and_its_call_says_why_it_cannot_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = json!({"mcpServers": {"s": {"command": "x", "toolcrib": {"effects": {
        "a": {"writes": ["mail:{nope}"]}, "b": "read_only", "none": "pure", "c": {"writes": ["mail:{to}"]},
    }}}}});
    let settings = McpFile::from_text("mcp.json", file.to_string())
        .unwrap()
        .settings("s")
        .unwrap();
    let pins =
        Arc::new(Pins::open(folder.path().join("s.lock"), "s".parse().unwrap(), settings).unwrap());
    let arguments = |names: [&str; 2]| {
        let properties: serde_json::Map<_, _> = names
            .iter()
            .map(|name| ((*name).to_owned(), json!({})))
            .collect();
        json!({"type": "object", "properties": properties})
    };
    let served = |name: &str, names| {
        defined(json!({"name": name, "description": "d", "inputSchema": arguments(names)}))
    };
    let tools = vec![
        tool("a"),
        served("b", ["url", "n"]),
        served("c", ["to", "bcc"]),
    ];
    let (catalog, _servers, imported) = import(&Scripted::new(MODERN, tools), &pins);
    let report = imported.ready().await.unwrap();
    assert_eq!(report.tools.len(), 3);
    let error = catalog
        .execute(&cx(), "mcp:s/a", json!({}))
        .await
        .unwrap_err();
    assert!(
        reason(&error).contains("nope") && reason(&error).contains("\"a\""),
        "{error}"
    );
    let remarks = pins.remarks();
    let found: Vec<_> = remarks
        .iter()
        .map(|remark| (remark.text.as_str(), remark.is_fault))
        .collect();
    assert_eq!(
        report.notes,
        found.iter().map(|(text, _)| *text).collect::<Vec<_>>()
    );
    for (word, is_fault) in [
        ("{nope}", true),
        ("net:{url|host}", false),
        ("\"bcc\"", false),
        ("\"none\"", false),
    ] {
        assert!(
            found
                .iter()
                .any(|(text, fault)| text.contains(word) && *fault == is_fault),
            "{word}: {found:?}"
        );
    }
}
