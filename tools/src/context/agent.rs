//! The sub-agent of a context.

use super::{NotInherited, ToolContext};

impl ToolContext {
    /// Makes the following calls those of a sub-agent, which a driver runs inside of the running call. The name has no `/`.
    ///
    /// The calls stay nested calls: the grant, the policy, the approver, the journal and the token of the running call hold for them.
    /// [`with_place`](Self::with_place) then sets the observer and the person clock of a call of the sub-agent too.
    #[must_use]
    pub fn with_agent(self, name: &str) -> Self {
        let path = match self.agent() {
            Some(outer) => format!("{outer}/{name}"),
            None => name.to_owned(),
        };
        let depth = self.depth();
        self.with(|facts| facts.agent = NotInherited { depth, value: Some(path.into()) })
    }

    /// Returns the path of the sub-agent that makes the calls, such as `review/tests`: the outermost name comes first. Returns `None`
    /// for the session's own calls.
    ///
    /// A tool cannot remove a name from the path of its calls.
    pub fn agent(&self) -> Option<&str> {
        self.facts.agent.value.as_deref()
    }

    /// Returns true if a driver makes the next call with this context: outside of a call, and as a sub-agent.
    pub(super) fn is_driven(&self) -> bool {
        self.call.is_none() || self.agent().is_some() && self.facts.agent.depth == self.depth()
    }
}
