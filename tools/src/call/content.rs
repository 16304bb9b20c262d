//! Content in spans: bounded, and without the bytes of media. Drivers use this for their own spans too.

use protocol::{Content, ResourceContents, ToolResult};
use serde_json::{Value, json};

use crate::visible::head;

/// The most bytes of an attribute. Collectors refuse large requests whole.
pub const MOST_BYTES: usize = 64 * 1024;

/// The lengths to which texts are cut, in bytes, until a value fits.
const TEXT_BYTES: [usize; 4] = [16 * 1024, 4 * 1024, 1024, 128];

/// Returns a result in the parts of the conventions.
pub fn result(result: &ToolResult) -> Value {
    let mut value = json!({"content": result.content.iter().filter_map(part).collect::<Value>()});
    if let Some(structured) = &result.structured {
        value["structured"] = json!(structured);
    }
    if result.is_error {
        value["is_error"] = true.into();
    }
    value
}

/// Returns content as a part of the conventions. An image or another file is its type and its size in base64.
pub fn part(content: &Content) -> Option<Value> {
    let blob = |modality: &str, mime_type: Option<&str>, data: &str| json!({"type": "blob", "modality": modality, "mime_type": mime_type, "base64_bytes": data.len()});
    Some(match content {
        Content::Text { text } => json!({"type": "text", "content": text}),
        Content::Image { data, mime_type } => blob("image", Some(mime_type), data),
        Content::Audio { data, mime_type } => blob("audio", Some(mime_type), data),
        Content::ResourceLink { uri, mime_type, .. } => {
            json!({"type": "uri", "modality": "document", "mime_type": mime_type, "uri": uri})
        }
        Content::Resource {
            resource: ResourceContents::Text { text, .. },
        } => json!({"type": "text", "content": text}),
        Content::Resource {
            resource:
                ResourceContents::Blob {
                    blob: data,
                    mime_type,
                    ..
                },
        } => blob("document", mime_type.as_deref(), data),
        _ => return None,
    })
}

/// Returns the JSON text of a value, with at most `most` bytes. Long texts in it are cut, and the value is left out if that does not
/// suffice.
pub fn json_text(mut value: Value, most: usize) -> String {
    let text = value.to_string();
    if text.len() <= most {
        return text;
    }
    for length in TEXT_BYTES {
        cut(&mut value, length);
        let text = value.to_string();
        if text.len() <= most {
            return text;
        }
    }
    json!({"type": "left_out", "bytes": text.len()}).to_string()
}

/// Cuts a text to [`MOST_BYTES`].
pub fn text(mut text: String) -> String {
    cut_text(&mut text, MOST_BYTES - 64);
    text
}

fn cut(value: &mut Value, length: usize) {
    match value {
        Value::String(text) => cut_text(text, length),
        Value::Array(values) => values.iter_mut().for_each(|value| cut(value, length)),
        Value::Object(members) => members.values_mut().for_each(|value| cut(value, length)),
        _ => {}
    }
}

fn cut_text(text: &mut String, length: usize) {
    if text.len() > length {
        let kept = head(text, length).len();
        let left_out = text.len() - kept;
        text.truncate(kept);
        text.push_str(&format!(" [{left_out} bytes left out]"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_fits_with_cut_texts_or_is_left_out() {
        let value = json!({"a": "é".repeat(50_000), "b": [1, "short"]});
        let text = json_text(value.clone(), 10_000);
        let cut: Value = serde_json::from_str(&text).unwrap();
        assert!(
            text.len() <= 10_000 && cut["a"].as_str().unwrap().ends_with("bytes left out]"),
            "{text}"
        );
        assert_eq!(cut["b"], value["b"]);
        assert_eq!(json_text(value.clone(), 1 << 20), value.to_string());
        let many = json!(vec![1; 100_000]);
        let left_out: Value = serde_json::from_str(&json_text(many, 1000)).unwrap();
        assert_eq!(left_out, json!({"type": "left_out", "bytes": 200_001}));
    }

    #[test]
    fn media_are_their_type_and_size() {
        let image = Content::Image {
            data: "x".repeat(100_000),
            mime_type: "image/png".to_owned(),
        };
        let result = result(&ToolResult {
            content: vec![Content::text("a page"), image],
            ..ToolResult::default()
        });
        let blob = json!({"type": "blob", "modality": "image", "mime_type": "image/png", "base64_bytes": 100_000});
        assert_eq!(
            result,
            json!({"content": [{"type": "text", "content": "a page"}, blob]})
        );
    }
}
