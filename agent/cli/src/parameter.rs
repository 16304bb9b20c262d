//! Renders a tool's parameters for people.

use anstyle::Style;
use serde_json::Value;
use tools::describe_schema;

use crate::notice::{FAINT, STRONG};
use crate::table::Table;
use crate::visible::visible;

/// Returns a table of name, type, presence and description; required parameters come first.
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
            [name, &describe_schema(schema, property), &presence, &description].map(|cell| visible(cell).into_owned()),
        );
    }
    table.wrapped(width)
}

/// Returns true if the schema requires the parameter.
pub(crate) fn is_required(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|required| required == name))
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
            "  b  a string    required   The name.\n  a  an integer  default 1  \n  c  anything    optional   \n"
        );
        assert_eq!(table(&json!({"type": "object"}), None), "  none\n");
    }
}
