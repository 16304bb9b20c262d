//! The budget, the context and the first events of a run.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use tokio::time::sleep_until;
use tools::call::{CallPlace, Panic};
use tools::{CancellationToken, ToolContext};

use super::checkpoint::LastCheckpoint;
use super::{Driver, DriverError, Progress, RunContext};
use crate::budget::Budget;
use crate::consent::{DeferredConsent, DeferredRequests};
use crate::disclosure::DefinitionCosts;
use crate::event::Event;
use crate::prefix::Prefix;
use crate::provider::{Provider, Request, guarded};
use crate::run::Run;
use crate::session::Session;
use crate::tool_set::ToolSet;

impl Driver {
    /// Replaces the provider for the runs that begin from now on. The conversation of a session goes on with it, as with a
    /// [fallback](Self::with_fallbacks). [`RunOptions::context_tokens`](crate::RunOptions::context_tokens) was that of the former one, and is forgotten.
    #[must_use]
    pub fn with_provider(mut self, provider: Arc<dyn Provider>) -> Self {
        self.provider = provider;
        self.options.context_tokens = None;
        self
    }

    /// Returns the provider with which runs begin.
    pub fn provider(&self) -> &Arc<dyn Provider> {
        &self.provider
    }

    /// Creates the budget of a run: a child of the budget in the session's context. A resumed run has used a part of its own limits.
    pub(super) fn budget(&self, session: &Session, run: &Run) -> Budget {
        Budget::of_call(session.context()).child_with_spent(self.options.limits, run.spent())
    }

    /// Returns the session's tools as the requests of its runs offer them.
    pub fn offered_tools(&self, session: &Session) -> ToolSet {
        session
            .disclosure
            .offer(session.tools(), self.about(), self.known_context())
    }

    /// Returns the tokens of the definitions in the session's requests, with all tools and with a search. Returns `None` if another tool
    /// of the session has the name of one that a search needs.
    pub fn definition_costs(&self, session: &Session) -> Option<DefinitionCosts> {
        session
            .disclosure
            .costs(session.tools(), self.about(), self.known_context())
    }

    /// Returns the tokens of the model's context.
    pub(super) fn known_context(&self) -> Option<u64> {
        let stated = self.options.context_tokens;
        stated.or_else(|| self.about().context.tokens())
    }

    /// Returns the context of the run's calls.
    pub(super) fn call_context(
        &self,
        session: &Session,
        tools: &ToolSet,
        budget: &Budget,
    ) -> ToolContext {
        let cx = session.context().clone().with_service(budget.clone());
        let cx = session.disclosure.enter(cx, tools);
        let cx = match &self.options.correlation_id {
            Some(id) => CallPlace::default()
                .with_correlation_id(id.clone())
                .enter(cx),
            None => cx,
        };
        match self.about().wire {
            Some(options) => cx.with_wire(options.format),
            None => cx,
        }
    }

    /// Adds the deferred requests of the run to the services of its calls, if approvals can wait. Those of a sub-agent cannot.
    pub(super) fn deferring(
        &self,
        cx: ToolContext,
        run: &mut Run,
    ) -> Result<ToolContext, DriverError> {
        if cx.depth() > 0 || cx.service::<DeferredConsent>().is_none() {
            return Ok(cx);
        }
        let key = run.approval_key().map_err(DriverError::NoRandom)?;
        Ok(cx.with_service(DeferredRequests::new(key)))
    }

    /// Sends the events that precede the first request. A resumed run is compared with its own earlier requests. If another provider
    /// takes over, its event has said so.
    pub(super) fn announce(
        &self,
        session: &Session,
        tools: &ToolSet,
        run: &mut Run,
        progress: &Progress,
    ) {
        let prefix = Prefix::new(run.messages(), tools, self.about());
        if progress.present.is_some() {
            run.prefix = Some(prefix);
            return;
        }
        let sink = &progress.sink;
        if let Some(id) = &self.options.correlation_id {
            sink.send(|| Event::Started {
                correlation_id: id.to_string(),
            });
        }
        let earlier = run.prefix.as_ref().or(session.prefix.as_ref());
        let change = earlier.and_then(|earlier| prefix.changes_since(earlier));
        change
            .into_iter()
            .for_each(|change| sink.send(|| Event::PrefixChanged(change)));
        run.prefix = Some(prefix);
    }

    /// Writes the first checkpoint, unless the provider will refuse the first request each time. A session that cannot go on must
    /// not become the newest one to resume.
    pub(super) async fn begin(
        &self,
        run: &mut Run,
        prompt_at: usize,
        last: &mut Option<LastCheckpoint>,
        run_cx: &RunContext<'_>,
    ) -> Result<(), DriverError> {
        if run.is_asking() {
            self.about().check_messages(&run.messages()[prompt_at..])?;
            let messages = run.request_messages();
            let request = Request {
                agent: run_cx.session.context().agent(),
                ..Request::new(&messages, run_cx.tools, run_cx.token)
            };
            guarded::check(&*self.provider, request)?;
        }
        self.checkpoint(run, last, run_cx).await
    }
}

/// Checks that the time of a budget can be measured, if it is limited.
///
/// # Errors
/// Returns [`DriverError::NoTimer`] if the runtime has no timers.
pub(super) fn check_timer(budget: &Budget) -> Result<(), DriverError> {
    let Some((end, _)) = budget.deadline() else {
        return Ok(());
    };
    // tokio panics if the time driver of the runtime is disabled.
    Panic::catch(|| drop(sleep_until(end))).map_err(|_| DriverError::NoTimer)
}

/// Runs a future to its end. Cancels `token` if `stop` ends meanwhile, and returns the output of `stop` too.
pub(super) async fn cancelled_by<S: Future, F: Future>(
    stop: S,
    token: &CancellationToken,
    future: F,
) -> (F::Output, Option<S::Output>) {
    let mut future = pin!(future);
    let mut stop = pin!(stop);
    let mut stopped = None;
    let output = poll_fn(|task| {
        // A future that has ended must not be polled again.
        if !token.is_cancelled()
            && let Poll::Ready(reason) = stop.as_mut().poll(task)
        {
            stopped = Some(reason);
            token.cancel();
        }
        future.as_mut().poll(task)
    })
    .await;
    (output, stopped)
}
