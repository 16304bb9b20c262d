//! Hostile arguments and schemas: the pipeline refuses them, and the tool does not run.

use crate::sample;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::sample::{closed, holding, pure};
use serde_json::{Value, json};
use tools::protocol::json::MAX_DEPTH;
use tools::{
    Arguments, Catalog, Effects, ErrorCode, Host, RegisterError, Tool, ToolContext, ToolError,
    ToolErrorKind, Violation,
};

/// A catalog of one tool that counts how often it ran.
struct Counter {
    catalog: Catalog,
    runs: Arc<AtomicUsize>,
}

impl Counter {
    fn of(tool: Tool) -> Self {
        let runs = Arc::new(AtomicUsize::new(0));
        let mut catalog = Catalog::new();
        let counted = runs.clone();
        let tool = Tool {
            name: "t".parse().unwrap(),
            ..tool
        };
        catalog
            .register(tool, move |_: ToolContext, arguments: Value| {
                counted.fetch_add(1, Ordering::Relaxed);
                async move { Ok::<_, String>(arguments) }
            })
            .unwrap();
        Self { catalog, runs }
    }

    async fn refused(&self, arguments: impl Into<Arguments>) -> Vec<Violation> {
        let error = self
            .catalog
            .execute(&Host::new(), "t", arguments)
            .await
            .unwrap_err();
        let ToolErrorKind::InvalidArguments { violations } = error.kind().clone() else {
            panic!("they fit")
        };
        assert_eq!(self.runs.load(Ordering::Relaxed), 0, "nothing was run");
        assert!(!violations.is_empty());
        violations
    }

    async fn accepted(&self, arguments: impl Into<Arguments>) -> Value {
        let result = self
            .catalog
            .execute(&Host::new(), "t", arguments)
            .await
            .unwrap();
        assert_eq!(self.runs.swap(0, Ordering::Relaxed), 1, "run exactly once");
        result.structured.unwrap().into_value()
    }
}

#[tokio::test]
async fn duplicate_keys_are_refused_wherever_they_are() {
    let counter = Counter::of(pure("t"));
    for (text, pointer) in [
        (r#"{"a": 1, "a": 2}"#, "/a"),
        (r#"{"a": 1, "\u0061": 2}"#, "/a"),
        (r#"{"x": [0, {"a/b~": 1, "a/b~": 1}]}"#, "/x/1/a~1b~0"),
    ] {
        assert_eq!(counter.refused(text).await[0].pointer, pointer);
    }
    counter.accepted(r#"{"x": {"a": 1}, "y": {"a": 1}}"#).await;
}

#[tokio::test]
async fn a_depth_bomb_is_refused_as_text_and_as_a_value() {
    let counter = Counter::of(pure("t"));
    let nested = |levels: usize| {
        format!(
            "{{\"a\":{}{}}}",
            "[".repeat(levels - 1),
            "]".repeat(levels - 1)
        )
    };
    counter.accepted(nested(MAX_DEPTH)).await;
    counter.refused(nested(MAX_DEPTH + 1)).await;
    counter
        .refused(format!("{}{}", "[".repeat(500_000), "]".repeat(500_000)))
        .await;

    let value = |levels: usize| (1..levels).fold(json!([]), |inner, _| Value::Array(vec![inner]));
    counter.accepted(json!({"a": value(MAX_DEPTH - 1)})).await;
    counter.refused(json!({"a": value(MAX_DEPTH)})).await;
    counter.refused(value(200_000)).await;
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused() {
    let counter = Counter::of(pure("t"));
    let violations = counter
        .refused(format!(
            "{{\"a\": \"{}\"}}",
            "x".repeat(Arguments::MAX_BYTES)
        ))
        .await;
    assert!(violations[0].to_string().len() < 500);
    counter
        .refused(json!({"a": "x".repeat(Arguments::MAX_BYTES)}))
        .await;
    counter
        .catalog
        .validate("t", json!({"a": "x".repeat(Arguments::MAX_BYTES - 8)}))
        .unwrap();
}

#[tokio::test]
async fn incomplete_json_is_refused() {
    let counter = Counter::of(pure("t"));
    for text in [
        "",
        "  ",
        "{",
        r#"{"a": 1"#,
        r#"{"a": 1}}"#,
        r#"{"a": 1} {}"#,
        "{a: 1}",
        "nul",
        "\u{feff}{}",
        r#"{"a": NaN}"#,
        r#"{"a": 1e999}"#,
    ] {
        counter.refused(text).await;
    }
}

#[tokio::test]
async fn arguments_other_than_an_object_are_refused() {
    let counter = Counter::of(pure("t"));
    for value in [json!(null), json!([]), json!("x"), json!(1), json!(true)] {
        counter.refused(value).await;
    }
}

#[tokio::test]
async fn arguments_are_an_object_whatever_the_schema_says() {
    for schema in [
        json!({}),
        json!({"properties": {"a": {"type": "string"}}}),
        json!({"type": ["object", "null"]}),
        json!({"anyOf": [{"type": "array"}, {"type": "object"}]}),
        json!({"$ref": "#/$defs/any", "$defs": {"any": true}}),
    ] {
        let counter = Counter::of(Tool {
            parameters: schema.clone(),
            ..pure("t")
        });
        for value in [json!([1]), json!(5), json!(null), json!("x"), json!(true)] {
            assert_eq!(
                counter.refused(value.clone()).await[0].pointer,
                "",
                "{schema}"
            );
            counter.refused(value.to_string()).await;
            let verdict = counter.catalog.validate("t", value);
            assert!(
                matches!(&verdict, Err(error) if error.code() == ErrorCode::InvalidArguments),
                "{schema}"
            );
        }
        assert_eq!(counter.accepted("{}").await, json!({}));
    }
}

#[tokio::test]
async fn values_without_one_reading_are_refused_and_an_integral_float_is_an_integer() {
    let counter = Counter::of(closed("t"));
    counter.refused(json!({"text": [1]})).await;
    counter.refused(json!({"text": "a", "count": "one"})).await;
    counter.refused(json!({"text": "a", "count": 1.5})).await;
    counter.refused(json!({"text": null})).await;
    let given = counter.accepted(json!({"text": "a", "count": 1.0})).await;
    assert_eq!(given["count"].as_f64(), Some(1.0));
}

#[tokio::test]
async fn every_violation_is_named_with_its_place() {
    let counter = Counter::of(closed("t"));
    let violations = counter
        .refused(json!({"count": 0, "txt": "a", "other": 1}))
        .await;
    let text = ToolError::new(
        "t",
        ToolErrorKind::InvalidArguments {
            violations: violations.clone(),
        },
    )
    .to_string();
    for expected in ["/count", "text", "txt", "other"] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
}

#[tokio::test]
async fn long_values_are_masked_in_errors() {
    let counter = Counter::of(closed("t"));
    let secret = "s3cr3t-".repeat(1000);
    for arguments in [
        json!({"text": secret}),
        json!({"text": [secret]}),
        json!({"text": {"a": secret}}),
    ] {
        let violations = counter.refused(arguments).await;
        let text = violations
            .iter()
            .map(ToString::to_string)
            .collect::<String>();
        assert!(
            !text
                .contains("s3cr3t-s3cr3t-s3cr3t-s3cr3t-s3cr3t-s3cr3t-s3cr3t-s3cr3t-s3cr3t-s3cr3t-"),
            "{text}"
        );
        assert!(text.len() < 500, "{text}");
    }
    let name = "n".repeat(100_000);
    let violations = counter.refused(json!({"text": "a", name: 1})).await;
    assert!(violations[0].to_string().len() < 1000);
}

#[tokio::test]
async fn a_thousand_violations_make_a_bounded_error() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}});
    let counter = Counter::of(Tool {
        parameters: schema,
        ..pure("t")
    });
    let violations = counter.refused(json!({"a": vec![0.5; 1000]})).await;
    assert_eq!(violations.len(), 65);
    assert_eq!(violations[64].found, "936 more violations");
}

#[test]
fn schema_bombs_are_refused_at_registration() {
    let doubling = (0..14).fold(
        json!({"type": "string"}),
        |inner, _| json!({"allOf": [inner.clone(), inner]}),
    );
    for (bomb, schema) in [
        (
            "over budget",
            json!({"type": "object", "properties": {"a": doubling}}),
        ),
        (
            "a reference to a file",
            json!({"type": "object", "properties": {"a": {"$ref": "file:///etc/passwd"}}}),
        ),
        ("no schema", json!("object")),
    ] {
        let error = Catalog::new()
            .register(
                Tool {
                    parameters: schema,
                    ..pure("t")
                },
                sample::echo,
            )
            .unwrap_err();
        assert!(
            matches!(error, RegisterError::Schema { .. }),
            "{bomb}: {error}"
        );
    }
}

#[tokio::test]
async fn a_pattern_that_backtracks_without_end_ends() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+(?=b)$"}}});
    let counter = Counter::of(Tool {
        parameters: schema,
        ..pure("t")
    });
    counter.refused(json!({"a": "a".repeat(5000)})).await;
}

#[tokio::test]
async fn unknown_names_get_one_answer_and_nothing_runs() {
    let counter = Counter::of(pure("t"));
    for name in [
        "",
        " ",
        "T",
        "t ",
        "t\0",
        "../t",
        "ünknown",
        &"x".repeat(100_000),
    ] {
        let error = counter
            .catalog
            .execute(&Host::new(), name, json!({}))
            .await
            .unwrap_err();
        assert_eq!(error.code(), ErrorCode::NotFound, "{error}");
        assert!(!error.tool_name().trim().is_empty());
        assert!(
            !error.to_string().contains('\0'),
            "control characters are made visible"
        );
    }
    assert_eq!(counter.runs.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn validation_ends_at_the_deadline() {
    // 34 KB of schema and 196 KB of arguments. Each element is checked against every alternative.
    let alternatives: Vec<_> = (0..480)
        .map(|number| json!({"type": "object", "properties": {"a": {"const": number}}, "required": ["a"]}))
        .collect();
    let parameters =
        json!({"type": "object", "properties": {"items": {"items": {"oneOf": alternatives}}}});
    let tool = Tool::new("t", "Takes items.", parameters)
        .unwrap()
        .with_effects(Effects::Pure);
    let catalog = holding(tool, async |_: ToolContext, _: Value| "ran".to_owned());
    let items = vec![json!({"a": 479}); 20_000];
    let cx = Host::new().with_timeout(std::time::Duration::from_millis(300));
    let late = catalog.execute(&cx, "t", json!({ "items": items })).await;
    assert_eq!(late.unwrap_err().code(), ErrorCode::Timeout);
    let few = catalog
        .execute(&cx, "t", json!({ "items": items[..10] }))
        .await;
    assert_eq!(few.unwrap().to_text(), "ran");
}
