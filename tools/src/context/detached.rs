//! The context of work that outlives its call.

use tokio_util::sync::CancellationToken;

use super::{CallScope, NotInherited, Services, ToolContext};

impl ToolContext {
    /// Returns the running call's context for work that goes on after the call, until the token is cancelled. Outside of a call, returns
    /// the context with this token.
    ///
    /// - The grant, the approved targets, the policy, the approver, the depth and the place in the journal are those of the call.
    /// - The time limit of the tool starts anew. The host's deadline holds.
    /// - Progress, deadline observer, person clock and call order belong to the call, which has ended, so there are none.
    pub(crate) fn detached(&self, token: CancellationToken, services: &Services) -> Self {
        let own = self.clone().outliving(services);
        let Some(call) = self.call() else {
            return own.with_cancellation(token);
        };
        // Without the outer calls, whose end is not that of the work.
        let caller = Self {
            facts: call.caller.facts.clone(),
            call: None,
        };
        let caller = caller.outliving(services).with_cancellation(token);
        let call = CallScope::detached(call, caller);
        Self {
            facts: own.facts,
            call: Some(call.into()),
        }
    }

    fn outliving(self, services: &Services) -> Self {
        self.with(|facts| {
            facts.services = services.clone();
            facts.ticket = None;
            facts.progress = None;
            facts.observer = NotInherited::default();
            facts.person_clock = None;
            facts.cancellation = NotInherited::default();
        })
    }
}
