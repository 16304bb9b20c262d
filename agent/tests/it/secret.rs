//! Events and answers of a session hold no secrets.

use std::sync::Arc;

use crate::workshop::{EventLog, add, catalog, scripted, session};
use agent::{ArgumentError, Direct, Driver, Event, Session, ToolSet, Turn, arguments_from_pairs};
use serde_json::{Value, json};
use tools::handler::KeptCall;
use tools::{
    Catalog, Effects, Handler, HandlerFuture, Input, Tool, ToolCall, ToolContext, ToolResult,
};

/// A catalog with a tool whose `key` is secret, or not, and another one without secrets.
fn vault(is_secret: bool) -> Catalog {
    let mut catalog = catalog(["other"]);
    let parameters = json!({"type": "object", "required": ["key"], "additionalProperties": false, "properties": {
        "key": {"type": "string", "maxLength": 20, "writeOnly": is_secret},
        "user": {"type": "string"},
    }});
    let tool = Tool::new("vault.open", "Opens.", parameters)
        .unwrap()
        .with_effects(Effects::Pure);
    catalog
        .register(tool, async |_: ToolContext, _: Value| "open")
        .unwrap();
    catalog
}

/// Returns the outcome and the events of a run as text.
async fn output_of(driver: Driver, session: &mut Session, prompt: &str) -> String {
    let log = EventLog::default();
    let outcome = driver
        .with_events(log.clone())
        .run(session, prompt)
        .await
        .unwrap();
    // The contents of JSON are in no debug output.
    let json = |event: &Event| match event {
        Event::CallStarted {
            arguments, rulings, ..
        } => serde_json::to_string(&(arguments, rulings)).unwrap(),
        Event::Result { result, .. } => serde_json::to_string(result).unwrap(),
        _ => String::new(),
    };
    let events: Vec<_> = log
        .events()
        .iter()
        .map(|event| format!("{event:?} {}", json(event)))
        .collect();
    format!("{outcome:?} {events:?}")
}

fn turns(name: &str, arguments: Value) -> [Turn; 2] {
    [
        Turn::calls([ToolCall::new("a", name, arguments)]),
        Turn::answer("done"),
    ]
}

#[tokio::test]
async fn events_have_no_secrets() {
    let calls = [
        ("vault.open", json!({"key": "canary", "user": "ada"})),
        ("vault.open", json!({"key": "canary", "user": 1})),
        ("vault.open", json!({"kye": "canary"})),
        ("vault.open", json!({"key": "canary".repeat(4)})),
        ("vault.open", json!("canary")),
        // The secret arguments of an unknown tool are unknown.
        ("vault.opne", json!({"key": "canary"})),
    ];
    for (name, arguments) in calls {
        for is_secret in [true, false] {
            let driver = scripted(turns(name, arguments.clone()));
            let mut session = session(&vault(is_secret));
            let output = output_of(driver, &mut session, "go").await;
            assert_eq!(
                output.contains("canary"),
                !is_secret,
                "{arguments}: {output}"
            );
            // The conversation keeps the arguments as the model wrote them.
            assert!(
                serde_json::to_string(session.messages())
                    .unwrap()
                    .contains("canary")
            );
            assert!(!is_secret || !format!("{:?}", session.messages()).contains("canary"));
        }
    }
}

/// A tool that keeps a call of another tool.
struct Later;

impl Handler for Later {
    fn call<'a>(&'a self, _: ToolContext, _: Input) -> HandlerFuture<'a> {
        HandlerFuture::ready(Ok(ToolResult::text("kept")))
    }

    fn kept_call(&self) -> Option<KeptCall> {
        Some(KeptCall {
            tool: "tool",
            arguments: "arguments",
        })
    }
}

#[tokio::test]
async fn events_have_no_secrets_of_a_call_that_is_kept_for_later() {
    for is_secret in [true, false] {
        let mut catalog = vault(is_secret);
        let parameters = json!({"type": "object", "properties": {"tool": {"type": "string"}, "arguments": {"type": "object"}}});
        let tool = Tool::new("later", "Keeps a call.", parameters)
            .unwrap()
            .with_effects(Effects::Pure);
        catalog.register(tool, Later).unwrap();
        let call = json!({"tool": "vault.open", "arguments": {"key": "canary"}});
        let output = output_of(scripted(turns("later", call)), &mut session(&catalog), "go").await;
        assert_eq!(output.contains("canary"), !is_secret, "{output}");
        assert!(output.contains("kept"), "{output}");
    }
}

#[tokio::test]
async fn the_answer_without_a_model_has_no_secrets() {
    for is_secret in [true, false] {
        let mut session = session(&vault(is_secret));
        let prompt = "vault.open key=canary ; vault.open key=canary user=ada ; other";
        let output = output_of(Driver::new(Arc::new(Direct)), &mut session, prompt).await;
        assert!(
            output.contains("# vault.open key=") && output.contains("user=ada"),
            "{output}"
        );
        assert_eq!(output.contains("canary"), !is_secret, "{output}");
    }
}

#[test]
fn calls_of_tools_that_are_not_there_are_shown_where_no_tool_has_secrets() {
    let call = ToolCall::new("a", "missing", json!({"key": "canary"}));
    let shown = |catalog: &Catalog| {
        session(catalog)
            .tools()
            .masked_arguments(&call)
            .into_value()
    };
    let mut plain = Catalog::new();
    add(&mut plain, "other");
    assert_eq!(call.arguments, shown(&plain));
    assert_eq!(shown(&vault(true)), json!("[secret]"));
    assert_eq!(ToolSet::default().masked_arguments(&call), call.arguments);
}

#[test]
fn a_typed_argument_that_does_not_fit_is_not_quoted_where_it_is_secret() {
    for is_secret in [true, false] {
        let schema = json!({"properties": {
            "pin": {"type": "integer", "writeOnly": is_secret},
            "login": {"type": "object", "properties": {"key": {"type": "string", "writeOnly": is_secret}}},
        }});
        for name in ["pin", "login"] {
            let error = arguments_from_pairs(&schema, [(name, "canary")]).unwrap_err();
            assert!(matches!(error, ArgumentError::Mismatch { .. }));
            assert_eq!(
                format!("{error} {error:?}").contains("canary"),
                !is_secret,
                "{error}"
            );
        }
    }
}
