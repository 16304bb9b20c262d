//! [`readable`]: the result of a call whose fields have the names that programs give them inside.

use serde_json::{Map, Value};

/// The names, and those of the protocol.
const NAMES: [(&str, &str); 3] = [
    ("is_error", "isError"),
    ("structured_content", "structuredContent"),
    ("mime_type", "mimeType"),
];

/// Returns the result of a call with the names of the protocol. Returns `None` for one that has them, and for other answers.
pub(super) fn readable(answer: &str) -> Option<String> {
    let mut names = NAMES.iter();
    if !names.any(|(name, _)| answer.contains(&format!("\"{name}\""))) {
        return None;
    }
    let mut answer: Value = serde_json::from_str(answer).ok()?;
    let result = answer.get_mut("result")?.as_object_mut()?;
    let mut is_changed = result.contains_key("content") && rename(result);
    let blocks = result.get_mut("content").and_then(Value::as_array_mut);
    let blocks = blocks.into_iter().flatten();
    for block in blocks.filter_map(Value::as_object_mut) {
        is_changed |= rename(block);
    }
    is_changed.then(|| answer.to_string())
}

/// Returns true if a field has another name now.
fn rename(fields: &mut Map<String, Value>) -> bool {
    let mut is_changed = false;
    for (name, own) in NAMES {
        if !fields.contains_key(own)
            && let Some(value) = fields.remove(name)
        {
            fields.insert(own.to_owned(), value);
            is_changed = true;
        }
    }
    is_changed
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_failure_whose_fields_have_the_names_of_python_is_one() {
        let named = |names: [&str; 3]| {
            let mut image = json!({"type": "image", "data": "aW1n"});
            image[names[2]] = "image/png".into();
            let mut result = json!({"content": [image]});
            result[names[0]] = true.into();
            result[names[1]] = json!({"is_error": 1});
            json!({"jsonrpc": "2.0", "id": 1, "result": result})
        };
        let answer = named(NAMES.map(|(name, _)| name)).to_string();
        let read = crate::client::reading::read(answer.as_bytes(), None);
        let read: Vec<Value> = read
            .iter()
            .map(|read| serde_json::from_str(read).unwrap())
            .collect();
        let own = named(NAMES.map(|(_, own)| own));
        assert_eq!(readable(&own.to_string()), None);
        assert_eq!(read, [own]);
    }
}
