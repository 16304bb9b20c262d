//! Results: their schemas and limits.

use crate::sample::{holding, pure};
use proptest::prelude::*;
use serde_json::{Value, json};
use tools::{
    Catalog, Content, ErrorCode, Host, Limits, OutsideText, Tool, ToolContext, ToolError,
    ToolErrorKind, ToolResult,
};

async fn run(tool: Tool, result: ToolResult) -> Result<ToolResult, ToolError> {
    let mut catalog = Catalog::new();
    catalog
        .register(tool, move |_: ToolContext, _: Value| {
            let result = result.clone();
            async move { result }
        })
        .unwrap();
    catalog.execute(&Host::new(), "t", json!({})).await
}

fn limited(max_output_bytes: u64) -> Tool {
    pure("t").with_limits(Limits {
        max_output_bytes: Some(max_output_bytes),
        ..Limits::default()
    })
}

fn promising() -> Tool {
    pure("t").with_output(
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}),
    )
}

#[tokio::test]
async fn a_structured_result_has_to_be_what_the_definition_promises() {
    run(promising(), ToolResult::structured(json!({"n": 1})))
        .await
        .unwrap();
    for result in [
        ToolResult::structured(json!({"n": "1"})),
        ToolResult::structured(json!(null)),
        ToolResult::text("1"),
    ] {
        let error = run(promising(), result).await.unwrap_err();
        assert!(
            matches!(error.kind(), ToolErrorKind::InvalidOutput { violations, .. } if !violations.is_empty()),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_result_that_is_an_error_need_not_keep_the_promise() {
    let result = run(promising(), ToolResult::error("no such thing"))
        .await
        .unwrap();
    assert!(result.is_error);
}

#[tokio::test]
async fn text_over_the_limit_keeps_its_head_and_its_tail() {
    let text = format!("head{}tail", "x".repeat(1_000_000));
    let result = run(pure("t"), ToolResult::text(text))
        .await
        .unwrap()
        .to_text();
    assert!(result.starts_with("head") && result.ends_with("tail"));
    assert!(result.len() <= Limits::DEFAULT_MAX_OUTPUT_BYTES as usize);
}

#[tokio::test]
async fn both_lines_around_a_text_from_outside_outlast_a_cut() {
    let text =
        OutsideText::new("https://example.org/", &"a line of text\n".repeat(10_000)).to_string();
    let result = run(limited(1000), ToolResult::text(text.clone()))
        .await
        .unwrap()
        .to_text();
    assert!(result.len() <= 1000, "{} bytes", result.len());
    assert_eq!(
        (result.lines().next(), result.lines().last()),
        (text.lines().next(), text.lines().last())
    );
}

#[tokio::test]
async fn the_note_about_a_cut_counts_towards_the_limit() {
    let text = "é".repeat(600) + "tail";
    for limit in [150, 151, 500, 1000, 1203] {
        let result = run(limited(limit), ToolResult::text(text.clone()))
            .await
            .unwrap()
            .to_text();
        assert!(
            result.len() <= limit as usize && result.ends_with("tail"),
            "{limit}: {} bytes",
            result.len()
        );
        let missing = text.len()
            - (result.len()
                - result[result.find('\n').unwrap()..=result.rfind('\n').unwrap()].len());
        assert!(
            result.contains(&format!("[… {missing} bytes left out")),
            "{result}"
        );
        let several = vec![
            Content::text(text.clone()),
            Content::text(text.clone()),
            Content::text("short"),
        ];
        let result = run(
            limited(2 * limit),
            ToolResult {
                content: several,
                ..ToolResult::default()
            },
        )
        .await
        .unwrap();
        let together: usize = result
            .content
            .iter()
            .map(|piece| piece.as_text().unwrap().len())
            .sum();
        assert!(together <= 2 * limit as usize, "{limit}: {together} bytes");
    }
    let both = ToolResult {
        structured: Some(json!("x".repeat(2000)).into()),
        ..ToolResult::text(text)
    };
    let result = run(limited(1000), both).await.unwrap();
    let together: usize = result
        .content
        .iter()
        .map(|piece| piece.as_text().unwrap().len())
        .sum();
    assert!(
        together <= 1000 && result.content.len() == 2,
        "{together} bytes"
    );
}

#[tokio::test]
async fn a_text_shorter_than_the_note_about_its_absence_stays() {
    let short = "x".repeat(60);
    assert_eq!(
        run(limited(10), ToolResult::text(short.clone()))
            .await
            .unwrap()
            .to_text(),
        short
    );
}

#[tokio::test]
async fn a_short_text_beside_a_long_one_stays_whole() {
    let content = vec![Content::text("x".repeat(5000)), Content::text("short")];
    let result = run(
        limited(100),
        ToolResult {
            content,
            ..ToolResult::default()
        },
    )
    .await
    .unwrap();
    assert_eq!(result.content[1], Content::text("short"));
    assert!(result.content[0].as_text().unwrap().len() < 200);
}

#[tokio::test]
async fn a_structured_value_over_the_limit_is_left_out_even_if_promised() {
    let value = json!({"n": 1, "rest": "x".repeat(1000)});
    let result = run(limited(100), ToolResult::structured(value.clone()))
        .await
        .unwrap();
    assert_eq!(result.structured, None);
    assert!(result.to_text().contains("left out"));
    let tool = Tool {
        limits: limited(100).limits,
        ..promising()
    };
    let result = run(tool, ToolResult::structured(value)).await.unwrap();
    assert!(
        result.structured.is_none() && !result.is_error && result.to_text().contains("left out")
    );
}

#[tokio::test]
async fn a_picture_over_the_limit_is_left_out_with_a_word() {
    let image = |bytes: usize| Content::Image {
        data: "A".repeat(bytes),
        mime_type: "image/png".into(),
    };
    let small = run(limited(10), ToolResult::from(image(1000)))
        .await
        .unwrap();
    assert_eq!(small.content, [image(1000)]);
    let large = run(
        pure("t"),
        ToolResult::from(image(Limits::MAX_BINARY_BYTES + 1)),
    )
    .await
    .unwrap();
    assert!(
        large
            .to_text()
            .contains("a picture of 8388609 bytes left out"),
        "{}",
        large.to_text()
    );
    let many = vec![
        image(Limits::MAX_BINARY_BYTES / 2),
        image(Limits::MAX_BINARY_BYTES / 2),
        image(4),
    ];
    let many = run(
        pure("t"),
        ToolResult {
            content: many,
            ..ToolResult::default()
        },
    )
    .await
    .unwrap();
    assert!(
        many.content[2]
            .as_text()
            .is_some_and(|text| text.contains("left out")),
        "together they are over the limit"
    );
}

#[tokio::test]
async fn many_pieces_are_joined_and_the_rest_is_left_out() {
    let texts = vec![Content::text("ten bytes!"); 100_000];
    let result = run(
        pure("t"),
        ToolResult {
            content: texts,
            ..ToolResult::default()
        },
    )
    .await
    .unwrap();
    assert_eq!(result.content.len(), 1);
    assert!(result.to_text().len() < Limits::DEFAULT_MAX_OUTPUT_BYTES as usize + 100);
    let link = Content::ResourceLink {
        uri: "x:y".into(),
        name: "y".into(),
        description: None,
        mime_type: None,
        size: None,
    };
    let result = run(
        pure("t"),
        ToolResult {
            content: vec![link; 1000],
            ..ToolResult::default()
        },
    )
    .await
    .unwrap();
    assert_eq!(result.content.len(), Limits::MAX_PIECES);
    assert!(
        result.to_text().contains("937 pieces of content left out"),
        "{}",
        result.to_text()
    );
}

#[tokio::test]
async fn a_label_without_measure_is_left_out() {
    let uri = "x".repeat(1_000_000);
    let link = Content::ResourceLink {
        uri,
        name: "y".into(),
        description: None,
        mime_type: None,
        size: None,
    };
    let result = run(pure("t"), ToolResult::from(link)).await.unwrap();
    assert!(
        result.to_text().contains("a link left out"),
        "{}",
        result.to_text()
    );
}

#[tokio::test]
async fn errors_are_bounded_like_results() {
    let long = async |_: ToolContext, _: Value| {
        Err::<(), _>(format!("head{}tail", "x".repeat(10_000_000)))
    };
    let mut catalog = holding(pure("t"), long);
    let panics = async |_: ToolContext, _: Value| -> Result<(), String> {
        panic!("{}", "x".repeat(1_000_000))
    };
    let error = catalog
        .execute(&Host::new(), "t", json!({}))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("head") && error.ends_with("tail") && error.len() < 70_000,
        "{}",
        error.len()
    );
    catalog.replace(limited(1000), panics).unwrap();
    let error = catalog
        .execute(&Host::new(), "t", json!({}))
        .await
        .unwrap_err();
    assert!(error.code() == ErrorCode::Panicked && error.to_string().len() < 1500);
}

#[test]
fn every_error_becomes_a_result_that_a_model_can_act_on() {
    let tool = || "t".to_owned();
    let errors = [
        ToolError::new(
            tool(),
            ToolErrorKind::NotFound {
                near: vec!["u".into()],
            },
        ),
        ToolError::new(
            tool(),
            ToolErrorKind::Conflict {
                sources: vec![tools::source!(), tools::source!()],
            },
        ),
        ToolError::new(
            tool(),
            ToolErrorKind::InvalidArguments { violations: vec![] },
        ),
        ToolError::new(
            tool(),
            ToolErrorKind::PermissionDenied {
                needed: vec![],
                granted: tools::Grant::none(),
            },
        ),
        ToolError::new(
            tool(),
            ToolErrorKind::Denied {
                reason: "no".into(),
            },
        ),
        ToolError::new(
            tool(),
            ToolErrorKind::Unapproved {
                needed: vec![],
                sensitive: [].into(),
                unnamed: [].into(),
                concern: None,
                waited: None,
            },
        ),
        ToolError::new(tool(), ToolErrorKind::Replaced),
        ToolError::new(
            tool(),
            ToolErrorKind::Unavailable {
                reason: "no".into(),
            },
        ),
        ToolError::new(
            tool(),
            ToolErrorKind::Overloaded {
                retry_after: Some(std::time::Duration::from_millis(1500)),
            },
        ),
        ToolError::new(
            tool(),
            ToolErrorKind::Timeout {
                limit: std::time::Duration::from_secs(1),
            },
        ),
        ToolError::new(tool(), ToolErrorKind::Cancelled),
        ToolError::new(
            tool(),
            ToolErrorKind::Panicked {
                message: "no".into(),
            },
        ),
        ToolError::new(
            tool(),
            ToolErrorKind::ExecutionFailed {
                message: "no".into(),
            },
        ),
        ToolError::new(tool(), ToolErrorKind::InvalidOutput { violations: vec![] }),
        ToolError::new(
            tool(),
            ToolErrorKind::Internal {
                message: "no".into(),
            },
        ),
    ];
    let mut kinds = std::collections::BTreeSet::new();
    for error in &errors {
        let result = ToolResult::from(error);
        assert!(result.is_error);
        assert!(
            result.to_text().contains('t') && !result.to_text().ends_with('.'),
            "{error}"
        );
        let detail = &result.structured.unwrap()["error"];
        assert_eq!(detail["tool"], "t");
        assert!(
            kinds.insert(detail["kind"].as_str().unwrap().to_owned()),
            "kinds are distinct"
        );
        assert_eq!(error.tool_name(), "t");
    }
    assert_eq!(
        ToolResult::from(&errors[8]).structured.unwrap()["error"]["retry_after_ms"],
        1500
    );
    let recoverable = errors.iter().filter(|error| error.is_recoverable()).count();
    assert_eq!(
        recoverable,
        errors.len() - 2,
        "only a cancellation and broken machinery end a run"
    );
    assert_eq!(
        ToolError::new("  ", ToolErrorKind::Cancelled).tool_name(),
        "<unnamed>"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_limit_holds_for_all_texts_and_nothing_panics(texts in prop::collection::vec(".{0,200}", 0..6), limit in 0_u64..300) {
        let content: Vec<_> = texts.iter().map(Content::text).collect();
        let total: usize = texts.iter().map(String::len).sum();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let result = runtime.block_on(run(limited(limit), ToolResult { content: content.clone(), ..ToolResult::default() })).unwrap();
        if total as u64 <= limit {
            prop_assert_eq!(result.content, content);
        } else {
            let kept: usize = result.content.iter().filter_map(Content::as_text).map(str::len).sum();
            // A text stays if its share has no room for the note about the cut.
            let notes = 128 * texts.len();
            prop_assert!(kept as u64 <= limit + notes as u64, "{} kept of {}", kept, limit);
        }
    }
}
