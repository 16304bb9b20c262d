//! Calls of tools that read a host, by a context that has read text of strangers.

use serde_json::{Value, json};
use tools::context::{Exposure, KnownTexts};
use tools::policy::{Rule, Verdict};
use tools::{Catalog, ErrorCode, Grant, Host, Policy, Tool, ToolContext};

const URL: &str = "https://a.example/";

fn catalog() -> Catalog {
    let mut catalog = Catalog::new();
    let parameters = json!({"type": "object", "required": ["url"], "properties": {
        "url": {"type": "string"},
        "form": {"$ref": "#/$defs/Form"},
        "body": {},
        "note": {"type": "string"},
        "pages": {"type": "array"},
        "size": {"type": "number"},
    }, "$defs": {"Form": {"oneOf": [{"enum": ["text", "raw"]}, {"const": "html"}]}}});
    for (name, target) in [
        ("get", "net:{url|host}"),
        ("ask", "net:{url}"),
        ("own", "net:a.example"),
    ] {
        let effects =
            serde_json::from_value(json!({"reads": [target], "open_world": true})).unwrap();
        let tool = Tool::new(name, "A tool.", parameters.clone())
            .unwrap()
            .with_effects(effects);
        catalog
            .register(tool, async |_: ToolContext, _: Value| "text".to_owned())
            .unwrap();
    }
    let effects = serde_json::from_value(json!("pure")).unwrap();
    let outer = Tool::new("outer", "A tool.", json!({"type": "object"}))
        .unwrap()
        .with_effects(effects);
    let nested = async |cx: ToolContext, arguments: Value| {
        cx.execute("get", arguments)
            .await
            .map(|result| result.to_text())
    };
    catalog.register(outer, nested).unwrap();
    catalog
}

/// An exposed context with a prompt.
fn exposed(grant: &str) -> Host {
    let known = KnownTexts::new();
    known.add_prompt("Look for red hammers, at https://b.example/x");
    let cx = Host::new().with_grant(Grant::parse([grant]).unwrap());
    let cx = cx.with_service(Exposure::new()).with_service(known);
    cx.record_exposure();
    cx
}

async fn is_unasked(cx: &ToolContext, name: &str, arguments: Value) -> bool {
    match catalog().execute(cx, name, arguments).await {
        Ok(_) => true,
        Err(error) => {
            assert_eq!(error.code(), ErrorCode::Unapproved, "{error}");
            false
        }
    }
}

#[tokio::test]
async fn a_text_beside_a_url_is_asked_about_unless_the_schema_lists_it_or_a_prompt_has_it() {
    for (more, expected) in [
        (json!({}), true),
        (json!({"form": "raw", "size": 3}), true),
        (json!({"form": "html"}), true),
        (json!({"body": "red hammers"}), true),
        (json!({"body": "hammers red"}), false),
        (json!({"body": "red", "note": "hammers"}), false),
        (json!({"body": {"x": "red"}}), false),
        (json!({"body": {"secret": {}}}), false),
        (json!({"body": [1, 2]}), false),
        (json!({"body": []}), true),
        (json!({"body": null}), true),
        (json!({"pages": [URL, "https://a.example/red"]}), true),
        (json!({"pages": [URL, "https://a.example/secret"]}), false),
        (json!({"pages": [URL, "https://c.example/"]}), false),
        (json!({"secret": 1}), false),
        (json!({"body": {"secret": URL}}), false),
        (json!({"body": [[URL, "https://a.example/secret"]]}), false),
        (
            json!({"body": {"red": {"x": "https://a.example/secret"}}}),
            false,
        ),
    ] {
        let mut arguments = more;
        arguments["url"] = URL.into();
        assert_eq!(
            is_unasked(&exposed("net:read:a.example"), "get", arguments.clone()).await,
            expected,
            "{arguments}"
        );
    }
}

#[tokio::test]
async fn a_host_by_itself_is_a_url_and_a_tool_with_a_host_of_its_own_has_none() {
    let cx = exposed("net:read:a.example");
    assert!(is_unasked(&cx, "ask", json!({"url": "a.example"})).await);
    assert!(!is_unasked(&cx, "ask", json!({"url": "a.example", "body": "secret"})).await);
    assert!(is_unasked(&cx, "own", json!({"url": "", "body": "secret"})).await);
}

#[tokio::test]
async fn the_name_of_a_host_is_no_choice_of_a_tool_that_may_read_each() {
    let rule = || {
        Rule::new(
            Verdict::Allow,
            Some("get"),
            Some("net:read:**".parse().unwrap()),
        )
        .unwrap()
    };
    let any = || exposed("net:read:**").with_policy(Policy::new().with_rules([rule()]));
    for (url, expected) in [
        ("https://b.example/", true),
        ("https://b.example/x", true),
        ("https://secret.example/", false),
    ] {
        assert_eq!(
            is_unasked(&any(), "get", json!({"url": url})).await,
            expected,
            "{url}"
        );
    }
    let named = any().with_grant(Grant::parse(["net:read:secret.example"]).unwrap());
    assert!(is_unasked(&named, "get", json!({"url": "https://secret.example/"})).await);
}

#[tokio::test]
async fn nested_calls_count_as_calls_of_the_session() {
    let cx = exposed("net:read:a.example");
    for number in 0..22 {
        let (name, path) = (
            ["outer", "get"][number % 2],
            ["red", "hammers", "for"][number % 3],
        );
        let arguments = json!({"url": format!("{URL}{path}")});
        let ended = catalog().execute(&cx, name, arguments).await;
        assert_eq!(ended.is_ok(), number < 20, "{number}");
    }
}
