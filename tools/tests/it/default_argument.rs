//! A tool with another default for an argument.

use std::sync::Arc;

use serde_json::{Value, json};
use tools::{Catalog, Effects, Entry, ErrorCode, Grant, Host, RegisterError, Tool, ToolContext};

/// Returns a tool that reads a page and answers with its arguments.
fn reader() -> Arc<Entry> {
    let parameters = json!({
        "type": "object",
        "properties": {"page": {"type": "string"}, "line": {"type": "integer"}},
        "required": ["page", "line"],
    });
    let effects: Effects = serde_json::from_value(json!({"reads": ["book:{page}"]})).unwrap();
    let tool = Tool::new("read", "Reads a page.", parameters)
        .unwrap()
        .with_effects(effects);
    let tool = tool.with_example(tools::protocol::Example::new(
        json!({"page": "one", "line": 1}),
    ));
    Catalog::new()
        .register(tool, async |_: ToolContext, arguments: Value| {
            arguments.to_string()
        })
        .unwrap()
}

async fn call(entry: &Arc<Entry>, grant: &str, arguments: Value) -> Result<Value, ErrorCode> {
    let cx = Host::new().with_grant(Grant::parse([grant]).unwrap());
    let scope = Arc::new(Only(entry.clone()));
    let result = tools::call::execute(scope, &cx, "read", arguments)
        .await
        .map_err(|error| error.code())?;
    Ok(result.to_text().parse().unwrap())
}

/// Resolves one tool.
struct Only(Arc<Entry>);

impl tools::call::Resolve for Only {
    fn resolve(&self, _: &str) -> Result<Arc<Entry>, tools::ToolError> {
        Ok(self.0.clone())
    }
}

#[tokio::test]
async fn a_call_without_the_argument_has_the_default_and_its_target() {
    let reader = reader();
    let bound = reader.with_default("page", json!("two")).unwrap();
    assert_eq!(
        call(&bound, "book:read:two", json!({"line": 3})).await,
        Ok(json!({"line": 3, "page": "two"}))
    );
    let denied = Err(ErrorCode::PermissionDenied);
    assert_eq!(
        call(&bound, "book:read:one", json!({"line": 3})).await,
        denied
    );
    let named = json!({"line": 3, "page": "one"});
    assert_eq!(
        call(&bound, "book:read:one", named.clone()).await,
        Ok(named)
    );
    assert_eq!(
        call(&bound, "book:read:two", json!({})).await,
        Err(ErrorCode::InvalidArguments)
    );

    bound.verify().unwrap();
    assert_eq!(bound.tool().examples[0].arguments, json!({"line": 1}));
    assert!(bound.digest() != reader.digest() && bound.source() == reader.source());
    let again = bound.with_default("page", json!("three")).unwrap();
    assert_eq!(
        call(&again, "book:read:*", json!({"line": 3})).await,
        Ok(json!({"line": 3, "page": "three"}))
    );
}

#[test]
fn only_a_parameter_has_a_default_and_one_in_a_target_is_a_text() {
    let reader = reader();
    assert!(Arc::ptr_eq(
        &reader,
        &reader.with_default("chapter", json!("two")).unwrap()
    ));
    let bound = reader.with_default("page", json!("two")).unwrap();
    assert!(Arc::ptr_eq(
        &bound,
        &bound.with_default("page", json!("two")).unwrap()
    ));
    let error = reader.with_default("page", json!(["a", {}])).unwrap_err();
    assert!(matches!(error, RegisterError::Effects { .. }), "{error}");
}
