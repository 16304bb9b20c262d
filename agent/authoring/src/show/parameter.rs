//! The table of a tool's parameters.

use agent::parameters;
use anstyle::Style;
use host::fit;
use serde_json::Value;

use host::style::{FAINT, STRONG, paint};
use host::table::Table;

/// Returns a table of name, type, presence and description; required parameters come first. Patterns follow below.
pub(super) fn table(schema: &Value, width: usize) -> String {
    let mut table = Table::new([STRONG, Style::new(), FAINT, Style::new()], 2);
    let parameters = parameters(schema);
    if parameters.is_empty() {
        return "  none\n".to_owned();
    }
    let mut patterns = String::new();
    for parameter in parameters {
        if let Some(pattern) = parameter.pattern {
            patterns += &format!("  {} matches\n", parameter.name);
            // A pattern may be one long word.
            let rows = fit::rows(&pattern, 4, width.saturating_sub(4).max(1)).into_iter();
            patterns.extend(rows.map(|row| format!("    {}\n", paint(FAINT, row))));
        }
        let presence = parameter.presence.to_string();
        table.push([
            parameter.name,
            parameter.values,
            presence,
            parameter.description,
        ]);
    }
    table.wrap(width) + &patterns
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
