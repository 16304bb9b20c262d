//! What the counter says of a call, in words for the person who made it.

use tools::{Target, ToolError};

/// The error in words for a person. Those of the counter are for models: they tell it what to ask for, and not to try again.
pub(crate) fn for_person(error: &ToolError) -> String {
    let tool = error.tool_name();
    match error {
        ToolError::NotFound { tool, near } if near.is_empty() => {
            format!("there is no tool named {tool:?}; toolcrib list shows those that there are")
        }
        ToolError::PermissionDenied { needed, granted, .. } => {
            let needed = needed.iter().map(Target::to_string).collect::<Vec<_>>().join(", ");
            format!("{tool} needs {needed}, and what is granted is {granted}")
        }
        ToolError::Denied { reason, .. } => format!("{tool} was not run: {reason}"),
        ToolError::Unapproved { waited: None, .. } => {
            format!("{tool} was not run: somebody has to be asked, and nobody can be asked here")
        }
        ToolError::Unapproved { waited: Some(waited), .. } => {
            format!("{tool} was not run: nobody answered within {waited:?}")
        }
        ToolError::Timeout { limit, .. } => {
            format!("{tool} took longer than {limit:?} and was stopped; allow it more with --timeout")
        }
        error => error.to_string(),
    }
}
