//! The table of a tool's parameters.

use agent::parameters;
use anstyle::Style;
use serde_json::Value;

use crate::notice::{FAINT, STRONG};
use crate::table::Table;

/// Returns a table of name, type, presence and description; required parameters come first.
pub(crate) fn table(schema: &Value, width: usize) -> String {
    let mut table = Table::new([STRONG, Style::new(), FAINT, Style::new()], 2);
    let parameters = parameters(schema);
    if parameters.is_empty() {
        return "  none\n".to_owned();
    }
    for parameter in parameters {
        table.push([parameter.name, parameter.values, parameter.presence.to_string(), parameter.description]);
    }
    table.wrapped(width)
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
        let styled = table(&schema, 80);
        let plain = anstream::adapter::strip_str(&styled).to_string();
        assert_eq!(
            plain,
            "  b  a string    required   The name.\n  a  an integer  default 1  \n  c  anything    optional   \n"
        );
        assert_eq!(table(&json!({"type": "object"}), 80), "  none\n");
    }
}
