//! Parse: arguments as text are read strictly, and none may be too large or too deep.

use protocol::ToolName;
use serde_json::Value;

use crate::strict::{self, MAX_DEPTH, too_deep};
use crate::tree::Tree;
use crate::{Arguments, Input, ToolError, Violation, size};

/// How large arguments may be, as JSON text: 1 MiB.
pub const MAX_ARGUMENT_BYTES: usize = 1024 * 1024;

/// The arguments, read. Text with a duplicate key is refused: serde_json would keep the last one without a word, and what was
/// approved might not be what is run.
pub(super) fn parse(tool: &ToolName, arguments: Arguments) -> Result<Input, ToolError> {
    let read = match arguments {
        Arguments::Text(text) => of_text(text),
        Arguments::Value(value) => of_value(value),
    };
    read.map_err(|violation| ToolError::InvalidArguments { tool: tool.to_string(), violations: vec![violation] })
}

fn of_text(text: String) -> Result<Input, Violation> {
    if text.len() > MAX_ARGUMENT_BYTES {
        return Err(too_large(text.len()));
    }
    // A tree is read fast and refused without a reason; the slow way knows it.
    Tree::read(text).map(Input::of_tree).or_else(|text| of_value(slowly(&text)?))
}

fn slowly(text: &str) -> Result<Value, Violation> {
    strict::read(text).map_err(|fault| match fault {
        strict::Fault::Refused(violation) => violation,
        strict::Fault::Syntax(error) => Violation {
            pointer: String::new(),
            expected: "a JSON object, whole and with nothing after it".to_owned(),
            found: if text.trim().is_empty() { "nothing".to_owned() } else { error.to_string() },
            near: Vec::new(),
        },
    })
}

fn of_value(value: Value) -> Result<Input, Violation> {
    if is_deeper(&value, MAX_DEPTH) {
        dismantle(value);
        return Err(too_deep(String::new()));
    }
    match size::over(&value, MAX_ARGUMENT_BYTES) {
        Some(bytes) => Err(too_large(bytes)),
        None => Ok(value.into()),
    }
}

fn too_large(bytes: usize) -> Violation {
    Violation {
        pointer: String::new(),
        expected: format!("at most {MAX_ARGUMENT_BYTES} bytes of JSON"),
        found: format!("{bytes} bytes"),
        near: Vec::new(),
    }
}

fn is_deeper(value: &Value, levels: usize) -> bool {
    let Some(inner) = levels.checked_sub(1) else { return value.is_array() || value.is_object() };
    match value {
        Value::Array(items) => items.iter().any(|item| is_deeper(item, inner)),
        Value::Object(members) => members.values().any(|member| is_deeper(member, inner)),
        _ => false,
    }
}

/// Drops a value of any depth. The drop that the compiler writes recurses, and a deep enough value would end the process.
fn dismantle(value: Value) {
    let mut rest = vec![value];
    while let Some(value) = rest.pop() {
        match value {
            Value::Array(items) => rest.extend(items),
            Value::Object(members) => rest.extend(members.into_iter().map(|(_, member)| member)),
            _ => {}
        }
    }
}
