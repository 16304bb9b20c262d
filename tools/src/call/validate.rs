//! Validate: the arguments against the schema, and what the call would touch.

use protocol::{Target, TargetError};

use crate::{Entry, Input, ToolErrorKind, Violation, schema};

/// The targets of a call whose arguments fit.
///
/// # Errors
/// [`ToolErrorKind::InvalidArguments`] when they do not fit the schema, or make no target, such as a path that steps out of its
/// root.
pub(crate) fn validate(entry: &Entry, arguments: &Input) -> Result<Vec<Target>, ToolErrorKind> {
    match entry.check_arguments(arguments) {
        Ok(()) => entry
            .targets(arguments.node())
            .map_err(|error| ToolErrorKind::InvalidArguments { violations: vec![violation(&error, entry, arguments)] }),
        Err(ToolErrorKind::InvalidArguments { mut violations }) => {
            // A pattern says less about a path than the reason why it makes no target.
            if let Err(error) = entry.targets(arguments.node())
                && let Some(same) = violations.iter_mut().find(|violation| violation.pointer == error.pointer())
                && !same.pointer.is_empty()
            {
                *same = violation(&error, entry, arguments);
            }
            Err(ToolErrorKind::InvalidArguments { violations })
        }
        Err(error) => Err(error),
    }
}

fn violation(error: &TargetError, entry: &Entry, arguments: &Input) -> Violation {
    let pointer = error.pointer();
    let arguments = entry.masked(arguments.json());
    let found = schema::show(arguments.value().pointer(&pointer).unwrap_or(arguments.value()));
    Violation::new(pointer, format!("a target that can be granted ({error})"), found)
}
