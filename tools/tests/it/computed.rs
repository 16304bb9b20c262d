//! Targets that a function of the tool computes.

use std::sync::Arc;

use serde_json::{Value, json};
use tools::protocol::TargetError;
use tools::{
    Catalog, ErrorCode, Grant, Handler, HandlerFuture, Host, Input, Target, Targets, Tool,
    ToolContext, ToolResult, tool,
};

/// Copies each word of a text into a box of that name.
#[tool(writes = "box:a/{*}", reads = "box:{from}", targets = boxes)]
async fn scatter(
    _cx: &ToolContext,
    /// The box to read.
    from: String,
    /// The words.
    text: String,
) -> String {
    format!("{from}: {text}")
}

fn boxes(from: String, text: String) -> Targets {
    let invalid = |reason| TargetError::Argument {
        field: "text".to_owned(),
        reason,
    };
    let target = |target: String| target.parse::<Target>().map_err(invalid);
    assert!(!text.contains("panic"), "no panic");
    let written = text
        .split(' ')
        .map(|word| target(format!("box:write:{word}")));
    written
        .chain([target(format!("box:read:{from}"))])
        .collect()
}

async fn call(grant: &[&str], text: &str) -> Result<String, ErrorCode> {
    let mut catalog = Catalog::new();
    catalog.submit(&[&SCATTER_TOOL]).unwrap();
    let cx = Host::new().with_grant(Grant::parse(grant).unwrap());
    let result = catalog
        .execute(&cx, "scatter", json!({"from": "b", "text": text}))
        .await;
    result
        .map(|result| result.to_text())
        .map_err(|error| error.code())
}

#[tokio::test]
async fn the_grant_has_to_cover_each_target_that_the_function_computes() {
    let granted = ["box:read:b", "box:write:a/one", "box:write:a/two"];
    assert_eq!(
        call(&granted, "a/one a/two a/one").await.as_deref(),
        Ok("b: a/one a/two a/one")
    );
    let mut catalog = Catalog::new();
    catalog.submit(&[&SCATTER_TOOL]).unwrap();
    let arguments = json!({"from": "b", "text": "a/two a/one a/two"});
    let targets = catalog
        .get("scatter")
        .unwrap()
        .targets(&arguments.into(), &Host::new())
        .unwrap();
    let targets: Vec<_> = targets.iter().map(Target::to_string).collect();
    assert_eq!(
        targets,
        ["box:read:b", "box:write:a/one", "box:write:a/two"],
        "each once"
    );
    for (granted, text) in [
        (&granted[..], "a/one a/three"),
        (&granted[1..], "a/one"),
        (&granted[..2], "a/two"),
        (&[], "a/one"),
    ] {
        assert_eq!(
            call(granted, text).await,
            Err(ErrorCode::PermissionDenied),
            "{granted:?} {text}"
        );
    }
}

#[tokio::test]
async fn a_call_is_refused_if_the_function_fails_or_leaves_the_templates() {
    for text in [
        "c/one",
        "",
        "a/one panic",
        &(0..1_025)
            .map(|number| format!("a/{number}"))
            .collect::<Vec<_>>()
            .join(" "),
    ] {
        assert_eq!(
            call(&["*:*:**"], text).await,
            Err(ErrorCode::InvalidArguments),
            "{}",
            &text[..text.len().min(20)]
        );
    }
}

#[tokio::test]
async fn the_function_is_called_with_the_default_of_an_argument() {
    struct Plain;
    impl Handler for Plain {
        fn call<'a>(&'a self, _: ToolContext, _: Input) -> HandlerFuture<'a> {
            HandlerFuture::ready(Ok(ToolResult::text("done")))
        }
        fn targets(&self, arguments: Input) -> Option<Targets> {
            let name = arguments.value()["name"].as_str().unwrap_or_default();
            Some(Ok(vec![
                Target::new(tools::Access::Write, "box", name).unwrap(),
            ]))
        }
    }
    let parameters =
        json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    let effects: tools::Effects = serde_json::from_value(json!({"writes": ["box:{*}"]})).unwrap();
    let tool = Tool::new("put", "Puts.", parameters)
        .unwrap()
        .with_effects(effects);
    let entry = Catalog::new().register(tool.clone(), Plain).unwrap();
    let target = |entry: &Arc<tools::Entry>, arguments: Value| {
        entry.targets(&arguments.into(), &Host::new()).unwrap()[0].to_string()
    };
    assert_eq!(target(&entry, json!({"name": "a"})), "box:write:a");
    assert_eq!(
        target(&entry.with_default("name", json!("b")).unwrap(), json!({})),
        "box:write:b"
    );

    let without = Catalog::new()
        .register(tool, async |_: ToolContext, _: Value| "done")
        .unwrap();
    let refused = without.targets(&json!({"name": "a"}).into(), &Host::new());
    assert!(
        matches!(refused, Err(TargetError::Computed { .. })),
        "{refused:?}"
    );
}

#[test]
fn the_ceiling_of_computed_targets_is_that_of_their_templates() {
    let mut catalog = Catalog::new();
    catalog.submit(&[&SCATTER_TOOL]).unwrap();
    let tool = catalog.get("scatter").unwrap();
    let ceiling = tool.tool().effects.ceiling(tool.name());
    assert_eq!(
        ceiling.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["box:read:**", "box:write:a/**"]
    );
    assert!(tool.tool().effects.are_computed());
    assert_eq!(
        serde_json::to_value(&tool.tool().effects).unwrap()["writes"],
        json!(["box:a/{*}"])
    );
}
