//! Authorize: the concrete targets of a call against the grant.

use protocol::{Grant, Target, TargetError};
use serde_json::Value;

use crate::{Entry, ToolError, Violation, schema};

/// The targets of this call that the grant does not cover.
///
/// # Errors
/// [`ToolError::InvalidArguments`] when an argument makes no target, such as a path that steps out of its root.
pub(super) fn uncovered(entry: &Entry, grant: &Grant, arguments: &Value) -> Result<Vec<Target>, ToolError> {
    let tool = entry.tool();
    if tool.effects.is_pure() {
        return Ok(Vec::new());
    }
    let refused = |error: TargetError| {
        let pointer = error.pointer();
        let found = arguments.pointer(&pointer).unwrap_or(arguments);
        ToolError::InvalidArguments {
            tool: tool.name.to_string(),
            violations: vec![Violation {
                expected: format!("a target that can be granted ({error})"),
                found: schema::show(found),
                near: Vec::new(),
                pointer,
            }],
        }
    };
    let mut targets = tool.effects.targets(&tool.name, &tool.parameters, arguments).map_err(refused)?;
    targets.retain(|target| !grant.permits(target));
    Ok(targets)
}
