//! Errors as results that a model can act on.

use protocol::{Content, ToolResult};
use serde_json::json;

use super::{ToolError, ToolErrorKind};
use crate::spelling::Spelling;
use crate::visible::readable;

impl ToolError {
    /// Returns the result of a failed call, whose text has this spelling. The structured value always has the catalog's names.
    pub(crate) fn to_result(&self, spelling: Spelling<'_>) -> ToolResult {
        let mut detail = json!({"kind": self.code(), "tool": self.tool_name()});
        match self.kind() {
            ToolErrorKind::InvalidArguments { violations }
            | ToolErrorKind::InvalidOutput { violations } => {
                detail["violations"] = json!(violations);
            }
            ToolErrorKind::NotFound { near } => detail["near"] = json!(near),
            ToolErrorKind::PermissionDenied { needed, .. } => detail["needed"] = json!(needed),
            ToolErrorKind::Unapproved {
                needed,
                sensitive,
                unnamed,
                concern,
                ..
            } => {
                detail["needed"] = json!(needed);
                if !sensitive.is_empty() {
                    detail["sensitive"] = sensitive.iter().map(|(target, path)| json!({"target": target, "sensitivity": path.sensitivity, "note": path.describe(target.value())})).collect();
                }
                if !unnamed.is_empty() {
                    detail["unnamed"] = json!(unnamed);
                }
                if let Some(concern) = concern {
                    let can_be_named = concern.is_lifted_by_name;
                    detail["concern"] = json!({"target": concern.target, "reason": concern.reason, "can_be_named": can_be_named});
                }
            }
            ToolErrorKind::Overloaded {
                retry_after: Some(wait),
            }
            | ToolErrorKind::Transient {
                retry_after: Some(wait),
                ..
            } => {
                detail["retry_after_ms"] =
                    json!(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
            }
            _ => {}
        }
        if self.is_unclear() {
            detail["unclear"] = true.into();
        }
        let message = self.0.message(spelling).to_string();
        // A text of a tool may have characters that a model reads and a person does not see.
        let mut result = ToolResult::error(readable(&message));
        let note = self
            .0
            .renamed
            .as_deref()
            .map(|(former, present)| spelling.note_renamed(former, present));
        result.content.extend(note.map(Content::text));
        result.structured = Some(json!({"error": detail}).into());
        result
    }
}

impl From<&ToolError> for ToolResult {
    /// Converts an error into a result: the message as text, with invisible characters escaped, and a structured value
    /// `{"error": {"kind", "tool", …}}` for programs, with the violations if there are any.
    fn from(error: &ToolError) -> Self {
        error.to_result(Spelling::default())
    }
}

impl From<ToolError> for ToolResult {
    fn from(error: ToolError) -> Self {
        Self::from(&error)
    }
}

#[cfg(test)]
mod tests {
    use protocol::{Access, Grant, Target, is_invisible};

    use super::*;

    #[test]
    fn a_model_sees_every_character_of_a_refusal() {
        let hidden = "a\u{e0041}\u{fe0f}\u{2800}\u{3164}\u{a0}b";
        let denied = ToolErrorKind::PermissionDenied {
            needed: vec![Target::new(Access::Read, "fs", hidden).unwrap()],
            granted: Grant::none(),
        };
        let failed = ToolError::execution_failed(format!("{hidden}\n\tc"));
        for error in [
            denied.into(),
            failed,
            ToolError::not_found(hidden, [].into_iter()),
        ] {
            let result = ToolResult::from(&error);
            let text = format!("{:?}", result.content);
            assert!(text.contains(r"\\u2800"), "{text}");
            assert!(!text.contains(is_invisible), "{text}");
        }
    }
}
