//! Prompts, answers, arguments and results in spans.

use agent::{Request, Selection, Session, Turn};
use serde_json::{Value, json};
use tools::{Catalog, Content, Effects, Tool, ToolCall, ToolContext, ToolResult};

use crate::listener::spans_of;
use crate::workshop::{self, add, playing};
use crate::{place, session};

#[tokio::test]
async fn content_is_recorded_on_request_alone_and_secrets_never() {
    let parameters =
        json!({"type": "object", "properties": {"key": {"type": "string", "writeOnly": true}}});
    let mut catalog = Catalog::new();
    let tool = Tool::new("vault", "Opens.", parameters)
        .unwrap()
        .with_effects(Effects::Pure);
    catalog
        .register(tool, async |_: ToolContext, _: Value| "it is open")
        .unwrap();
    add(&mut catalog, "fine");
    let turn = |request: Request<'_>| -> Turn {
        match place(&request).0 {
            0 => Turn::calls([
                ToolCall::new("a", "vault", json!({"key": "canary"})),
                ToolCall::new("b", "vualt", json!({"key": "canary"})),
                ToolCall::new("c", "vault", json!("canary")),
            ]),
            _ => Turn::answer("all is well"),
        }
    };
    for is_recorded in [false, true] {
        let name = format!("content {is_recorded}");
        let mut silent = session(&name, &catalog);
        let host = silent.context().host().unwrap();
        let cx = host.with_recorded_content(is_recorded);
        silent = Session::new(catalog.list(), Selection::new(), cx)
            .with_system(agent::SystemText::new().with_section("s", "be kind"));
        let driver = playing(move |request| {
            let turn = turn(request);
            Box::pin(async { Ok(turn) })
        });
        driver.run(&mut silent, "open it").await.unwrap();
        let spans = format!("{:?}", spans_of(&name));
        assert!(!spans.contains("canary"), "{spans}");
        for content in ["open it", "be kind", "it is open", "all is well"] {
            assert_eq!(spans.contains(content), is_recorded, "{content}: {spans}");
        }
        let last = spans_of(&name)
            .into_iter()
            .map(|(_, span)| span)
            .rfind(|span| span.name == "chat")
            .unwrap();
        let read = |field: &str| {
            last.fields
                .get(field)
                .map(|text| serde_json::from_str::<Value>(text).unwrap())
        };
        let (input, output) = (
            read("gen_ai.input.messages"),
            read("gen_ai.output.messages"),
        );
        assert_eq!(
            (input.is_some(), output.is_some()),
            (is_recorded, is_recorded)
        );
        let (Some(input), Some(output)) = (input, output) else {
            continue;
        };
        assert_eq!(
            input[0],
            json!({"role": "user", "parts": [{"type": "text", "content": "open it"}]})
        );
        let call = json!({"type": "tool_call", "id": "a", "name": "vault", "arguments": {"key": "[secret]"}});
        assert_eq!(input[1]["parts"][0], call);
        assert_eq!(input[2]["role"], "tool");
        assert_eq!(input[2]["parts"][0]["type"], "tool_call_response");
        assert_eq!(output[0]["finish_reason"], "stop");
    }
}

#[tokio::test]
async fn content_is_bounded_and_media_are_their_type_and_size() {
    let data = "x".repeat(1 << 20);
    let mut catalog = Catalog::new();
    let shows = move |_: ToolContext, _: Value| {
        let content = vec![
            Content::text("a page"),
            Content::Image {
                data: data.clone(),
                mime_type: "image/png".to_owned(),
            },
            Content::text("z".repeat(20_000)),
        ];
        async {
            ToolResult {
                content,
                ..ToolResult::default()
            }
        }
    };
    catalog.register(workshop::tool("shows"), shows).unwrap();
    let driver = playing(|request| {
        let turn = match place(&request).0 {
            // Equal calls would end as a loop.
            turn @ ..20 => Turn::calls([ToolCall::new(
                format!("c{turn}"),
                "shows",
                json!({"page": turn}),
            )]),
            _ => Turn::answer("é".repeat(100_000)),
        };
        Box::pin(async { Ok(turn) })
    });
    let bounded = session("bounded", &catalog);
    let host = bounded.context().host().unwrap();
    let cx = host.with_recorded_content(true);
    driver
        .run(
            &mut Session::new(catalog.list(), Selection::new(), cx),
            "go",
        )
        .await
        .unwrap();
    let spans: Vec<_> = spans_of("bounded")
        .into_iter()
        .map(|(_, span)| span)
        .collect();
    for (field, text) in spans.iter().flat_map(|span| &span.fields) {
        assert!(
            text.len() <= 64 * 1024 && !text.contains("xxxx"),
            "{field}: {}",
            text.len()
        );
    }
    let last = spans.iter().rfind(|span| span.name == "chat").unwrap();
    let input: Vec<Value> = serde_json::from_str(&last.fields["gen_ai.input.messages"]).unwrap();
    assert_eq!(
        input[0]["parts"][0]["messages"].as_u64().unwrap() as usize + input.len() - 1,
        41,
        "{input:#?}"
    );
    let shown = &input.last().unwrap()["parts"][0]["response"]["content"];
    let blob = json!({"type": "blob", "modality": "image", "mime_type": "image/png", "base64_bytes": 1 << 20});
    assert_eq!((&shown[0]["content"], &shown[1]), (&json!("a page"), &blob));
    let output: Value = serde_json::from_str(&last.fields["gen_ai.output.messages"]).unwrap();
    assert_eq!(output[0]["finish_reason"], "stop");
}
