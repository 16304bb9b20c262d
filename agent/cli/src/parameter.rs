//! The parameters of a tool, for people.

use anstyle::Style;
use serde_json::Value;

use crate::notice::{FAINT, STRONG};
use crate::table::Table;
use crate::visible::visible;

/// How many `$ref`s, lists and unions are followed for the name of a type.
const MAX_DEPTH: usize = 8;

/// A table of the parameters: name, type, whether it is required, what it is. The required ones come first.
pub(crate) fn table(schema: &Value, width: Option<usize>) -> String {
    let Some(properties) =
        schema.get("properties").and_then(Value::as_object).filter(|properties| !properties.is_empty())
    else {
        return "  none\n".to_owned();
    };
    let mut names: Vec<&String> = properties.keys().collect();
    // The order of a JSON object depends on how serde_json was built.
    names.sort_by_key(|name| (!is_required(schema, name), *name));
    let mut table = Table::new([STRONG, Style::new(), FAINT, Style::new()], 2);
    for name in names {
        let property = &properties[name];
        let presence = match property.get("default") {
            _ if is_required(schema, name) => "required".to_owned(),
            Some(default) => format!("default {default}"),
            None => "optional".to_owned(),
        };
        let description = property.get("description").and_then(Value::as_str).unwrap_or_default();
        let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
        table.push(
            [name, &type_of(schema, property, MAX_DEPTH), &presence, &description]
                .map(|cell| visible(cell).into_owned()),
        );
    }
    table.wrapped(width)
}

/// Whether a call has to pass the parameter.
pub(crate) fn is_required(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|required| required == name))
}

/// What a schema takes, in a word or a few: `string`, `integer or null`, `list of string`, `"a" or "b"`.
fn type_of(root: &Value, schema: &Value, depth: usize) -> String {
    let Some(depth) = depth.checked_sub(1) else { return "anything".to_owned() };
    let list = |key: &str| schema.get(key).and_then(Value::as_array);
    let joined = |types: Vec<String>| {
        let mut distinct: Vec<String> = Vec::new();
        types.into_iter().for_each(|name| {
            if !distinct.contains(&name) {
                distinct.push(name)
            }
        });
        distinct.join(" or ")
    };
    if let Some(value) = schema.get("const") {
        value.to_string()
    } else if let Some(values) = list("enum") {
        joined(values.iter().map(Value::to_string).collect())
    } else if let Some(names) = list("type") {
        joined(names.iter().filter_map(Value::as_str).map(|name| named(root, schema, name, depth)).collect())
    } else if let Some(name) = schema.get("type").and_then(Value::as_str) {
        named(root, schema, name, depth)
    } else if let Some(branches) = list("anyOf").or_else(|| list("oneOf")) {
        joined(branches.iter().map(|branch| type_of(root, branch, depth)).collect())
    } else if let Some(target) = referenced(root, schema) {
        type_of(root, target, depth)
    } else if let Some([only]) = list("allOf").map(Vec::as_slice) {
        type_of(root, only, depth)
    } else {
        "anything".to_owned()
    }
}

fn named(root: &Value, schema: &Value, name: &str, depth: usize) -> String {
    match schema.get("items").filter(|_| name == "array") {
        Some(items) => format!("list of {}", type_of(root, items, depth)),
        None => if name == "array" { "list" } else { name }.to_owned(),
    }
}

fn referenced<'a>(root: &'a Value, schema: &Value) -> Option<&'a Value> {
    root.pointer(schema.get("$ref")?.as_str()?.strip_prefix('#')?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn required_parameters_come_first_and_defaults_are_shown() {
        let schema = json!({
            "properties": {"a": {"type": "integer", "default": 1}, "b": {"type": "string", "description": "The\nname."}, "c": {}},
            "required": ["b"],
        });
        let styled = table(&schema, None);
        let plain = anstream::adapter::strip_str(&styled).to_string();
        assert_eq!(
            plain,
            "  b  string    required   The name.\n  a  integer   default 1  \n  c  anything  optional   \n"
        );
        assert_eq!(table(&json!({"type": "object"}), None), "  none\n");
    }

    #[test]
    fn types_are_named() {
        let root = json!({"$defs": {"unit": {"enum": ["a", "b"]}, "loop": {"$ref": "#/$defs/loop"}}});
        for (schema, name) in [
            (json!({"type": ["integer", "null"]}), "integer or null"),
            (json!({"type": "array", "items": {"type": "string"}}), "list of string"),
            (json!({"anyOf": [{"$ref": "#/$defs/unit"}, {"type": "null"}]}), r#""a" or "b" or null"#),
            (json!({"allOf": [{"$ref": "#/$defs/unit"}]}), r#""a" or "b""#),
            (json!({"$ref": "#/$defs/loop"}), "anything"),
            (json!({"const": 3}), "3"),
            (json!(true), "anything"),
        ] {
            assert_eq!(type_of(&root, &schema, MAX_DEPTH), name, "{schema}");
        }
    }
}
