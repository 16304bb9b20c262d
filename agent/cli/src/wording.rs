//! Tool errors and counts as text for a person.

use agent::refusal;
use tools::{ToolError, ToolErrorKind};

use crate::program;

/// Returns the error's message for a person. The pipeline's own messages advise a model, such as not to retry.
pub(crate) fn for_person(error: &ToolError) -> String {
    let tool = error.tool_name();
    match error.kind() {
        ToolErrorKind::NotFound { near } => {
            let near = ToolError::did_you_mean(near)
                .map(|near| near + " ")
                .unwrap_or_default();
            format!(
                "there is no tool named {tool:?}; {near}{}",
                where_tools_are()
            )
        }
        ToolErrorKind::Timeout { limit } => {
            let unclear = if error.is_unclear() {
                "; it may have taken effect, so check before you repeat it"
            } else {
                ""
            };
            format!(
                "{tool} exceeded its deadline of {limit:?} and was stopped{unclear}; set a longer one with --timeout"
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
