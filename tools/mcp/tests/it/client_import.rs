//! Importing the tools of a server.

use std::sync::Arc;

use rmcp::model::ProtocolVersion;
use serde_json::json;
use tools::protocol::wire::{Format, Strictness};
use tools::{Catalog, Effects, Host, SharedCatalog, Tool, ToolContext};
use tools_mcp::client::{Import, ImportError, Refusal, ServerTool, Servers, Status};

use crate::scripted::{BOTH, LEGACY, MODERN, Scripted, cx, defined, tool};

fn servers() -> (SharedCatalog, Servers) {
    let catalog = SharedCatalog::new();
    (catalog.clone(), Servers::new(catalog))
}

#[tokio::test]
async fn each_revision_is_spoken_with_a_server_of_it() {
    for revision in BOTH {
        let (catalog, servers) = servers();
        let imported = servers
            .import(Scripted::new(revision.clone(), vec![tool("a"), tool("b")]).import("s"))
            .unwrap();
        assert_eq!(
            imported.ready().await.unwrap().tools,
            ["mcp:s/a", "mcp:s/b"]
        );
        assert_eq!(
            imported.status(),
            Status::Connected {
                protocol: revision.to_string()
            }
        );
        assert_eq!(catalog.names(), ["mcp:s/a", "mcp:s/b"]);
    }
}

#[tokio::test]
async fn a_definition_is_preserved() {
    let definition = json!({
        "name": "get weather",
        "title": "Weather",
        "description": "Tells the weather.",
        "inputSchema": {"type": "object", "properties": {"city": {"type": "string", "minLength": 1}}, "$defs": {"x": {}}},
        "outputSchema": {"type": "object", "properties": {"c": {"type": "number"}}, "required": ["c"]},
        "annotations": {"title": "W", "readOnlyHint": true, "destructiveHint": false, "openWorldHint": true},
        "icons": [{"src": "https://example.org/i.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark"}],
    });
    for revision in BOTH {
        let (catalog, servers) = servers();
        let imported = servers
            .import(Scripted::new(revision, vec![defined(definition.clone())]).import("s"))
            .unwrap();
        imported.ready().await.unwrap();
        let entry = catalog.get("mcp:s/get%20weather").unwrap();
        let Tool {
            title,
            description,
            parameters,
            output,
            annotations,
            icons,
            effects,
            audit,
            ..
        } = entry.tool();
        assert_eq!(title.as_deref(), Some("Weather"));
        assert_eq!(description, "Tells the weather.");
        assert_eq!(*parameters, definition["inputSchema"]);
        assert_eq!(output.as_ref(), Some(&definition["outputSchema"]));
        assert_eq!(json!(annotations), definition["annotations"]);
        assert_eq!(json!(icons), definition["icons"]);
        assert!(*effects == Effects::Undeclared && *audit);
    }
}

#[tokio::test]
async fn invisible_characters_in_the_texts_of_a_schema_reach_no_model() {
    let schema = json!({
        "type": "object", "title": "T\u{202e}",
        "properties": {"city": {"$ref": "#/$defs/city"}},
        "$defs": {"city": {"type": "string", "description": "A city.\u{200b}\u{e0041}\x1b[2J", "enum": ["a\u{200b}", "b"]}},
    });
    let hidden = json!({"name": "hidden", "description": "Tells.", "inputSchema": schema, "outputSchema": schema});
    let definition = ServerTool::from_json(hidden.clone()).unwrap();
    for revision in BOTH {
        let (catalog, servers) = servers();
        let server = Scripted::new(revision, vec![defined(hidden.clone()), tool("plain")]);
        let imported = servers.import(server.import("s")).unwrap();
        let report = imported.ready().await.unwrap();
        let notes: Vec<_> = report
            .notes
            .iter()
            .map(|note| note.contains("another form"))
            .collect();
        assert_eq!(notes, [true, false], "{report:?}");
        let entry = catalog.get("mcp:s/hidden").unwrap();
        let mut tool = entry.tool().clone();
        assert_eq!(
            tool.parameters["$defs"]["city"]["enum"],
            json!(["a\u{200b}", "b"])
        );
        for schema in std::iter::once(&mut tool.parameters).chain(&mut tool.output) {
            schema["$defs"]["city"]
                .as_object_mut()
                .unwrap()
                .remove("enum");
        }
        for format in Format::ALL {
            let wire = format.tool(&tool, Strictness::Relaxed).unwrap().definition;
            assert!(
                wire.contains("A city.<U+200B><U+E0041><U+001B>[2J"),
                "{format}: {wire}"
            );
            assert!(
                !wire.contains(['\u{202e}', '\u{200b}', '\u{e0041}', '\x1b'])
                    && !wire.contains("\\u"),
                "{format}: {wire}"
            );
        }
        // A value is sent as the server compares it.
        let result = catalog
            .execute(&cx(), "mcp:s/hidden", json!({"city": "a\u{200b}"}))
            .await;
        assert!(result.is_ok(), "{result:?}");
        // A pin is the definition as it was sent.
        assert_eq!(definition.to_json()["inputSchema"], schema);
    }
}

#[tokio::test]
async fn all_pages_are_read() {
    let tools: Vec<_> = (0..25).map(|number| tool(&format!("t{number}"))).collect();
    for revision in BOTH {
        let (catalog, servers) = servers();
        let scripted = Scripted {
            page: 10,
            ..Scripted::new(revision, tools.clone())
        };
        let report = servers
            .import(scripted.import("s"))
            .unwrap()
            .ready()
            .await
            .unwrap();
        assert_eq!(
            (
                report.tools.len(),
                catalog.names().len(),
                report.cut.clone()
            ),
            (25, 25, None)
        );
    }
}

#[tokio::test]
async fn two_tools_with_one_name_are_both_reachable() {
    let (catalog, servers) = servers();
    let other = defined(json!({"name": "a", "description": "Another.", "inputSchema": {}}));
    let imported = servers
        .import(Scripted::new(MODERN, vec![tool("a"), other, tool("a%-2")]).import("s"))
        .unwrap();
    assert_eq!(
        imported.ready().await.unwrap().tools,
        ["mcp:s/a", "mcp:s/a%-2", "mcp:s/a%25-2"]
    );
    assert_eq!(
        catalog.get("mcp:s/a%-2").unwrap().tool().description,
        "Another."
    );
    let cx = Host::new().with_grant(tools::Grant::parse(["world:write:**"]).unwrap());
    let result = catalog
        .execute(&cx, "mcp:s/a%-2", json!({"x": 1}))
        .await
        .unwrap();
    assert_eq!(result.to_text(), r#"{"arguments":{"x":1},"tool":"a"}"#);
}

#[tokio::test]
async fn a_definition_that_cannot_be_registered_affects_no_other() {
    let (catalog, servers) = servers();
    let level = |level: u32| {
        let below = json!({"$ref": format!("#/$defs/{}", level + 1)});
        (
            level.to_string(),
            json!({"anyOf": [{"properties": {"a": below}}, {"properties": {"b": below}}]}),
        )
    };
    let bomb: serde_json::Map<_, _> = (0..60)
        .map(level)
        .chain([("60".to_owned(), json!({}))])
        .collect();
    let tools = vec![
        tool("first"),
        defined(json!({"name": "bomb", "inputSchema": {"$ref": "#/$defs/0", "$defs": bomb}})),
        defined(
            json!({"name": "invalid", "inputSchema": {"type": "object", "properties": {"x": {"type": "text"}}}}),
        ),
        defined(
            json!({"name": "remote", "inputSchema": {"$ref": "https://example.org/schema.json"}}),
        ),
        tool("last"),
    ];
    let report = servers
        .import(Scripted::new(MODERN, tools).import("s"))
        .unwrap()
        .ready()
        .await
        .unwrap();
    assert_eq!(
        report.tools,
        ["mcp:s/first", "mcp:s/invalid", "mcp:s/remote", "mcp:s/last"]
    );
    let refused: Vec<_> = report
        .refused
        .iter()
        .map(|refused| refused.tool.as_str())
        .collect();
    assert_eq!(refused, ["bomb"]);
    assert_eq!(report.notes.len(), 2, "{report:?}");
    assert!(
        report
            .refused
            .iter()
            .all(|refused| matches!(refused.refusal, Refusal::Catalog(_)))
    );
    assert_eq!(catalog.names().len(), 4);
}

#[tokio::test]
async fn a_server_takes_no_name_of_another_tool_or_server() {
    let catalog = SharedCatalog::from(Catalog::new());
    let host = Tool::new("mcp:s/a", "The host's.", json!({"type": "object"})).unwrap();
    catalog
        .register(host, async |_: ToolContext, _: serde_json::Value| {
            Ok::<_, String>("the host's")
        })
        .unwrap();
    let servers = Servers::new(catalog.clone());
    let scripted = Scripted::new(MODERN, vec![tool("a"), tool("b")]);
    let imported = servers.import(scripted.import("s")).unwrap();
    let report = imported.ready().await.unwrap();
    assert_eq!((report.tools.len(), report.refused.len()), (1, 1));
    assert_eq!(
        catalog.get("mcp:s/a").unwrap().tool().description,
        "The host's."
    );
    let taken = servers.import(scripted.import("s")).unwrap_err();
    assert_eq!(
        taken,
        ImportError::NameTaken {
            name: "s".parse().unwrap()
        }
    );

    assert!(servers.remove("s").await);
    assert_eq!(catalog.names(), ["mcp:s/a"]);
    assert_eq!(imported.status(), Status::Removed);
    assert!(!servers.remove("s").await);
}

#[tokio::test]
async fn a_review_decides_about_each_definition_and_not_about_its_name() {
    let (catalog, servers) = servers();
    let review = |tool: Tool| {
        if tool.name == "mcp:s/b" {
            return Err("it is blocked".to_owned());
        }
        let name = "fs.read".parse().unwrap();
        Ok(Tool {
            was: vec![name],
            ..tool
        }
        .with_effects(Effects::Pure))
    };
    let scripted = Scripted::new(MODERN, vec![tool("a"), tool("b")]);
    let mut import = scripted.import("s");
    import.review = Some(Arc::new(review));
    let report = servers.import(import).unwrap().ready().await.unwrap();
    assert_eq!(
        report.refused[0].refusal,
        Refusal::Review {
            reason: "it is blocked".to_owned()
        }
    );
    let entry = catalog.get("mcp:s/a").unwrap();
    assert!(entry.tool().effects.is_pure() && entry.tool().was.is_empty());
    assert_eq!(catalog.names(), ["mcp:s/a"]);
}

#[tokio::test]
async fn pages_that_repeat_end_the_list() {
    for (page, tools, expected) in [
        (0, 3, "where its pages repeat"),
        (1, 2000, "after 1000 pages"),
    ] {
        let (catalog, servers) = servers();
        let tools = (0..tools)
            .map(|number| tool(&format!("t{number}")))
            .collect();
        let scripted = Scripted {
            page,
            ..Scripted::new(LEGACY, tools)
        };
        let report = servers
            .import(scripted.import("s"))
            .unwrap()
            .ready()
            .await
            .unwrap();
        assert!(
            report
                .cut
                .as_ref()
                .is_some_and(|cut| cut.ends_with(expected)),
            "{report:?}"
        );
        assert_eq!(catalog.names().len(), report.tools.len());
    }
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_an_error_and_no_other_server_waits_for_it() {
    let (catalog, servers) = servers();
    let unreachable = Import::from_streams("bad".parse().unwrap(), async || {
        Err::<(tokio::io::Empty, tokio::io::Sink), _>(std::io::Error::other("no such program"))
    });
    let failing = servers.import(unreachable).unwrap();
    let good = servers
        .import(Scripted::new(ProtocolVersion::V_2026_07_28, vec![tool("a")]).import("good"))
        .unwrap();
    assert_eq!(good.ready().await.unwrap().tools, ["mcp:good/a"]);
    let error = failing.ready().await.unwrap_err();
    assert!(
        matches!(&error, ImportError::Open { reason, .. } if reason == "no such program"),
        "{error}"
    );
    assert!(matches!(failing.status(), Status::Disconnected { .. }));
    assert_eq!(catalog.names(), ["mcp:good/a"]);
    assert_eq!(servers.list().len(), 2);
}

#[tokio::test]
async fn a_tool_that_the_host_has_replaced_stays_the_hosts() {
    for is_changed in [false, true] {
        let (catalog, servers) = servers();
        let scripted = Scripted::new(MODERN, vec![tool("a"), tool("b")]);
        servers
            .import(scripted.import("s"))
            .unwrap()
            .ready()
            .await
            .unwrap();
        let host = Tool::new("mcp:s/a", "The host's.", json!({"type": "object"})).unwrap();
        catalog
            .replace(host, async |_: ToolContext, _: serde_json::Value| {
                Ok::<_, String>("the host's")
            })
            .unwrap();
        if is_changed {
            let changed =
                defined(json!({"name": "a", "description": "Changed.", "inputSchema": {}}));
            let mut changes = catalog.subscribe();
            scripted.tools.send_replace(vec![changed]);
            while catalog.contains("mcp:s/b") {
                changes.changed().await;
            }
        }
        servers.remove("s").await;
        assert_eq!(
            catalog.get("mcp:s/a").unwrap().tool().description,
            "The host's."
        );
        assert_eq!(catalog.names(), ["mcp:s/a"]);
    }
}
