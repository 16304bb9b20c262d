//! Every call and result survives the JSON of each service.

use proptest::prelude::*;
use protocol::wire::{Format, WireCall, WireResult};
use protocol::{Content, ResourceContents, ToolCall, ToolResult};
use serde_json::json;

use super::exchange::{FORMATS_WITHOUT_FAILURES, image, read, read_results};
use super::exchange_rules::{images, violations};
use crate::sample::{config, exact, nested};

/// Returns content that every service but MCP describes in text.
fn odd_content() -> impl Strategy<Value = Content> {
    let data = "[A-Za-z0-9+/]{0,12}={0,3}";
    prop_oneof![
        "[ \n\t]{0,3}".prop_map(Content::text),
        ("image/(png|jpg|heic|svg.xml)", data)
            .prop_map(|(mime_type, data)| image(&mime_type, &data)),
        data.prop_map(|data| Content::Audio {
            data,
            mime_type: "audio/wav".to_owned()
        }),
        any::<String>().prop_map(|text| Content::Resource {
            resource: ResourceContents::Text {
                uri: "file:a".to_owned(),
                mime_type: None,
                text
            }
        }),
        data.prop_map(|blob| Content::Resource {
            resource: ResourceContents::Blob {
                uri: "file:a".to_owned(),
                mime_type: None,
                blob
            }
        }),
        any::<String>().prop_map(|name| Content::ResourceLink {
            uri: "file:a".to_owned(),
            name,
            description: None,
            mime_type: None,
            size: Some(1),
        }),
    ]
}

/// Returns a text with a visible character, or an image of a type.
fn plain_content(types: &'static [&'static str]) -> impl Strategy<Value = Content> {
    let images: Vec<_> = images()
        .into_iter()
        .filter(|(name, _)| types.contains(name))
        .collect();
    prop_oneof![
        3 => any::<String>().prop_map(|text| Content::text(text + "x")),
        1 => prop::sample::select(images).prop_map(|(mime_type, data)| image(mime_type, data)),
    ]
}

fn results(
    content: impl Strategy<Value = Content>,
    min: usize,
) -> impl Strategy<Value = Vec<WireResult>> {
    let result = (prop::collection::vec(content, min..4), any::<bool>());
    let result = result.prop_map(|(content, is_error)| ToolResult {
        content,
        is_error,
        ..ToolResult::default()
    });
    prop::collection::vec(result, 1..4).prop_map(|results| {
        let named =
            |(index, result)| WireResult::new(format!("id{index}"), format!("tool{index}"), result);
        results.into_iter().enumerate().map(named).collect()
    })
}

/// Returns a result as it reads after it was written.
fn expected(format: Format, mut result: ToolResult) -> ToolResult {
    if format == Format::Mcp || format == Format::Anthropic && !result.is_error {
        return result;
    }
    let has_field = !FORMATS_WITHOUT_FAILURES.contains(&format);
    if result.is_error && !has_field {
        match result.content.first_mut() {
            Some(Content::Text { text }) if text.starts_with("Error: ") => {}
            Some(Content::Text { text }) => *text = format!("Error: {text}"),
            _ => result.content.insert(0, Content::text("Error:")),
        }
        result.is_error = false;
    }
    if format == Format::OpenAiResponses {
        return result;
    }
    let (texts, images): (Vec<_>, Vec<_>) = result
        .content
        .into_iter()
        .partition(|content| matches!(content, Content::Text { .. }));
    let mut texts: Vec<_> = texts.iter().filter_map(Content::as_text).collect();
    let follow = matches!(format, Format::OpenAiChat | Format::Anthropic);
    if follow && !images.is_empty() {
        texts.push("(the images follow)");
    }
    let mut content = if texts.is_empty() {
        Vec::new()
    } else {
        vec![Content::text(texts.join("\n"))]
    };
    if !follow {
        content.extend(images);
    }
    ToolResult { content, ..result }
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn calls_survive_every_wire(
        arguments in prop::collection::vec(prop::collection::hash_map(any::<String>(), nested(exact()), 0..4), 1..4),
        name in any::<String>(),
        extra in nested(exact()),
    ) {
        let calls: Vec<_> = arguments
            .into_iter()
            .enumerate()
            .map(|(index, arguments)| ToolCall::new(format!("id{index}"), &*name, json!(arguments)))
            .collect();
        for format in Format::ALL {
            let mut expected = calls.clone();
            if format == Format::Mcp {
                expected.iter_mut().for_each(|call| call.id.clear()); // The request has the id.
            }
            let bare: Vec<_> = calls.iter().cloned().map(WireCall::from).collect();
            let mut messages = format.write_calls(&bare);
            let read_back: Vec<_> = read(format, &messages).into_iter().map(|read| read.call).collect();
            prop_assert_eq!(&read_back, &expected, "{}", format);

            // Fields beside a call, and beside its name, go back.
            let list = ["tool_calls", "content", "parts"].into_iter().find(|list| messages[0][list].is_array());
            let elements = match list {
                Some(list) => messages[0][list].as_array_mut().unwrap(),
                None => &mut messages,
            };
            for element in elements {
                element["x_beside"] = extra.clone();
                for inner in ["function", "functionCall"] {
                    if element.get(inner).is_some() {
                        element[inner]["x_inside"] = extra.clone();
                    }
                }
            }
            prop_assert_eq!(format.write_calls(&read(format, &messages)), messages, "{}", format);
        }
    }

    #[test]
    fn results_survive_every_wire(
        plain in results(plain_content(&["image/png", "image/jpeg"]), 1),
        all in results(prop_oneof![plain_content(&["image/png", "image/gif", "image/webp"]), odd_content()], 0),
    ) {
        for format in Format::ALL {
            let results = if format == Format::Mcp { &all } else { &plain };
            let read = read_results(format, &format.write_results(results));
            prop_assert_eq!(read.len(), results.len(), "{}", format);
            for (read, sent) in read.iter().zip(results) {
                prop_assert_eq!(&read.result, &expected(format, sent.result.clone()), "{}", format);
                prop_assert!(read.id == sent.id || format == Format::Mcp, "{}", format);
                prop_assert!(read.name == sent.name || read.name.is_empty(), "{}", format);
            }
        }
    }

    #[test]
    fn no_result_breaks_a_rule_of_its_service(
        results in results(prop_oneof![plain_content(&["image/png", "image/gif", "image/webp"]), odd_content()], 0)
    ) {
        for format in Format::ALL {
            let written = format.write_results(&results);
            prop_assert_eq!(violations(format, &results, &written), Vec::<&str>::new(), "{} {}", format, json!(written));
        }
    }
}
