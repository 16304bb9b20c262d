//! Arguments that do not fit the schema but have exactly one reading.

use std::future::ready;
use std::sync::{Arc, Mutex};

use proptest::prelude::{
    Just, ProptestConfig, Strategy, any, prop, prop_assert, prop_oneof, proptest,
};
use serde_json::{Value, json};
use tools::call::{FileRoot, read_arguments};
use tools::context::ApprovalFuture;
use tools::protocol::Json;
use tools::{
    Approval, Approver, Catalog, Decision, Effects, Host, Policy, Tool, ToolContext, ToolError,
};

use crate::journal::context;
use crate::notebook::Notebook;
use crate::sample::granted;

fn tool(parameters: Value, effects: Value) -> Tool {
    let effects: Effects = serde_json::from_value(effects).unwrap();
    Tool::new("t", "Answers with its arguments.", parameters)
        .unwrap()
        .with_effects(effects)
}

fn reader() -> Tool {
    let parameters = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "end": {"type": "integer", "minimum": 1},
            "context": {"type": "integer"},
            "all": {"type": "boolean"},
        },
        "required": ["path"],
    });
    tool(parameters, json!({"reads": ["fs:{path}"]}))
}

fn catalog(tool: Tool) -> Catalog {
    let mut catalog = Catalog::new();
    catalog
        .register(tool, async |_: ToolContext, arguments: Value| {
            Ok::<_, String>(arguments)
        })
        .unwrap();
    catalog
}

async fn got(cx: &ToolContext, arguments: Value) -> (Value, String) {
    let result = catalog(reader()).execute(cx, "t", arguments).await.unwrap();
    let text = result.to_text();
    (result.structured.unwrap().into_value(), text)
}

#[tokio::test]
async fn a_call_with_one_reading_runs_and_its_result_says_so() {
    let cx = granted(&["fs:read:**"]);
    let written = json!({"path": "a", "end": "1", "context": null, "all": "true"});
    let (read, text) = got(&cx, written).await;
    assert_eq!(read, json!({"path": "a", "end": 1, "all": true}));
    for argument in ["end", "context", "all"] {
        assert!(
            text.lines()
                .any(|line| line.starts_with("note: ") && line.contains(argument)),
            "{text}"
        );
    }
    let (read, text) = got(&cx, json!("{\"path\": \"a\"}")).await;
    assert_eq!(read, json!({"path": "a"}));
    assert!(text.contains("note: "), "{text}");
    let (_, text) = got(&cx, json!({"path": "a", "end": 1})).await;
    assert!(!text.contains("note: "), "{text}");
}

#[tokio::test]
async fn a_value_with_two_readings_is_refused() {
    let colours =
        json!({"type": "object", "properties": {"colour": {"enum": ["Red", "RED", "blue"]}}});
    let catalog = catalog(tool(colours, json!("pure")));
    let cx = Host::new();
    let read = catalog.execute(&cx, "t", json!({"colour": "Blue"})).await;
    assert_eq!(
        read.unwrap().structured.unwrap().into_value(),
        json!({"colour": "blue"})
    );
    let refused = catalog.execute(&cx, "t", json!({"colour": "red"})).await;
    assert!(refused.is_err(), "{refused:?}");
}

#[tokio::test]
async fn a_reading_is_validated_like_any_other_value() {
    let cx = granted(&["fs:read:**"]);
    for written in [
        json!({"path": "a", "end": "0"}),
        json!({"path": "a", "end": "one"}),
        json!({"path": null}),
    ] {
        catalog(reader())
            .execute(&cx, "t", written)
            .await
            .unwrap_err();
    }
}

#[tokio::test]
async fn an_absolute_path_below_the_root_is_relative_to_it_and_any_other_is_refused() {
    let cx = granted(&["fs:read:src/**"]).with_service(FileRoot::new("/nowhere/work"));
    assert_eq!(
        got(&cx, json!({"path": "/nowhere/work/src/a.rs"})).await.0,
        json!({"path": "src/a.rs"})
    );
    let (read, text) = got(&cx, json!({"path": "file:///nowhere/work/src/a%20b.rs"})).await;
    assert_eq!(read, json!({"path": "src/a b.rs"}));
    assert!(text.contains("URL"), "{text}");
    for path in [
        "file:///etc/passwd",
        "file:///nowhere/work/src/%2e%2e/%2E%2e/x",
        "file://host/nowhere/work/src/a",
        "/nowhere/work/b",
        "/nowhere/worker/src/a",
        "/nowhere/work/src/../../x",
        "/etc/passwd",
        "/nowhere/work",
    ] {
        let refused: ToolError = catalog(reader())
            .execute(&cx, "t", json!({"path": path}))
            .await
            .unwrap_err();
        assert!(!refused.to_string().is_empty(), "{path}");
    }
}

/// Allows each call, and records its arguments and targets.
#[derive(Default)]
struct Seeing(Mutex<Vec<(Value, Vec<String>)>>);

impl Approver for Seeing {
    fn approve<'a>(&'a self, approval: Approval<'a>) -> ApprovalFuture<'a> {
        let targets = approval.targets.iter().map(ToString::to_string).collect();
        self.0
            .lock()
            .unwrap()
            .push((approval.arguments.value().clone(), targets));
        Box::pin(ready(Decision::Allow))
    }
}

#[tokio::test]
async fn the_approver_sees_the_arguments_that_the_tool_gets() {
    let approver = Arc::new(Seeing::default());
    let properties = json!({"path": {"type": "string"}, "size": {"type": "integer"}});
    let parameters = json!({"type": "object", "properties": properties, "required": ["path"]});
    let writer = tool(parameters, json!({"writes": ["fs:{path}"]}));
    let cx = Host::new()
        .with_policy(Policy::default())
        .with_approver(approver.clone())
        .with_service(FileRoot::new("/nowhere/work"));
    catalog(writer)
        .execute(&cx, "t", json!({"path": "/nowhere/work/5", "size": "7"}))
        .await
        .unwrap();
    let seen = approver.0.lock().unwrap().clone();
    assert_eq!(
        seen,
        [(
            json!({"path": "5", "size": 7}),
            vec!["fs:write:5".to_owned()]
        )]
    );
}

#[tokio::test]
async fn the_journal_has_the_reading_and_replays_it() {
    let notebook = Notebook::default();
    let parameters =
        json!({"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]});
    let writer = tool(parameters, json!({"writes": ["mail:{to}"]}));
    let catalog = catalog(writer);
    for _ in 0..2 {
        let cx = context(&notebook).with_place(tools::call::CallPlace::new(1, 0));
        let result = catalog.execute(&cx, "t", json!({"to": 5})).await.unwrap();
        assert_eq!(result.structured.unwrap().into_value(), json!({"to": "5"}));
    }
    let lines = notebook.lines();
    let arguments: Vec<_> = lines
        .iter()
        .filter_map(|line| line.arguments.as_deref())
        .collect();
    assert_eq!(arguments, [r#"{"to":"5"}"#]);
}

/// A schema with the keywords that decide about readings.
fn schema() -> impl Strategy<Value = Value> {
    let name = || {
        prop::sample::select(vec![
            "string", "integer", "number", "boolean", "null", "array", "object",
        ])
    };
    let leaf = prop_oneof![
        Just(json!({})),
        name().prop_map(|name| json!({"type": name})),
        prop::collection::vec(name(), 1..3).prop_map(|names| {
            let mut names = names;
            names.sort_unstable();
            names.dedup();
            json!({"type": names})
        }),
        Just(json!({"enum": ["a", "1", 2, null]})),
        Just(json!({"const": "true"})),
        Just(json!({"$ref": "#/$defs/d"})),
    ];
    let inner = leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..3).prop_map(|any| json!({"anyOf": any})),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|all| json!({"allOf": all})),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|one| json!({"oneOf": one})),
            inner
                .clone()
                .prop_map(|items| json!({"type": "array", "items": items})),
            inner.prop_map(|member| json!({"type": "object", "properties": {"a": member}})),
        ]
    });
    let part = || inner.clone();
    (part(), part(), part()).prop_map(|(a, b, d)| {
        let d = if d.to_string().contains("$ref") {
            json!({"type": "string"})
        } else {
            d
        };
        json!({"type": "object", "properties": {"a": a, "b": b}, "$defs": {"d": d}})
    })
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3i64..3).prop_map(Value::from),
        Just(json!(1.5)),
        prop::sample::select(vec![
            "a",
            "A",
            "1",
            "1.5",
            "true",
            "null",
            "[1]",
            "{\"a\": \"1\"}",
            ""
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[ab]", inner, 0..3).prop_map(|members| json!(members)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_valid_call_changes_meaning(schema in schema(), a in value(), b in value()) {
        let mut catalog = Catalog::new();
        let tool = Tool::new("t", "Answers.", schema.clone()).unwrap().with_effects(Effects::Pure);
        if catalog.register(tool, async |_: ToolContext, _: Value| "done").is_ok() {
            let entry = catalog.get("t").unwrap();
            let arguments = Json::from(json!({"a": a, "b": b}));
            let is_valid = tools::schema::ValueSchema::new(schema).is_ok_and(|schema| schema.check(&arguments).is_ok());
            let read = read_arguments(&entry, &arguments, &Host::new());
            prop_assert!(!is_valid || read == arguments, "{arguments} became {read}");
        }
    }
}
