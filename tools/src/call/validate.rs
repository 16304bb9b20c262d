//! Validate: the arguments against the schema, and what the call would touch.

use protocol::{Target, TargetError};
use serde_json::Value;

use crate::{Entry, ToolError, Violation, schema};

/// The targets of a call whose arguments fit.
///
/// # Errors
/// [`ToolError::InvalidArguments`] when they do not fit the schema, or make no target, such as a path that steps out of its
/// root.
pub(crate) fn validate(entry: &Entry, arguments: &Value) -> Result<Vec<Target>, ToolError> {
    let tool = entry.tool();
    let targets = || tool.effects.targets(&tool.name, &tool.parameters, arguments);
    match entry.check_arguments(arguments) {
        Ok(()) => targets().map_err(|error| ToolError::InvalidArguments {
            tool: tool.name.to_string(),
            violations: vec![violation(&error, arguments)],
        }),
        Err(ToolError::InvalidArguments { tool, mut violations }) => {
            // A pattern says less about a path than the reason why it makes no target.
            if let Err(error) = targets()
                && let Some(same) = violations.iter_mut().find(|violation| violation.pointer == error.pointer())
                && !same.pointer.is_empty()
            {
                *same = violation(&error, arguments);
            }
            Err(ToolError::InvalidArguments { tool, violations })
        }
        Err(error) => Err(error),
    }
}

fn violation(error: &TargetError, arguments: &Value) -> Violation {
    let pointer = error.pointer();
    let found = schema::show(arguments.pointer(&pointer).unwrap_or(arguments));
    Violation { expected: format!("a target that can be granted ({error})"), found, near: Vec::new(), pointer }
}
