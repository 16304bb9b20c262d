//! [`SubAgents`]: permits the tools of a session to start sub-agents.

/// The service of `agent.spawn`: a session whose context has it may start sub-agents, within these limits.
///
/// A sub-agent runs inside of the call that starts it, with the provider of the run. It has at most the tools, the grant and the
/// budget of the agent that starts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubAgents {
    max_depth: usize,
}

impl SubAgents {
    /// The default number of levels of sub-agents.
    pub const DEFAULT_MAX_DEPTH: usize = 2;

    /// Permits [`DEFAULT_MAX_DEPTH`](Self::DEFAULT_MAX_DEPTH) levels: a sub-agent may start sub-agents, which may start none.
    pub fn new() -> Self {
        Self {
            max_depth: Self::DEFAULT_MAX_DEPTH,
        }
    }

    /// Sets the number of levels. The pipeline's limit of nested calls holds too.
    #[must_use]
    pub fn with_max_depth(self, max_depth: usize) -> Self {
        Self { max_depth }
    }

    /// Returns the number of levels.
    pub fn max_depth(&self) -> usize {
        self.max_depth
    }
}

impl Default for SubAgents {
    fn default() -> Self {
        Self::new()
    }
}
