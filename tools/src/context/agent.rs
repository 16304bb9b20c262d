//! The sub-agent of a context.

use protocol::ToolName;

use super::ToolContext;
use crate::tool_error::ToolError;
use crate::visible;

/// The error for calls that cannot be made as those of a sub-agent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The name is empty, too long or has other characters.
    #[error(
        "{name:?} cannot be the name of a sub-agent; use 1 to {} of A-Z a-z 0-9 _ . -",
        ToolContext::MAX_AGENT_NAME
    )]
    Name {
        /// The name as given, cut after 80 bytes.
        name: String,
    },
    /// The running tool does not declare that it delegates.
    #[error(
        "{tool} starts a sub-agent without declaring it; add `delegates` to the limits of its definition"
    )]
    Undeclared {
        /// The running tool.
        tool: ToolName,
    },
}

impl ToolContext {
    /// The maximum length of a sub-agent's name, in bytes.
    pub const MAX_AGENT_NAME: usize = 64;

    /// Makes the following calls those of a sub-agent, which a driver runs inside of the running call.
    ///
    /// The calls stay nested calls: the grant, the policy, the approver, the journal and the token of the running call hold for them.
    ///
    /// # Errors
    /// - [`AgentError::Name`] if the name is not 1 to [`MAX_AGENT_NAME`](Self::MAX_AGENT_NAME) of `A-Za-z0-9_.-`.
    /// - [`AgentError::Undeclared`] inside of a call whose tool does not declare that it
    ///   [delegates](protocol::Limits::delegates).
    pub fn with_agent(&self, name: &str) -> Result<Self, AgentError> {
        // A slash separates the levels of the path, and the path is in journals, events and questions.
        let mut bytes = name.bytes();
        let is_allowed = bytes.all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte));
        if name.is_empty() || name.len() > Self::MAX_AGENT_NAME || !is_allowed {
            return Err(AgentError::Name {
                name: visible::head(name, 80).to_owned(),
            });
        }
        // The calls of a sub-agent have keys of their own, which takes an outer tool that holds none.
        if let Some(entry) = self.entry().filter(|entry| !entry.tool().limits.delegates) {
            return Err(AgentError::Undeclared {
                tool: entry.name().clone(),
            });
        }
        let path = match self.agent() {
            Some(outer) => format!("{outer}/{name}"),
            None => name.to_owned(),
        };
        Ok(self.clone().with(|facts| facts.agent = Some(path.into())))
    }

    /// Returns the path of the sub-agent that makes the calls, such as `review/tests`: the outermost name comes first. Returns `None`
    /// for the session's own calls.
    ///
    /// A tool cannot remove a name from the path of its calls.
    pub fn agent(&self) -> Option<&str> {
        self.facts.agent.as_deref()
    }
}

impl From<AgentError> for ToolError {
    fn from(error: AgentError) -> Self {
        Self::execution_failed(error.to_string())
    }
}
