//! Tool errors and counts as text for a person.

use agent::refusal;
use tools::{ToolError, ToolErrorKind};

use crate::program;

/// Returns the error's message for a person. The pipeline's own messages advise a model, such as not to retry.
pub(crate) fn for_person(error: &ToolError) -> String {
    let tool = error.tool_name();
    match error.kind() {
        ToolErrorKind::NotFound { near } => {
            let near = ToolError::did_you_mean(near).map(|near| near + " ");
            let near = near.unwrap_or_default();
            let where_tools_are = where_tools_are();
            format!("there is no tool named {tool:?}; {near}{where_tools_are}")
        }
        ToolErrorKind::Timeout { limit } => {
            let effect = "; it may have taken effect, so check before you repeat it";
            let unclear = Some(effect).filter(|_| error.is_unclear());
            format!(
                "{tool} exceeded its deadline of {limit:?} and was stopped{}; set a longer one with --timeout",
                unclear.unwrap_or_default()
            )
        }
        _ => refusal::for_person(error),
    }
}

/// Returns the sentence on the commands that name the tools.
pub(crate) fn where_tools_are() -> String {
    let program = program::name();
    format!("{program} list names all tools, and {program} search finds some by words")
}
