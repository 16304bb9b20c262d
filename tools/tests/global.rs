//! The process-wide catalog: one test in its own program. All other tests create their own catalog.

#[path = "it/sample.rs"]
mod sample;

use sample::{echo, pure};
use serde_json::json;
use tools::{Host, ToolErrorKind, ToolResult, tool};

/// Says hello.
#[tool(name = "greet", pure)]
fn greet(
    /// Whom to greet.
    name: String,
) -> String {
    format!("hello {name}")
}

/// A type whose schema lists the registered tools, so that building its definition reads the catalog.
#[derive(serde::Deserialize)]
struct AnyTool;

impl tools::JsonSchema for AnyTool {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "AnyTool".into()
    }

    fn json_schema(_: &mut tools::schemars::SchemaGenerator) -> tools::schemars::Schema {
        let names: Vec<_> = tools::list()
            .iter()
            .map(|entry| entry.name().to_string())
            .collect();
        tools::schemars::json_schema!({"enum": names})
    }
}

/// Runs any tool.
#[tool(name = "any", pure)]
fn any(
    /// The tool's name.
    tool: Option<AnyTool>,
) -> bool {
    tool.is_some()
}

mod elsewhere {
    /// Claims a name.
    #[tools::tool(name = "claimed", pure)]
    pub(crate) fn one() -> u8 {
        1
    }

    /// Claims the same name.
    #[tools::tool(name = "claimed", pure)]
    pub(crate) fn two() -> u8 {
        2
    }
}

#[tokio::test]
async fn linked_tools_are_registered_and_all_functions_use_one_catalog() {
    // Building a definition that reads the catalog does not deadlock, and sees the definitions built before.
    assert!(tools::contains("any") && tools::get("any").is_ok());
    assert!(tools::unregister("any"));

    // Linked, without a registration.
    let result = tools::execute(&Host::new(), "greet", json!({"name": "you"}))
        .await
        .unwrap();
    assert_eq!(result, ToolResult::text("hello you"));
    assert_eq!(
        greet("you".to_owned()),
        "hello you",
        "the function is still a function"
    );
    let source = tools::get("greet").unwrap().source().clone();
    assert_eq!(
        (&*source.crate_name, &*source.file),
        (env!("CARGO_PKG_NAME"), file!())
    );

    // Two tools of one name: neither runs, and the error names both places.
    let conflicts = tools::conflicts();
    assert_eq!(conflicts.len(), 1);
    assert_eq!(conflicts[0].sources.len(), 2);
    let error = tools::execute(&Host::new(), "claimed", json!({}))
        .await
        .unwrap_err();
    assert!(
        matches!(error.kind(), ToolErrorKind::Conflict { sources, .. } if sources.len() == 2),
        "{error}"
    );
    assert!(tools::contains("claimed"));
    assert!(!tools::list().iter().any(|entry| entry.name() == "claimed"));
    assert_eq!((elsewhere::one(), elsewhere::two()), (1, 2));

    // Registered at run time.
    let watch = tools::subscribe();
    let before = watch.generation();
    tools::register(pure("later"), echo).unwrap();
    assert_eq!(watch.generation(), before + 1);
    tools::register(pure("later"), echo).unwrap_err();
    tools::validate("later", json!({})).unwrap();
    tools::replace(pure("claimed"), echo).unwrap();
    assert!(tools::conflicts().is_empty(), "replace settles a conflict");
    let snapshot = tools::snapshot();
    assert!(tools::unregister("later"));
    assert!(snapshot.contains("later"));
    assert_eq!(tools::problems(), []);

    // Submitting linked tools again changes nothing.
    tools::submit(&[&GREET_TOOL]).unwrap();
    let names: Vec<_> = tools::list()
        .iter()
        .map(|entry| entry.name().to_string())
        .collect();
    assert_eq!(names, ["claimed", "greet"]);

    tools::expect_linked!("toolcrib-tools", "toolcrib_tools").unwrap();
    let missing = tools::expect_linked!("toolcrib-tools", "no-such-crate").unwrap_err();
    assert_eq!(missing.missing, ["no-such-crate"]);
}
