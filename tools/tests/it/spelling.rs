//! Texts for a model: the names of tools and arguments that it knows, and notes about names that it misspelt.

use serde_json::{Value, json};
use tools::protocol::wire::Format;
use tools::{Catalog, Content, Effects, Host, Tool, ToolContext, ToolName, ToolResult};

use crate::sample::{echo, echoing};

/// A tool with an open schema and a key that services do not take.
fn search() -> Tool {
    let properties = json!({"path": {"type": "string"}, "recursive": {"type": "boolean"}, "$filter": {"enum": ["a"]}});
    let parameters = json!({"type": "object", "properties": properties, "required": ["path"]});
    Tool::new("fs.search", "Searches.", parameters)
        .unwrap()
        .with_effects(Effects::Pure)
}

async fn result(cx: &ToolContext, arguments: Value) -> ToolResult {
    let catalog = echoing([search()]);
    let outcome = catalog.execute(cx, "fs.search", arguments).await;
    outcome
        .unwrap_or_else(|error| cx.error_result(catalog.get("fs.search").ok().as_deref(), &error))
}

#[tokio::test]
async fn a_misspelt_optional_argument_gets_a_note_with_the_near_name() {
    let texts = |result: &ToolResult| {
        result.content[1..]
            .iter()
            .map(|piece| piece.as_text().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let misspelt = result(&Host::new(), json!({"path": "a", "recursiv": true})).await;
    assert_eq!(
        texts(&misspelt),
        ["note: `recursiv` is not a parameter of fs.search; did you mean `recursive`?"]
    );
    assert_eq!(
        misspelt.structured,
        Some(json!({"path": "a", "recursiv": true}).into()),
        "it reaches the tool"
    );
    for arguments in [
        json!({"path": "a", "recursive": true}),
        json!({"path": "a", "colour": true}),
    ] {
        let result = result(&Host::new(), arguments).await;
        assert_eq!(texts(&result), [""; 0]);
    }
    let cx = Host::new().with_wire(Format::Anthropic);
    let misspelt = result(&cx, json!({"path": "a", "filtr": "a"})).await;
    assert_eq!(
        texts(&misspelt),
        ["note: `filtr` is not a parameter of fs__search; did you mean `filter`?"]
    );
    // The codec reads `filter_` of the model as `filter`, because `filter` is the wire's `$filter`.
    let misspelt = result(&cx, json!({"path": "a", "filter": "a"})).await;
    assert_eq!(
        texts(&misspelt),
        ["note: `filter_` is not a parameter of fs__search; did you mean `filter`?"]
    );
}

#[tokio::test]
async fn a_note_hides_no_structured_result() {
    let structured = async |_: ToolContext, _: Value| ToolResult {
        content: vec![Content::text(" ")],
        structured: Some(json!({"lines": 7}).into()),
        ..ToolResult::default()
    };
    let mut catalog = Catalog::new();
    catalog
        .register(
            search().with_was([ToolName::new("fs.grep").unwrap()]),
            structured,
        )
        .unwrap();
    for (name, arguments) in [
        ("fs.grep", json!({"path": "a"})),
        ("fs.search", json!({"path": "a", "recursiv": true})),
    ] {
        let result = catalog
            .execute(&Host::new(), name, arguments)
            .await
            .unwrap();
        for format in Format::ALL {
            let shown = format.show_result("1", &result).content;
            let texts: Vec<_> = shown.iter().filter_map(Content::as_text).collect();
            assert!(
                texts.concat().contains("note: ") && texts.concat().contains(r#"{"lines":7}"#),
                "{format}: {texts:?}"
            );
        }
    }
}

#[tokio::test]
async fn the_result_of_a_nested_call_has_no_note() {
    let mut catalog = Catalog::new();
    catalog.register(search(), echo).unwrap();
    let outer = async |cx: ToolContext, _: Value| {
        cx.execute("fs.search", json!({"path": "a", "recursiv": 1}))
            .await
    };
    let tool = Tool::new("outer", "Calls another.", json!({"type": "object"}))
        .unwrap()
        .with_effects(Effects::Pure);
    catalog.register(tool, outer).unwrap();
    let result = catalog
        .execute(&Host::new(), "outer", json!({}))
        .await
        .unwrap();
    assert!(!result.to_text().contains("note:"), "{result:?}");
}

#[tokio::test]
async fn an_error_names_arguments_as_the_model_knows_them() {
    let arguments = json!({"path": "a", "$filter": "b"});
    let own = result(&Host::new(), arguments.clone()).await;
    assert!(
        own.to_text().contains("fs.search") && own.to_text().contains("`/$filter`"),
        "{own:?}"
    );
    let known = result(&Host::new().with_wire(Format::Anthropic), arguments).await;
    assert!(
        known.to_text().contains("fs__search") && known.to_text().contains("`/filter`"),
        "{known:?}"
    );
    assert!(!known.to_text().contains('$'), "{known:?}");
    assert_eq!(
        known.structured, own.structured,
        "programs read the catalog's names"
    );
}
