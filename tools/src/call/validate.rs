//! Validate: the arguments against the schema, and what the call would touch.

use protocol::{Effects, Target, TargetError};

use crate::{Entry, Input, ToolError, Violation, schema};

/// The targets of a call whose arguments fit.
///
/// # Errors
/// [`ToolError::InvalidArguments`] when they do not fit the schema, or make no target, such as a path that steps out of its
/// root.
pub(crate) fn validate(entry: &Entry, arguments: &Input) -> Result<Vec<Target>, ToolError> {
    let tool = entry.tool();
    match entry.check_arguments(arguments) {
        Ok(()) => targets(entry, arguments).map_err(|error| ToolError::InvalidArguments {
            tool: tool.name.to_string(),
            violations: vec![violation(&error, entry, arguments)],
        }),
        Err(ToolError::InvalidArguments { tool, mut violations }) => {
            // A pattern says less about a path than the reason why it makes no target.
            if let Err(error) = targets(entry, arguments)
                && let Some(same) = violations.iter_mut().find(|violation| violation.pointer == error.pointer())
                && !same.pointer.is_empty()
            {
                *same = violation(&error, entry, arguments);
            }
            Err(ToolError::InvalidArguments { tool, violations })
        }
        Err(error) => Err(error),
    }
}

/// What the call would touch. Of the arguments, those that the templates name are looked at.
fn targets(entry: &Entry, arguments: &Input) -> Result<Vec<Target>, TargetError> {
    let tool = entry.tool();
    let declared = match &tool.effects {
        Effects::Pure => return Ok(Vec::new()),
        Effects::Declared(declared) => Some(declared),
        Effects::Undeclared => None,
    };
    let templates = declared.into_iter().flat_map(|declared| declared.templates());
    let picked = arguments.picked(templates.flat_map(|(_, template)| template.fields()));
    tool.effects.targets(&tool.name, &tool.parameters, &picked)
}

fn violation(error: &TargetError, entry: &Entry, arguments: &Input) -> Violation {
    let pointer = error.pointer();
    let arguments = entry.masked(arguments.value());
    let found = schema::show(arguments.pointer(&pointer).unwrap_or(&arguments));
    Violation { expected: format!("a target that can be granted ({error})"), found, near: Vec::new(), pointer }
}
