//! The texts in the schemas of an imported tool, made visible and short.

use serde_json::{Map, Value};
use tools::protocol::is_invisible;
use tools::{head, visible_text};

/// The maximum length of a description, in bytes. The longest of 12,962 real descriptions has less than a half.
pub(super) const MAX_DESCRIPTION: usize = 8 * 1024;

/// Keywords whose strings are compared, resolved or sent, so they stay as they are.
const EXACT: &str = "$anchor $dynamicAnchor $dynamicRef $id $recursiveRef $ref $schema const default \
    dependentRequired enum example examples pattern required type";

/// Keywords that hold schemas by name.
const NAMED: &str = "$defs definitions dependencies dependentSchemas patternProperties properties";

/// Returns a text of a server without invisible characters, and short.
pub(super) fn text(text: &str) -> String {
    let mut text = visible_text(text);
    if text.len() > MAX_DESCRIPTION {
        let most = MAX_DESCRIPTION - '…'.len_utf8();
        text.truncate(head(&text, most).len());
        text.push('…');
    }
    text
}

/// Makes the texts of a schema visible and short: titles, descriptions, comments and the strings of unknown keywords. No keyword that
/// judges values changes. Returns true if a text has changed.
pub(super) fn make_visible(schema: &mut Map<String, Value>) -> bool {
    let mut has_changed = false;
    for (keyword, value) in schema {
        match value {
            _ if EXACT.split(' ').any(|exact| exact == keyword) => {}
            Value::Object(schemas) if NAMED.split(' ').any(|named| named == keyword) => {
                for schema in schemas.values_mut().filter_map(Value::as_object_mut) {
                    has_changed |= make_visible(schema);
                }
            }
            value => has_changed |= make_value_visible(value),
        }
    }
    has_changed
}

fn make_value_visible(value: &mut Value) -> bool {
    match value {
        Value::String(written) => {
            let shown = text(written);
            let has_changed = shown != *written;
            *written = shown;
            has_changed
        }
        Value::Array(values) => values.iter_mut().fold(false, |has_changed, value| {
            make_value_visible(value) | has_changed
        }),
        Value::Object(schema) => make_visible(schema),
        _ => false,
    }
}

/// Returns true if a string or a name has an invisible character other than white space. After [`make_visible`], these are the names
/// and values that a call has to repeat.
pub(super) fn has_invisible(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(is_hidden),
        Value::Array(values) => values.iter().any(has_invisible),
        Value::Object(members) => members
            .iter()
            .any(|(name, value)| name.contains(is_hidden) || has_invisible(value)),
        _ => false,
    }
}

fn is_hidden(c: char) -> bool {
    is_invisible(c) && !c.is_whitespace()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(mut schema: Value) -> (Value, bool) {
        let has_changed = make_visible(schema.as_object_mut().unwrap());
        (schema, has_changed)
    }

    #[test]
    fn texts_are_visible_wherever_a_schema_is() {
        let text = json!({"title": "a\u{202e}", "description": "b\u{200b}\x1b", "$comment": "c\u{e0041}", "x-hint": ["d\u{feff}"]});
        let seen = json!({
            "title": "a<U+202E>", "description": "b<U+200B><U+001B>", "$comment": "c<U+E0041>", "x-hint": ["d<U+FEFF>"]
        });
        for place in [
            |text: &Value| json!({"properties": {"enum": text}}),
            |text: &Value| json!({"$defs": {"a": {"items": text}}, "patternProperties": {"a": text}}),
            |text: &Value| json!({"anyOf": [{"not": text}, true], "if": text, "dependentSchemas": {"a": text}}),
            |text: &Value| json!({"dependencies": {"a": text, "b": ["c"]}, "additionalProperties": text}),
        ] {
            assert_eq!(shown(place(&text)), (place(&seen), true));
            assert_eq!(shown(place(&seen)), (place(&seen), false));
        }
    }

    #[test]
    fn names_and_values_stay_as_they_are() {
        let hidden = "a\u{200b}\u{a0}\r\n";
        let schema = json!({
            "properties": {hidden: {"enum": [hidden, {"title": hidden}], "const": hidden, "default": {"description": hidden}, "pattern": hidden}},
            "required": [hidden], "dependentRequired": {"a": [hidden]}, "dependencies": {"a": [hidden]}, "examples": [hidden],
        });
        assert_eq!(shown(schema.clone()), (schema.clone(), false));
        assert!(has_invisible(&schema));
        assert!(!has_invisible(&json!({"enum": ["\t", "\n", "é"]})));
    }
}
