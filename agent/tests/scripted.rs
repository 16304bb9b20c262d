//! Scripts, and what is wrong with them.

#![allow(clippy::unwrap_used, reason = "clippy takes functions beside the tests for code outside of tests")]

use std::path::Path;

use agent::{ProviderError, ProviderOptions, Providers, Request, Scripted, Stop, ToolSet, Turn};
use serde_json::json;
use tools::CancellationToken;

async fn next(provider: &dyn agent::Provider) -> Result<Turn, ProviderError> {
    provider.complete(Request::new(&[], &ToolSet::default(), &CancellationToken::new())).await
}

fn reason(script: &str) -> String {
    match Scripted::from_json(script) {
        Err(ProviderError::Script { reason, .. }) => reason,
        other => panic!("no refusal: {other:?}"),
    }
}

#[tokio::test]
async fn turns_are_played_in_order_and_then_no_more() {
    let script = r#"[{"calls": [{"name": "x", "arguments": {"a": 1}}, {"name": "y", "id": "own"}]}, {"text": "done"}]"#;
    let provider = Scripted::from_json(script).unwrap();
    let first = next(&provider).await.unwrap();
    let calls: Vec<_> = first.message.calls().collect();
    assert_eq!((calls[0].id.as_str(), &calls[0].arguments), ("script_1", &json!({"a": 1})));
    assert_eq!((calls[1].id.as_str(), &calls[1].arguments), ("own", &json!({})));
    assert_eq!(first.stop, Stop::Calls);
    assert_eq!(next(&provider).await.unwrap(), Turn::answer("done"));
    let error = next(&provider).await.unwrap_err();
    assert_eq!(error.to_string(), "the script has no turn left after 2; end it with one that has text and no calls");
}

#[test]
fn what_is_no_script_is_refused_with_its_place() {
    assert!(reason("[{\"text\": ").contains("line 1"));
    assert!(reason("{}").contains("sequence"));
    assert!(reason("[{}]").contains("turn 1 has neither text nor calls"));
    assert!(reason("[{\"txet\": \"x\"}]").contains("unknown field `txet`"));
    assert!(reason("[{\"calls\": [{\"name\": \"x\", \"args\": {}}]}]").contains("unknown field `args`"));
    assert!(reason("[{\"calls\": [{}]}]").contains("missing field `name`"));
    assert!(reason(r#"[{"calls": [{"name": "x", "arguments": {"a": 1, "a": 2}}]}]"#).contains("each key once"));
}

#[test]
fn a_script_needs_a_file_that_is_there() {
    let scripted = Providers::linked().get("scripted").unwrap();
    let error = scripted.create(&ProviderOptions::new()).err().unwrap();
    assert!(matches!(&error, ProviderError::Options { .. }), "{error}");

    let missing = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-such-script.json");
    let error = scripted.create(&ProviderOptions::new().with_script(&missing)).err().unwrap();
    assert!(matches!(&error, ProviderError::ScriptFile { path, .. } if *path == missing), "{error}");

    let wrong = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-script.json");
    std::fs::write(&wrong, "[1]").unwrap();
    let error = scripted.create(&ProviderOptions::new().with_script(&wrong)).err().unwrap();
    assert!(error.to_string().contains("no-script.json does not hold model turns"), "{error}");
}
