//! The provider without a model.

use crate::workshop;
use std::sync::Arc;

use crate::workshop::{answer, results};
use agent::{
    Direct, Driver, Outcome, Provider, ProviderError, Request, Selection, Session, ToolSet, Turn,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use tools::protocol::{Message, Role};
use tools::{CancellationToken, Catalog, Effects, Host, Services, Tool, ToolCall, ToolContext};

/// A catalog with a tool that gives its arguments back.
fn catalog() -> Catalog {
    let mut catalog = workshop::catalog(["time.now"]);
    let schema = json!({"type": "object", "properties": {
        "path": {"type": "string"},
        "first": {"type": "integer"},
        "paths": {"type": "array", "items": {"type": "string"}},
    }});
    let echo = Tool::new("echo", "Gives its arguments back.", schema)
        .unwrap()
        .with_effects(Effects::Pure);
    catalog
        .register(echo, async |_: ToolContext, arguments: Value| arguments)
        .unwrap();
    catalog
}

async fn ask(messages: &[Message]) -> Result<Turn, ProviderError> {
    let tools = ToolSet::new(catalog().list(), &Selection::new(), &Services::new());
    Direct
        .complete(Request::new(messages, &tools, &CancellationToken::new()))
        .await
}

async fn calls(prompt: &str) -> Result<Vec<ToolCall>, ProviderError> {
    let turn = ask(&[Message::text(Role::User, prompt)]).await?;
    Ok(turn.message.calls().cloned().collect())
}

async fn arguments(prompt: &str) -> Value {
    calls(prompt)
        .await
        .unwrap()
        .remove(0)
        .arguments
        .into_value()
}

async fn refusal(prompt: &str) -> (usize, String) {
    match calls(prompt).await.unwrap_err() {
        ProviderError::Prompt { position, reason } => (position, reason),
        other => panic!("another refusal: {other}"),
    }
}

#[tokio::test]
async fn a_prompt_is_one_or_more_calls_of_one_turn() {
    let calls = calls(" echo path=. ; time.now ;\n").await.unwrap();
    assert_eq!(
        calls
            .iter()
            .map(|call| call.name.as_str())
            .collect::<Vec<_>>(),
        ["echo", "time.now"]
    );
    assert_eq!(calls[0].arguments, json!({"path": "."}));
    assert_eq!(calls[1].arguments, json!({}));
    assert_ne!(calls[0].id, calls[1].id);
}

#[tokio::test]
async fn values_are_quoted_and_escaped_as_in_a_shell() {
    assert_eq!(
        arguments(r#"echo path='a ; "b"'"#).await,
        json!({"path": r#"a ; "b""#})
    );
    assert_eq!(
        arguments(r#"echo path="a \"b\" \\ \n 'c'""#).await,
        json!({"path": r#"a "b" \ \n 'c'"#})
    );
    assert_eq!(
        arguments(r"echo path=a\ b\;c\'d").await,
        json!({"path": "a b;c'd"})
    );
    assert_eq!(
        arguments(r#"echo path=a'b c'"d e"f"#).await,
        json!({"path": "ab cd ef"})
    );
    assert_eq!(arguments("echo path=").await, json!({"path": ""}));
    assert_eq!(arguments("echo path=a=b").await, json!({"path": "a=b"}));
    assert_eq!(arguments("echo path='é\n'").await, json!({"path": "é\n"}));
}

#[tokio::test]
async fn values_are_typed_by_the_schema() {
    let typed = arguments(r#"echo path=7 first=7 paths=["a b",";"] other=7"#).await;
    assert_eq!(
        typed,
        json!({"path": "7", "first": 7, "paths": ["a b", ";"], "other": 7})
    );
    assert_eq!(
        arguments("echo path=[a-z]*.rs").await,
        json!({"path": "[a-z]*.rs"})
    );

    let error = calls("echo first=seven").await.unwrap_err();
    assert!(matches!(&error, ProviderError::Arguments { tool, .. } if tool == "echo"));
    assert!(error.to_string().contains("it takes an integer"), "{error}");
    assert!(matches!(
        calls("echo path=a path=b").await,
        Err(ProviderError::Arguments { .. })
    ));
}

#[tokio::test]
async fn arguments_may_be_one_json_object() {
    assert_eq!(
        arguments(r#"echo {"path": "a ; b", "first": 1}"#).await,
        json!({"path": "a ; b", "first": 1})
    );
    assert_eq!(
        calls(r#"echo {} ; echo {"first":2};time.now"#)
            .await
            .unwrap()
            .len(),
        3
    );
}

#[tokio::test]
async fn an_invalid_call_is_refused_with_its_position_and_an_example() {
    assert_eq!(refusal("").await.0, 1);
    assert_eq!(refusal("; echo").await.0, 1);
    assert_eq!(refusal("echo ;; echo").await.0, 7);
    assert_eq!(
        refusal("what is the time").await,
        (1, "`what` is no tool of the session".to_owned())
    );
    assert_eq!(refusal("Où est-il ?").await.0, 1);
    assert_eq!(refusal("echo =x").await.0, 6);
    assert_eq!(refusal("echo path='é 'x 'y").await.0, 17);
    assert_eq!(
        refusal("echo path='a").await,
        (11, "the quote ' is not closed".to_owned())
    );
    assert_eq!(
        refusal("echo path=\"a\\\"").await,
        (11, "the quote \" is not closed".to_owned())
    );
    assert_eq!(
        refusal("echo path=a\\").await,
        (12, "a character is missing after the backslash".to_owned())
    );
    assert_eq!(refusal("echo {\"path\": ").await.0, 6);
    assert!(
        refusal("echo {\"a\": 1, \"a\": 2}")
            .await
            .1
            .contains("each key of an object once")
    );
    assert_eq!(refusal("echo {} path=a").await.0, 9);

    let error = calls("hello there").await.unwrap_err().to_string();
    assert!(
        error.contains("at character 1") && error.contains("fs.list path=. ; time.now zone=UTC"),
        "{error}"
    );
}

#[tokio::test]
async fn a_conversation_without_a_prompt_is_refused() {
    assert!(matches!(
        ask(&[Message::text(Role::System, "be kind")]).await,
        Err(ProviderError::NoPrompt)
    ));
}

#[tokio::test]
async fn the_answer_is_the_results_each_under_its_call() {
    let mut session = workshop::session(&catalog());
    let driver = Driver::new(Arc::new(Direct));
    let summary = driver
        .run(&mut session, "echo path='a b' ; time.now")
        .await
        .unwrap();
    assert_eq!(
        answer(&summary.outcome),
        "# echo path='a b'\n{\"path\":\"a b\"}\n\n# time.now\ntime.now"
    );

    let summary = driver.run(&mut session, "time.now").await.unwrap();
    assert_eq!(
        answer(&summary.outcome),
        "time.now",
        "one result needs no heading"
    );
    let ids: Vec<_> = results(session.messages())
        .into_iter()
        .map(|(id, _)| id)
        .collect();
    assert_eq!(ids, ["call_1", "call_2", "call_3"]);
}

#[tokio::test]
async fn an_unknown_tool_is_an_error_in_its_result() {
    let mut session = Session::new(
        catalog().list(),
        Selection::parse(["time.*"]).unwrap(),
        Host::new(),
    );
    let summary = Driver::new(Arc::new(Direct))
        .run(&mut session, "echo path=7")
        .await
        .unwrap();
    assert!(matches!(summary.outcome, Outcome::Answer { .. }));
    assert!(answer(&summary.outcome).contains("no tool named \"echo\""));
    assert_eq!(summary.failed_calls, 1);
}

fn block<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<String>().prop_map(Value::from),
        r#"[ a-c;'"\\{}\[\]=0-9]{0,8}"#.prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(".{0,4}", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn call() -> impl Strategy<Value = ToolCall> {
    let key = prop_oneof![4 => "[a-z]{1,4}", 1 => ".{0,4}"];
    let arguments = prop::collection::btree_map(key, value(), 0..4);
    ("[a-z]{1,4}\\.[a-z]{1,4}", arguments).prop_map(|(name, arguments)| {
        ToolCall::new("", name, Value::Object(arguments.into_iter().collect()))
    })
}

proptest! {
    #[test]
    fn rendered_calls_are_read_back(written in prop::collection::vec(call(), 1..4)) {
        let prompt = Direct::prompt(&written);
        let read = block(calls(&prompt)).map_err(|error| TestCaseError::fail(format!("{prompt}: {error}")))?;
        prop_assert_eq!(read.len(), written.len(), "{}", prompt);
        for (read, written) in read.iter().zip(&written) {
            prop_assert_eq!((&read.name, &read.arguments), (&written.name, &written.arguments), "{}", prompt);
        }
    }

    #[test]
    fn typed_arguments_are_read_back(path in any::<String>(), first in any::<i64>(), paths in prop::collection::vec(any::<String>(), 0..3)) {
        let written = ToolCall::new("", "echo", json!({"path": path, "first": first, "paths": paths}));
        let prompt = Direct::prompt(std::slice::from_ref(&written));
        prop_assert_eq!(block(arguments(&prompt)), written.arguments.into_value(), "{}", prompt);
    }

    #[test]
    fn arbitrary_text_never_panics(prompt in prop_oneof![any::<String>(), r#"(echo|[ ;='"\\{}\[\]a:,1]){0,12}"#]) {
        match block(calls(&prompt)) {
            Ok(calls) => prop_assert!(!calls.is_empty()),
            Err(ProviderError::Prompt { position, .. }) => {
                prop_assert!((1..=prompt.chars().count() + 1).contains(&position));
            }
            Err(error) => prop_assert!(matches!(error, ProviderError::Arguments { .. }), "{}", error),
        }
    }
}
