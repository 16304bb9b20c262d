//! Where truncated output is stored.

use std::sync::Arc;

use crate::sample::{holding, pure};
use serde_json::{Value, json};
use tools::context::Need;
use tools::{
    Catalog, Content, Handler, HandlerFuture, Host, Input, Limits, OutputStore, Services, Tool,
    ToolContext, ToolResult,
};

fn limited(name: &str, max_output_bytes: u64) -> Tool {
    pure(name).with_limits(Limits {
        max_output_bytes: Some(max_output_bytes),
        ..Limits::default()
    })
}

/// Reads the store and returns the stored text unbounded.
struct Reader;

impl Handler for Reader {
    fn call<'a>(&'a self, cx: ToolContext, arguments: Input) -> HandlerFuture<'a> {
        HandlerFuture::new(async move {
            let store = cx.need::<OutputStore>()?;
            let text = store.read(
                cx.session(),
                arguments.value()["handle"].as_str().unwrap_or_default(),
            );
            Ok(ToolResult::text(text.as_deref().unwrap_or("nothing")))
        })
    }

    fn needs(&self) -> &[Need] {
        const { &[Need::new::<OutputStore>()] }
    }
}

/// A catalog with a tool that returns `result`, and the reader.
fn catalog(tool: Tool, result: ToolResult) -> Catalog {
    let give = move |_: ToolContext, _: Value| {
        let result = result.clone();
        async move { result }
    };
    let mut catalog = holding(tool, give);
    catalog
        .register(limited(OutputStore::READER, 1000), Reader)
        .unwrap();
    catalog
}

/// Creates the context of a session with a store, and returns both.
fn session(name: &str) -> (Host, Arc<OutputStore>) {
    let store = Arc::new(OutputStore::default());
    let mut services = Services::new();
    services.insert_shared(store.clone());
    (
        Host::new().with_session(name).with_services(services),
        store,
    )
}

/// Returns the handles in a text.
fn handles(text: &str) -> Vec<&str> {
    text.split("handle ")
        .skip(1)
        .map(|rest| rest.split([',', ']', ';']).next().unwrap())
        .collect()
}

#[tokio::test]
async fn a_cut_text_names_the_handle_of_the_whole_and_the_offset_of_the_rest() {
    let whole = format!("head{}täil", "ü".repeat(5000));
    let catalog = catalog(limited("t", 199), ToolResult::text(whole.clone()));
    let (cx, store) = session("a");
    let text = catalog
        .execute(&cx, "t", json!({}))
        .await
        .unwrap()
        .to_text();
    assert!(
        text.starts_with("headü")
            && text.ends_with("täil")
            && text.contains("tools.output reads them"),
        "{text}"
    );
    let handle = handles(&text)[0];
    assert_eq!(store.read(Some("a"), handle).as_deref(), Some(&*whole));
    let start: usize = text
        .split("start ")
        .nth(1)
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert!(
        text.starts_with(&whole[..start]),
        "the head ends where the rest begins"
    );
}

#[tokio::test]
async fn each_cut_text_has_a_handle_of_its_own() {
    let content = vec![
        Content::text("x".repeat(5000)),
        Content::text("short"),
        Content::text("y".repeat(5000)),
    ];
    let catalog = catalog(
        limited("t", 100),
        ToolResult {
            content,
            ..ToolResult::default()
        },
    );
    let (cx, store) = session("a");
    let text = catalog
        .execute(&cx, "t", json!({}))
        .await
        .unwrap()
        .to_text();
    let wholes: Vec<_> = handles(&text)
        .iter()
        .map(|handle| store.read(Some("a"), handle).unwrap())
        .collect();
    assert_eq!(
        wholes.iter().map(|whole| &whole[..1]).collect::<Vec<_>>(),
        ["x", "y"]
    );
}

#[tokio::test]
async fn a_structured_value_over_the_limit_is_kept_as_json() {
    let value = json!({"n": 1, "rest": "x".repeat(1000)});
    let (cx, store) = session("a");
    let read = |text: &str| {
        let found = handles(text);
        assert_eq!(found.len(), 1, "{text}");
        serde_json::from_str::<Value>(&store.read(Some("a"), found[0]).unwrap()).unwrap()
    };
    // The text is the structured value, so one handle is enough.
    let same = catalog(limited("t", 100), ToolResult::structured(value.clone()));
    let result = same.execute(&cx, "t", json!({})).await.unwrap();
    assert_eq!(
        (result.structured.as_ref(), read(&result.to_text())),
        (None, value.clone())
    );

    let other = ToolResult {
        structured: Some(value.clone().into()),
        ..ToolResult::text("a summary")
    };
    let result = catalog(limited("t", 100), other)
        .execute(&cx, "t", json!({}))
        .await
        .unwrap();
    assert!(
        result
            .to_text()
            .starts_with("a summary\n[a structured value of"),
        "{}",
        result.to_text()
    );
    assert_eq!(
        (result.structured.as_ref(), read(&result.to_text())),
        (None, value.clone())
    );

    // The call has run, so its text stays even if a schema promises the structured value.
    let promising = limited("t", 100).with_output(json!({"type": "object"}));
    let result = catalog(promising, ToolResult::structured(value.clone()))
        .execute(&cx, "t", json!({}))
        .await
        .unwrap();
    assert_eq!(
        (
            result.structured.as_ref(),
            result.is_error,
            read(&result.to_text())
        ),
        (None, false, value.clone())
    );

    let whole = ToolResult::structured(value);
    let cx = cx.with_service(tools::WholeOutput);
    let result = catalog(limited("t", 100), whole.clone())
        .execute(&cx, "t", json!({}))
        .await
        .unwrap();
    assert_eq!(result, whole);
}

#[tokio::test]
async fn the_full_text_of_a_long_error_can_be_read() {
    let mut catalog = catalog(pure("other"), ToolResult::text(""));
    let whole = format!("head{}tail", "x".repeat(5000));
    let fails = {
        let whole = whole.clone();
        move |_: ToolContext, _: Value| std::future::ready(Err::<(), _>(whole.clone()))
    };
    catalog.register(limited("t", 100), fails).unwrap();
    let (cx, store) = session("a");
    let error = catalog
        .execute(&cx, "t", json!({}))
        .await
        .unwrap_err()
        .to_string();
    assert_eq!(
        store.read(Some("a"), handles(&error)[0]).as_deref(),
        Some(&*whole)
    );
}

#[tokio::test]
async fn reading_the_store_writes_nothing_to_it() {
    let catalog = catalog(limited("t", 100), ToolResult::text("x".repeat(5000)));
    let (cx, store) = session("a");
    let text = catalog
        .execute(&cx, "t", json!({}))
        .await
        .unwrap()
        .to_text();
    let before = format!("{store:?}");
    let read = catalog
        .execute(
            &cx,
            OutputStore::READER,
            json!({"handle": handles(&text)[0]}),
        )
        .await
        .unwrap();
    assert!(
        read.to_text()
            .contains("4062 bytes left out: the result is over its limit …"),
        "{}",
        read.to_text()
    );
    assert_eq!(format!("{store:?}"), before);
}

#[tokio::test]
async fn no_handle_is_shown_if_it_cannot_be_used() {
    let long = ToolResult::text("x".repeat(5000));
    let call = async |catalog: &Catalog, cx: &ToolContext| {
        let text = catalog.execute(cx, "t", json!({})).await.unwrap().to_text();
        assert!(
            text.contains(" bytes left out: the result is over its limit"),
            "{text}"
        );
        handles(&text).len()
    };
    let (cx, store) = session("a");
    let with_reader = catalog(limited("t", 100), long.clone());
    let mut without = with_reader.clone();
    assert!(without.unregister(OutputStore::READER));
    assert_eq!(call(&without, &cx).await, 0, "nothing reads it");
    assert_eq!(
        call(&with_reader, &Host::new()).await,
        0,
        "nothing keeps it"
    );
    let tiny = cx
        .clone()
        .with_service(OutputStore::default().with_max_bytes(4999));
    assert_eq!(call(&with_reader, &tiny).await, 0, "it has no room");
    assert_eq!(
        format!("{store:?}"),
        format!("{:?}", OutputStore::default())
    );
    assert_eq!(call(&with_reader, &cx).await, 1);
}

#[tokio::test]
async fn a_session_does_not_read_the_results_of_another() {
    let catalog = catalog(limited("t", 100), ToolResult::text("x".repeat(5000)));
    let (cx, _) = session("a");
    let text = catalog
        .execute(&cx, "t", json!({}))
        .await
        .unwrap()
        .to_text();
    let other = cx.with_session("b");
    let read = catalog
        .execute(
            &other,
            OutputStore::READER,
            json!({"handle": handles(&text)[0]}),
        )
        .await
        .unwrap();
    assert_eq!(read.to_text(), "nothing");
}
