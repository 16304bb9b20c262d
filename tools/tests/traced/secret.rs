//! Secret arguments appear in no output, error, event or record of a call.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value, json};
use tools::context::ApprovalFuture;
use tools::handler::typed;
use tools::{
    Approval, Approver, Arguments, Catalog, Decision, Effects, Grant, Host, Input, Preview,
    RegisterError, Secret, Services, Tool, ToolCall, ToolContext, ToolError, ToolResult, schema_of,
    tool,
};

use crate::listener;
use crate::notebook::Notebook;
use crate::sample::{echo, holding, pure};
use crate::vault::{Login, vault};

/// An approver that allows every request and records it.
#[derive(Default)]
struct Guard(Mutex<String>);

impl Approver for Guard {
    fn approve<'a>(&'a self, approval: Approval<'a>) -> ApprovalFuture<'a> {
        Box::pin(async move {
            let preview = approval.preview().await;
            *self.0.lock().unwrap() += &format!("{approval:?} {} {preview:?}", approval.arguments);
            Decision::Allow
        })
    }
}

/// Calls the tool with every observer of a call, and returns everything that they received.
async fn observed(catalog: &Catalog, tool: &str, arguments: Arguments) -> String {
    static SESSIONS: AtomicUsize = AtomicUsize::new(0);
    listener::listen();
    let guard = Arc::new(Guard::default());
    let session = format!("session {}", SESSIONS.fetch_add(1, Ordering::Relaxed));
    let notebook = Notebook::default();
    let plain = Host::new()
        .with_session(session.as_str())
        .with_journal(Arc::new(notebook.clone()));
    let asked = plain.clone().with_approver(guard.clone());
    let granted = plain
        .clone()
        .with_grant(Grant::parse(["vault:write:**"]).unwrap());
    let mut observed = format!(
        "{asked:?} {arguments:?} {:?} {catalog:?}",
        catalog.get(tool).unwrap()
    );
    for cx in [
        plain,
        asked.clone(),
        asked.with_recorded_content(true),
        granted.with_recorded_content(true),
    ] {
        match catalog.execute(&cx, tool, arguments.clone()).await {
            Ok(result) => {
                observed += &format!("{result:?} {}", serde_json::to_string(&result).unwrap())
            }
            Err(error) => {
                let result = ToolResult::from(&error);
                observed += &format!(
                    "{error} {error:?} {error:#?} {result:?} {}",
                    serde_json::to_string(&result).unwrap()
                );
            }
        }
    }
    if let Err(error) = catalog.validate(tool, arguments.clone()) {
        observed += &format!("{error} {error:?}");
    }
    if let Arguments::Json(json) = arguments {
        let entry = catalog.get(tool).unwrap();
        let call = ToolCall::new("1", tool, json.clone());
        let masked = entry.masked_in(&json, &|name| catalog.get(name).ok());
        observed += &format!("{masked} {call:?} {:?}", Input::from(json.into_value()));
    }
    observed
        + &format!(
            "{} {:?} {:?}",
            guard.0.lock().unwrap(),
            listener::spans_of(&session),
            notebook.lines()
        )
}

/// Arguments with a secret at different places, and the mode of the tool.
type Case = (&'static str, fn(&str, &str) -> Arguments);

const CASES: [Case; 26] = [
    ("a text", |mode, key| {
        json!({"mode": mode, "key": key}).into()
    }),
    ("in a list", |mode, key| {
        json!({"mode": mode, "keys": ["", key]}).into()
    }),
    ("in a map", |mode, key| {
        json!({"mode": mode, "by_name": {"a": key}}).into()
    }),
    ("in a pair", |mode, key| {
        json!({"mode": mode, "pair": [1, key]}).into()
    }),
    ("in an object", |mode, key| {
        json!({"mode": mode, "login": {"user": 1, "password": key}}).into()
    }),
    ("in a list of objects", |mode, key| {
        json!({"mode": mode, "logins": [{"user": 1, "password": key}]}).into()
    }),
    ("in an alternative", |mode, key| {
        json!({"mode": mode, "proof": {"kind": "token", "token": key}}).into()
    }),
    ("in a recursive type", |mode, key| {
        json!({"mode": mode, "chain": {"key": "", "next": {"key": key}}}).into()
    }),
    ("as JSON text", |mode, key| {
        json!({"mode": mode, "key": key}).to_string().into()
    }),
    ("beside what is missing", |mode, key| {
        json!({"mode": mode, "login": {"password": key}}).into()
    }),
    ("beside what is missing at the top", |_, key| {
        json!({"key": key}).into()
    }),
    ("beside a wrong type", |mode, key| {
        json!({"mode": mode, "login": {"user": "x", "password": key}}).into()
    }),
    ("misspelled", |mode, key| {
        json!({"mode": mode, "kye": key}).into()
    }),
    ("misspelled below", |mode, key| {
        json!({"mode": mode, "login": {"user": 1, "pasword": key}}).into()
    }),
    ("in a list by mistake", |mode, key| {
        json!({"mode": mode, "key": [key]}).into()
    }),
    ("in an object by mistake", |mode, key| {
        json!({"mode": mode, "key": {"value": key}}).into()
    }),
    ("in the place of an object", |mode, key| {
        json!({"mode": mode, "login": key}).into()
    }),
    ("in the place of a list", |mode, key| {
        json!({"mode": mode, "keys": key}).into()
    }),
    ("in the place of a map", |mode, key| {
        json!({"mode": mode, "by_name": [key]}).into()
    }),
    ("in the place of all", |_, key| json!(key).into()),
    ("in the wrong alternative", |mode, key| {
        json!({"mode": mode, "proof": {"kind": "basic", "token": key}}).into()
    }),
    ("in no alternative", |mode, key| {
        json!({"mode": mode, "proof": {"kind": "none", "token": key}}).into()
    }),
    ("too long", |mode, key| {
        json!({"mode": mode, "short": key}).into()
    }),
    ("of another pattern", |mode, key| {
        json!({"mode": mode, "digits": key}).into()
    }),
    ("refused by its type", |mode, key| {
        json!({"mode": mode, "fussy": key}).into()
    }),
    ("beside what is refused by its type", |mode, key| {
        json!({"mode": mode, "fussy": "", "key": key}).into()
    }),
];

#[tokio::test]
async fn no_canary_is_found_in_anything_that_a_call_tells() {
    let mut catalog = Catalog::new();
    vault::<Secret>(&mut catalog, "secret", false);
    vault::<Secret>(&mut catalog, "layered", true);
    vault::<String>(&mut catalog, "plain", false);
    for (case, (place, arguments)) in CASES.into_iter().enumerate() {
        for mode in ["tell", "fail", "panic"] {
            // Short, so that it is never abbreviated.
            let canary = |kind: &str| format!("c{kind}{case:02}{mode}");
            for tool in ["secret", "layered"] {
                let observed = observed(&catalog, tool, arguments(mode, &canary("s"))).await;
                assert!(
                    !observed.contains(&canary("s")),
                    "{place}, {mode}: {observed}"
                );
            }
            // The search itself works: it finds a text that is not secret.
            let observed = observed(&catalog, "plain", arguments(mode, &canary("p"))).await;
            assert!(
                observed.contains(&canary("p")),
                "{place}, {mode}: {observed}"
            );
        }
    }
}

/// Keeps a call for later.
#[tool(name = "later", writes = "vault:{tool}", preview = kept, keeps_call = ["tool", "arguments"])]
async fn later(
    /// The name of the tool.
    tool: String,
    /// The arguments of the tool.
    arguments: Map<String, Value>,
) -> String {
    assert!(
        !format!("{arguments:?}").contains("[secret]"),
        "the tool itself gets them"
    );
    tool
}

async fn kept(tool: String, arguments: Map<String, Value>) -> Preview {
    Preview::summary(format!("runs {tool} with {arguments:?}"))
}

#[tokio::test]
async fn the_arguments_of_a_kept_call_are_told_as_those_of_its_tool() {
    let mut catalog = Catalog::new();
    vault::<Secret>(&mut catalog, "secret", false);
    vault::<String>(&mut catalog, "plain", false);
    catalog.submit(&[&LATER_TOOL]).unwrap();
    let keeping = |tool: &str, arguments: Value| json!({"tool": tool, "arguments": arguments});
    let opening = || json!({"mode": "tell", "key": "canary"});
    for (arguments, is_told) in [
        (keeping("plain", opening()), true),
        (keeping("secret", opening()), false),
        (keeping("later", keeping("plain", opening())), true),
        (keeping("later", keeping("secret", opening())), false),
        (keeping("unknown", opening()), false),
        (
            keeping("secret", json!({"mode": "tell", "kye": "canary"})),
            false,
        ),
        (keeping("secret", json!({"mode": "tell"})), false),
        (json!({"tool": "secret", "args": opening()}), false),
        (json!({"name": "secret", "arguments": opening()}), false),
        (json!({"tool": 1, "arguments": opening()}), false),
        (keeping("secret", json!(opening().to_string())), false),
        (keeping("unknown", json!("canary")), false),
    ] {
        let observed = observed(&catalog, "later", arguments.clone().into()).await;
        assert_eq!(
            observed.contains("canary"),
            is_told,
            "{arguments}: {observed}"
        );
        // The tool and the object in a text have one reading.
        let is_object =
            |text: &str| serde_json::from_str::<Value>(text).is_ok_and(|inner| inner.is_object());
        let kept = &arguments["arguments"];
        let is_valid = !arguments["tool"].is_null()
            && (kept.is_object() || kept.as_str().is_some_and(is_object));
        assert_eq!(
            observed.contains("runs "),
            is_valid,
            "a preview is shown: {observed}"
        );
    }
}

#[tokio::test]
async fn text_that_cannot_be_read_is_not_quoted() {
    let mut catalog = Catalog::new();
    vault::<Secret>(&mut catalog, "secret", false);
    for text in [
        r#"{"mode": "tell", "key": "canary-cut"#,
        r#"{"mode": "tell", "key": canary-bare}"#,
        r#"{"mode": "tell", "key": "canary\q"}"#,
        r#"{"mode": "tell", "key": "canary-1", "key": "canary-2"}"#,
        r#"{"mode": "tell"} canary-after"#,
    ] {
        let observed = observed(&catalog, "secret", text.into()).await;
        assert!(!observed.contains("canary"), "{text}: {observed}");
    }
    let large = json!({"mode": "tell", "key": "canary".repeat(1 << 18)});
    let deep = (0..100).fold(json!("canary"), |inner, _| json!([inner]));
    for arguments in [
        large.clone().into(),
        large.to_string().into(),
        json!({"key": deep}).into(),
    ] {
        assert!(
            !observed(&catalog, "secret", arguments)
                .await
                .contains("canary")
        );
    }
}

#[tokio::test]
async fn the_tool_gets_the_secret_itself() {
    let tool = Tool::new("t", "Measures.", schema_of::<Login<Secret>>())
        .unwrap()
        .with_effects(Effects::Pure);
    let opens = async |_: ToolContext, login: Login<Secret>| {
        Ok::<_, String>(login.password.expose() == "sesame")
    };
    let catalog = holding(tool, typed(opens));
    let result = catalog
        .execute(&Host::new(), "t", json!({"user": 1, "password": "sesame"}))
        .await
        .unwrap();
    assert_eq!(result.structured, Some(json!(true).into()));
}

/// Says whether the word is right.
#[tool(name = "vault.try", pure)]
fn attempt(
    cx: &ToolContext,
    /// The word.
    word: Secret,
) -> Result<bool, ToolError> {
    Ok(cx.need::<Secret>()?.expose() == word.expose())
}

#[tokio::test]
async fn a_secret_is_an_argument_of_a_function_and_a_service() {
    let cx = Host::new().with_service(Secret::new("sesame"));
    let mut services = Services::new();
    services.insert(Secret::new("sesame"));
    assert!(!format!("{cx:?} {services:?}").contains("sesame"));
    let mut catalog = Catalog::new();
    catalog.submit(&[&ATTEMPT_TOOL]).unwrap();
    assert!(catalog.get("vault.try").unwrap().has_secrets);
    for (word, is_right) in [("sesame", true), ("friend", false)] {
        let result = catalog
            .execute(&cx, "vault.try", json!({"word": word}))
            .await
            .unwrap();
        assert_eq!(result.to_text(), is_right.to_string());
    }
}

#[test]
fn a_target_cannot_be_made_of_a_secret() {
    let schema = json!({"type": "object", "required": ["key", "keys"], "properties": {
        "key": {"type": "string", "writeOnly": true},
        "keys": {"type": "array", "items": {"type": "string", "writeOnly": true}},
    }});
    for field in ["key", "keys"] {
        let effects: Effects =
            serde_json::from_value(json!({"reads": [format!("vault:{{{field}}}")]})).unwrap();
        let tool = Tool::new("t", "Opens.", schema.clone())
            .unwrap()
            .with_effects(effects);
        let error = Catalog::new().register(tool, echo).unwrap_err();
        let RegisterError::SecretTarget { field: refused, .. } = &error else {
            panic!("{error}")
        };
        assert_eq!(refused, field);
        assert!(
            error
                .to_string()
                .contains("use another argument in the template"),
            "{error}"
        );
    }
}

#[test]
fn a_tool_without_secrets_is_shown_unmasked() {
    let mut catalog = Catalog::new();
    let entry = catalog.register(pure("t"), echo).unwrap();
    let value = json!({"password": "told"});
    assert!(!entry.has_secrets);
    assert_eq!(entry.mask(&value.clone().into()), value);
    assert_eq!(*Secret::mask(&entry.tool().parameters, &value), value);
}

#[test]
fn an_example_that_is_refused_does_not_tell_its_secret() {
    let tool = Tool::new("t", "Opens.", schema_of::<Login<Secret>>())
        .unwrap()
        .with_effects(Effects::Pure);
    let examples = vec![tools::protocol::Example::new(json!({"password": "canary"}))];
    let error = Catalog::new()
        .register(Tool { examples, ..tool }, echo)
        .unwrap()
        .verify()
        .unwrap_err();
    assert!(matches!(error, RegisterError::Example { .. }), "{error}");
    assert!(!format!("{error} {error:?}").contains("canary"), "{error}");
}
