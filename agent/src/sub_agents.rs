//! [`SubAgents`]: permits the tools of a session to start sub-agents.

/// The service of `agent.spawn`: a session whose context has it may start sub-agents, within these limits.
///
/// A sub-agent runs inside of the call that starts it, with the provider of the run. It has at most the tools, the grant and the
/// budget of the agent that starts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubAgents {
    /// The number of levels. Defaults to 2: a sub-agent may start sub-agents, which may start none. The pipeline's limit of nested
    /// calls holds too.
    pub max_depth: usize,
}

impl Default for SubAgents {
    fn default() -> Self {
        Self { max_depth: 2 }
    }
}
