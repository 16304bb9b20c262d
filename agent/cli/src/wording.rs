//! Tool errors and counts as text for a person.

use tools::policy::SensitivePath;
use tools::{Target, ToolError, ToolErrorKind};

use crate::program;

/// Returns the error's message for a person. The pipeline's own messages advise a model, such as not to retry.
pub(crate) fn for_person(error: &ToolError) -> String {
    let tool = error.tool_name();
    match error.kind() {
        ToolErrorKind::NotFound { near } if near.is_empty() => {
            format!("there is no tool named {tool:?}; run {} list to see all names", program::name())
        }
        ToolErrorKind::PermissionDenied { needed, granted } => {
            let needed = needed.iter().map(Target::to_string).collect::<Vec<_>>().join(", ");
            format!("{tool} needs {needed}, but the grant is {granted}")
        }
        ToolErrorKind::Denied { reason } => format!("{tool} was not run: {reason}"),
        ToolErrorKind::Unapproved { waited, sensitive, .. } => {
            let reason = match waited {
                None => "it needs approval, and there is no terminal to ask on".to_owned(),
                Some(waited) => format!("the approval request timed out after {waited:?}"),
            };
            let warning = |(target, path): &(Target, SensitivePath)| {
                format!("; `{}` is {}", target.value(), path.describe(target.value()))
            };
            format!("{tool} was not run: {reason}{}", sensitive.iter().map(warning).collect::<String>())
        }
        ToolErrorKind::Timeout { limit } => {
            format!("{tool} exceeded its deadline of {limit:?} and was stopped; set a longer one with --timeout")
        }
        _ => error.to_string(),
    }
}

/// Returns a count with its unit, such as `1 step` or `2 steps`.
pub(crate) fn counted(count: u64, unit: &str) -> String {
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}
