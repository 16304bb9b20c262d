//! `tools/list`.

use serde_json::{Value, json};
use tools::{Catalog, Host, ToolContext, ToolName};
use tools_mcp::server::ServerLimits;

use crate::server_client::{BOTH, Person, call, connect, legacy, modern, server, text_of, tool};

fn catalog(names: &[&str]) -> Catalog {
    let mut catalog = Catalog::new();
    for name in names {
        let said = (*name).to_owned();
        catalog
            .register(tool(name), move |_: ToolContext, _: Value| {
                std::future::ready(said.clone())
            })
            .unwrap();
    }
    catalog
}

#[tokio::test]
async fn tools_are_listed_in_pages_in_one_order() {
    let names = ["b.two", "a.one", "c.three", "e", "d"];
    let server = server(catalog(&names), Host::new()).with_limits(ServerLimits {
        page_size: 2,
        ..ServerLimits::default()
    });
    for mode in BOTH {
        let connected = connect(&server, mode, Person::silent()).await;
        let first = connected.client.list_tools(None).await.unwrap();
        assert_eq!(first.tools.len(), 2);
        assert!(first.next_cursor.is_some());
        let listed = connected.client.list_all_tools().await.unwrap();
        let listed: Vec<_> = listed.iter().map(|tool| &*tool.name).collect();
        assert_eq!(listed, ["a.one", "b.two", "c.three", "d", "e"]);
    }
}

#[tokio::test]
async fn a_cursor_of_another_origin_is_refused() {
    let connected = connect(
        &server(catalog(&["a"]), Host::new()),
        legacy(),
        Person::silent(),
    )
    .await;
    let cursor = |text: &str| {
        rmcp::model::PaginatedRequestParams::default().with_cursor(Some(text.to_owned()))
    };
    // An empty text is that of clients without one.
    let first = connected.client.list_tools(Some(cursor(""))).await;
    assert_eq!(first.unwrap().tools.len(), 1);
    let request = cursor("a");
    let error = connected
        .client
        .list_tools(Some(request))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("-32602"), "{error}");
}

#[tokio::test]
async fn a_definition_arrives_with_all_that_the_protocol_has() {
    let mut catalog = Catalog::new();
    let parameters = json!({"type": "object", "$defs": {"a": {"$anchor": "a", "type": "integer"}}, "properties": {
        "n": {"$ref": "#/$defs/a"}, "x": {"if": {"type": "string"}, "then": {"minLength": 1}, "else": true}}});
    let output = json!({"type": "array", "items": {"type": "integer"}});
    let icon = serde_json::from_value(
        json!({"src": "https://example.org/i.png", "mimeType": "image/png", "sizes": ["48x48"]}),
    );
    let definition = tools::Tool::new("draw", "Draws.", parameters.clone()).unwrap();
    let mut definition = definition.with_title("Draw it").with_output(output.clone());
    definition.icons.push(icon.unwrap());
    catalog
        .register(definition, async |_: ToolContext, _: Value| "drawn")
        .unwrap();
    let server = server(catalog, Host::new());
    for (mode, sent) in [(legacy(), None), (modern(), Some(output))] {
        let listed = connect(&server, mode, Person::silent())
            .await
            .client
            .list_all_tools()
            .await
            .unwrap();
        let listed = serde_json::to_value(&listed[0]).unwrap();
        assert_eq!(listed["inputSchema"], parameters);
        assert_eq!(listed["title"], "Draw it");
        assert_eq!(listed["icons"][0]["src"], "https://example.org/i.png");
        assert_eq!(listed["annotations"]["readOnlyHint"], false);
        // Clients of older revisions know only objects.
        assert_eq!(listed.get("outputSchema").cloned(), sent);
    }
}

#[tokio::test]
async fn the_hints_are_those_of_the_effects_and_titles_are_visible() {
    let mut catalog = Catalog::new();
    let hints = json!({"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false,
        "title": "Safe\u{202e} reader"});
    let Value::Object(hints) = hints else {
        unreachable!()
    };
    let mut wipe = tools::Tool::new("wipe", "Wipes.", json!({"type": "object"})).unwrap();
    wipe.annotations = Some(hints);
    catalog
        .register(
            wipe.with_title("A\u{202e}B"),
            async |_: ToolContext, _: Value| "wiped",
        )
        .unwrap();
    let listed = connect(&server(catalog, Host::new()), legacy(), Person::silent()).await;
    let listed = serde_json::to_value(&listed.client.list_all_tools().await.unwrap()[0]).unwrap();
    let hints = &listed["annotations"];
    for (hint, expected) in [
        ("readOnlyHint", false),
        ("destructiveHint", true),
        ("idempotentHint", false),
        ("openWorldHint", true),
    ] {
        assert_eq!(hints[hint], expected, "{hint}");
    }
    assert_eq!(
        (&hints["title"], &listed["title"]),
        (&json!("Safe<U+202E> reader"), &json!("A<U+202E>B"))
    );
}

#[tokio::test]
async fn a_name_that_mcp_does_not_allow_is_listed_and_called_in_its_wire_form() {
    let long = format!(
        "server.{}",
        "x".repeat(ToolName::MAX_LENGTH - "server.".len())
    );
    let names = ["mcp:files/read".to_owned(), long];
    let server = server(catalog(&names.each_ref().map(|name| &**name)), Host::new());
    let connected = connect(&server, modern(), Person::silent()).await;
    let listed = connected.client.list_all_tools().await.unwrap();
    assert_eq!(listed.len(), 2);
    for tool in &listed {
        assert!(tool.name.len() <= 128, "{}", tool.name);
        assert!(
            tool.name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c)),
            "{}",
            tool.name
        );
        let (said, is_error) = text_of(
            &call(&connected.client, &tool.name, json!({}))
                .await
                .unwrap(),
        );
        assert!(!is_error && names.contains(&said), "{said}");
    }
}

#[tokio::test]
async fn clients_of_both_generations_learn_that_the_tools_changed() {
    let server = server(catalog(&["a"]), Host::new());
    let served = |names: &[&str]| {
        let catalog = catalog(names);
        tools_mcp::server::ServedTools::new(catalog.list(), catalog).unwrap()
    };
    let (person, mut heard) = Person::new(None);
    let connected = connect(&server, legacy(), person).await;
    // The notification follows the client's own, which a first answer has overtaken.
    assert_eq!(connected.client.list_all_tools().await.unwrap().len(), 1);
    server.replace_tools(served(&["a", "b"]));
    assert_eq!(heard.recv().await.unwrap(), "tools changed");
    assert_eq!(connected.client.list_all_tools().await.unwrap().len(), 2);

    let connected = connect(&server, modern(), Person::silent()).await;
    let filter = serde_json::from_value(json!({"toolsListChanged": true})).unwrap();
    let mut subscription = connected.client.listen(filter).await.unwrap();
    server.replace_tools(served(&["a", "b", "c"]));
    let notification = subscription.next().await.unwrap();
    assert_eq!(
        serde_json::to_value(&notification).unwrap()["method"],
        "notifications/tools/list_changed"
    );
    assert_eq!(connected.client.list_all_tools().await.unwrap().len(), 3);
}
