//! Validate: checks the arguments against the schema, computes the targets of the call, and lets the handler check the services.

use protocol::{Target, TargetError};

use crate::context::{Host, ToolContext};
use crate::entry::Entry;
use crate::input::Input;
use crate::isolate::Panic;
use crate::schema;
use crate::schema::Violation;
use crate::tool_error::{ToolError, ToolErrorKind};

/// Validates the arguments and returns the targets of the call.
///
/// # Errors
/// Returns the errors of [`judge`].
pub(crate) fn validate(entry: &Entry, arguments: &Input) -> Result<Vec<Target>, ToolErrorKind> {
    judge(None, entry, arguments, entry.check_arguments(arguments))
}

/// Returns the targets of a call whose arguments were checked.
///
/// # Errors
/// - [`ToolErrorKind::InvalidArguments`] if the arguments do not fit the schema or form no target, such as a path that leaves its root.
/// - [`ToolErrorKind::Unavailable`] if a schema does not compile.
fn judge(
    cx: Option<&ToolContext>,
    entry: &Entry,
    arguments: &Input,
    checked: Result<(), ToolErrorKind>,
) -> Result<Vec<Target>, ToolErrorKind> {
    let targets = |arguments| match cx {
        Some(cx) => entry.targets(arguments, cx),
        // Arguments are valid without the settings of a session, too.
        None => match entry.targets(arguments, &Host::new()) {
            Err(TargetError::NoService { .. }) => Ok(Vec::new()),
            targets => targets,
        },
    };
    match checked {
        Ok(()) => {
            targets(arguments.json()).map_err(|error| violation(&error, entry, arguments).into())
        }
        Err(ToolErrorKind::InvalidArguments { mut violations }) => {
            // The target's error explains an invalid path better than a schema pattern does.
            if let Err(error) = targets(arguments.json())
                && let Some(same) = violations
                    .iter_mut()
                    .find(|violation| violation.pointer == error.pointer())
                && !same.pointer.is_empty()
            {
                *same = violation(&error, entry, arguments);
            }
            Err(ToolErrorKind::InvalidArguments { violations })
        }
        Err(error) => Err(error),
    }
}

/// Returns the targets of a call whose arguments were checked, and lets the handler check what the arguments name in this
/// context, if there is one.
///
/// # Errors
/// Returns the errors of [`validate`], the handler's own error, or [`ToolErrorKind::Panicked`].
pub(super) fn validate_in(
    cx: Option<&ToolContext>,
    entry: &Entry,
    arguments: &Input,
    checked: Result<(), ToolErrorKind>,
) -> Result<Vec<Target>, ToolError> {
    let targets = judge(cx, entry, arguments, checked)?;
    if let Some(cx) = cx {
        Panic::catch(|| entry.handler().check(cx, arguments))
            .unwrap_or_else(|Panic(message)| Err(ToolErrorKind::Panicked { message }.into()))?;
    }
    Ok(targets)
}

fn violation(error: &TargetError, entry: &Entry, arguments: &Input) -> Violation {
    let pointer = error.pointer();
    // If the pointer leads nowhere, the whole arguments are shown, which may have secrets.
    let arguments = entry.mask(arguments.json());
    let found = schema::show(
        arguments
            .value()
            .pointer(&pointer)
            .unwrap_or(arguments.value()),
    );
    Violation::new(
        pointer,
        format!("a target that can be granted ({error})"),
        found,
    )
}
