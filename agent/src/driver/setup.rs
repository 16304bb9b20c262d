//! The budget, the context and the first events of a run.

use tools::ToolContext;
use tools::protocol::wire::Format;

use super::guarded_sink::GuardedSink;
use super::{Driver, DriverError};
use crate::consent::DeferredRequests;
use crate::prefix::Prefix;
use crate::{Budget, DeferredConsent, Event, Run, Session};

impl Driver {
    /// Creates the budget of a run: a child of the budget in the session's context. A resumed run has used a part of its own limits.
    pub(super) fn budget(&self, session: &Session, run: &Run) -> Budget {
        let parent = session.context().service::<Budget>();
        let parent = parent.map_or_else(Budget::default, |parent| Budget::clone(&parent));
        parent.child_with_spent(self.options.limits, run.spent())
    }

    /// Returns the context of the run's calls.
    pub(super) fn call_context(&self, session: &Session, budget: &Budget, format: Option<Format>) -> ToolContext {
        let cx = session.context().clone().with_service(budget.clone());
        let cx = self.options.correlation_id.iter().cloned().fold(cx, ToolContext::with_correlation_id);
        format.into_iter().fold(cx, ToolContext::with_wire)
    }

    /// Adds the deferred requests of the run to the services of its calls, if approvals can wait. Those of a sub-agent cannot.
    pub(super) fn deferring(&self, cx: ToolContext, run: &mut Run) -> Result<ToolContext, DriverError> {
        if cx.depth() > 0 || cx.service::<DeferredConsent>().is_none() {
            return Ok(cx);
        }
        let key = run.approval_key().map_err(DriverError::NoRandom)?;
        Ok(cx.with_service(DeferredRequests::new(key)))
    }

    /// Sends the events that precede the first request. A resumed run is compared with its own earlier requests.
    pub(super) fn announce(&self, session: &Session, run: &mut Run, sink: &GuardedSink) {
        if let Some(id) = &self.options.correlation_id {
            sink.send(|| Event::Started { correlation_id: id.to_string() });
        }
        let prefix = Prefix::new(run.messages(), session.tools(), &*self.provider);
        let change = run.prefix().or(session.prefix()).and_then(|earlier| prefix.changes_since(earlier));
        change.into_iter().for_each(|change| sink.send(|| Event::PrefixChanged(change)));
        run.record_prefix(prefix);
    }
}
