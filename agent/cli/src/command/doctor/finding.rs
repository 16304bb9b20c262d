//! [`Finding`]: a problem that `doctor` has found.

use serde::Serialize;

/// A problem.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Finding {
    /// The check that failed: `link`, `conflict`, `definition`, `settings`, `provider`, `root`, `mcp`, `memory`, `need`, `programs`, `skill`,
    /// `channel`, `speech` or `wire`.
    pub(super) check: &'static str,
    /// The tool, if the problem concerns one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool: Option<String>,
    /// The provider, if the problem concerns one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) provider: Option<String>,
    pub(super) message: String,
}

impl Finding {
    pub(super) fn new(check: &'static str, message: String) -> Self {
        Self { check, tool: None, provider: None, message }
    }

    pub(super) fn for_tool(self, name: impl ToString) -> Self {
        Self { tool: Some(name.to_string()), ..self }
    }

    pub(super) fn for_provider(self, name: impl ToString) -> Self {
        Self { provider: Some(name.to_string()), ..self }
    }
}
