//! [`ActiveRun`]: the run of a call, as a service for the tools of this crate.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use tools::{CancellationToken, IgnorePoison as _, ToolContext, ToolResult};

use super::guarded_sink::GuardedSink;
use super::{Driver, DriverError};
use crate::budget::BudgetError;
use crate::disclosure::SessionDisclosure;
use crate::event::{Event, EventSink};
use crate::provider::Provider;
use crate::run::{PastResults, Run};
use crate::run_options::RunOptions;
use crate::session::{Session, SessionEvents};
use crate::system::SystemText;
use crate::tool_set::ToolSet;

/// The run that makes a call. The driver offers it to the calls of the run.
pub(crate) struct ActiveRun {
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) fallbacks: Vec<Arc<dyn Provider>>,
    pub(crate) tools: ToolSet,
    pub(crate) system: SystemText,
    pub(crate) disclosure: SessionDisclosure,
    pub(crate) options: RunOptions,
    /// The token of the session.
    pub(crate) session_token: CancellationToken,
    events: SessionEvents,
    sink: Arc<GuardedSink>,
    /// The results that the calls of the present turn can read.
    results: RwLock<PastResults>,
    /// The number of sub-agents at work.
    sub_agents: AtomicUsize,
    /// The end of the budget that a request of a call met.
    budget_end: Mutex<Option<BudgetError>>,
    /// True once the run's last event follows. Locked for reading while another event is sent.
    has_ended: RwLock<bool>,
}

/// A sub-agent at work, until it is dropped. Passes on the events of the sub-agent's run.
pub(crate) struct WorkingAgent {
    receiver: Receiver,
    /// The path of the sub-agent.
    agent: String,
    /// The id of the call that started it.
    call: String,
}

/// The receiver of a sub-agent's events.
enum Receiver {
    /// The run whose call started the sub-agent, which waits for it.
    Run(Arc<ActiveRun>),
    /// The present run of the session, for a sub-agent that outlives its call.
    Session(SessionEvents),
}

/// The present run of a session, until it is dropped. A dropped run sends no further events.
pub(super) struct PresentRun(Arc<ActiveRun>, Arc<dyn EventSink>);

impl ActiveRun {
    /// Creates the run of a driver in a session.
    pub(super) fn new(driver: &Driver, session: &Session, sink: Arc<GuardedSink>) -> Self {
        Self {
            provider: driver.provider.clone(),
            fallbacks: driver.fallbacks.clone(),
            tools: session.tools().clone(),
            system: session.system().clone(),
            disclosure: session.disclosure.clone(),
            options: driver.options.clone(),
            session_token: session.context().cancellation().clone(),
            events: session.events.clone(),
            sink,
            results: RwLock::default(),
            sub_agents: AtomicUsize::new(0),
            budget_end: Mutex::default(),
            has_ended: RwLock::new(false),
        }
    }

    /// Adds the run to the services of its calls.
    pub(super) fn enter(self: &Arc<Self>, cx: ToolContext) -> ToolContext {
        let mut services = cx.services().clone();
        services.insert_shared(self.clone());
        cx.with_services(services)
    }

    /// Sends an event of the run, unless the run has ended. The event is built only if there is a sink.
    pub(crate) fn send(&self, event: impl FnOnce() -> Event) {
        // Held while the event is sent, so that none follows the run's last one.
        let has_ended = self.has_ended.read().ignore_poison();
        if !*has_ended {
            self.sink.send(event);
        }
    }

    /// Ends the run after the results of its calls, because a request of a call found the budget used up or broken.
    pub(crate) fn end_by_budget(&self, error: BudgetError) {
        self.budget_end.lock().ignore_poison().get_or_insert(error);
    }

    /// Ends the run if a call met the end of its budget.
    ///
    /// # Errors
    /// Returns [`DriverError::Budget`] if the budget is broken.
    pub(super) fn settle_budget(&self, run: &mut Run) -> Result<(), DriverError> {
        match self.budget_end.lock().ignore_poison().take() {
            None => {}
            Some(BudgetError::Exhausted(exhausted)) => run.exhaust(exhausted),
            Some(error) => return Err(DriverError::Budget(error)),
        }
        Ok(())
    }

    /// Sets the results that the calls of a turn can read.
    pub(super) fn set_results(&self, results: PastResults) {
        *self.results.write().ignore_poison() = results;
    }

    /// Returns the result of an earlier call of the conversation, also if requests leave it out.
    pub(crate) fn past_result(&self, id: &str) -> Option<ToolResult> {
        self.results.read().ignore_poison().find(id)
    }

    /// Ends the events of calls. A call that was abandoned may still be polled.
    pub(super) fn end(&self) {
        *self.has_ended.write().ignore_poison() = true;
    }

    /// Makes this the run that receives the events of the session's sub-agents in the background.
    pub(super) fn attach(self: &Arc<Self>) -> PresentRun {
        let sink: Arc<dyn EventSink> = self.clone();
        self.events.attach(sink.clone());
        PresentRun(self.clone(), sink)
    }

    /// Returns true if a call of this run waits for a sub-agent.
    pub(super) fn has_sub_agents(&self) -> bool {
        self.sub_agents.load(Ordering::Relaxed) > 0
    }

    /// Returns the sub-agent of this context, which the running call starts and waits for.
    pub(crate) fn start_agent(self: &Arc<Self>, cx: &ToolContext) -> WorkingAgent {
        self.sub_agents.fetch_add(1, Ordering::Relaxed);
        WorkingAgent::new(Receiver::Run(self.clone()), cx)
    }

    /// Returns the sub-agent of this context, which outlives the running call.
    pub(crate) fn start_background_agent(&self, cx: &ToolContext) -> WorkingAgent {
        WorkingAgent::new(Receiver::Session(self.events.clone()), cx)
    }
}

impl WorkingAgent {
    fn new(receiver: Receiver, cx: &ToolContext) -> Self {
        Self {
            receiver,
            agent: cx.agent().unwrap_or_default().to_owned(),
            call: cx.call_id().unwrap_or_default().to_owned(),
        }
    }
}

impl EventSink for ActiveRun {
    fn send(&self, event: Event) {
        Self::send(self, || event);
    }
}

impl Drop for PresentRun {
    fn drop(&mut self) {
        self.0.end();
        self.0.events.detach(&self.1);
    }
}

impl EventSink for Arc<WorkingAgent> {
    fn send(&self, event: Event) {
        let event = match event {
            // An inner sub-agent's event has its whole path already.
            Event::SubAgent { .. } => event,
            event => Event::SubAgent {
                agent: self.agent.clone(),
                call: self.call.clone(),
                event: Box::new(event),
            },
        };
        match &self.receiver {
            Receiver::Run(active) => active.send(|| event),
            Receiver::Session(events) => events.send(event),
        }
    }
}

impl Drop for WorkingAgent {
    fn drop(&mut self) {
        if let Receiver::Run(active) = &self.receiver {
            active.sub_agents.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
