//! Errors and numbers in words for a person.

use tools::policy::SensitivePath;
use tools::{Target, ToolError, ToolErrorKind};

/// The error in words for a person. Those of the counter are for models: they tell it what to ask for, and not to try again.
pub(crate) fn for_person(error: &ToolError) -> String {
    let tool = error.tool_name();
    match error.kind() {
        ToolErrorKind::NotFound { near } if near.is_empty() => {
            format!("there is no tool named {tool:?}; toolcrib list shows those that there are")
        }
        ToolErrorKind::PermissionDenied { needed, granted } => {
            let needed = needed.iter().map(Target::to_string).collect::<Vec<_>>().join(", ");
            format!("{tool} needs {needed}, and what is granted is {granted}")
        }
        ToolErrorKind::Denied { reason } => format!("{tool} was not run: {reason}"),
        ToolErrorKind::Unapproved { waited, sensitive, .. } => {
            let reason = match waited {
                None => "somebody has to be asked, and nobody can be asked here".to_owned(),
                Some(waited) => format!("nobody answered within {waited:?}"),
            };
            let told = |(target, path): &(Target, SensitivePath)| {
                format!("; `{}` is {}", target.value(), path.describe(target.value()))
            };
            format!("{tool} was not run: {reason}{}", sensitive.iter().map(told).collect::<String>())
        }
        ToolErrorKind::Timeout { limit } => {
            format!("{tool} took longer than {limit:?} and was stopped; allow it more with --timeout")
        }
        _ => error.to_string(),
    }
}

/// Returns a number with its unit, such as `1 step`.
pub(crate) fn counted(count: u64, unit: &str) -> String {
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}
