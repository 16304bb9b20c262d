//! [`Driver`]: performs the steps of a [`Run`] with a provider and tools.

mod active_run;
mod alarm;
mod batch;
mod call_reporter;
mod checkpoint;
mod compact;
mod error;
mod fallback;
mod gated_execution;
mod guarded_sink;
mod metering;
mod rejected_reply;
mod replaced_results;
mod setup;
mod steering;
mod summary;
mod task_news;
mod tasks;
mod turn;
mod whole_turn;
mod worker_gate;
mod written_call;

use std::sync::Arc;

use tokio::runtime::Handle;
use tools::context::KnownTexts;
use tools::protocol::Role;
use tools::{CancellationToken, ToolContext};
use tracing::Instrument as _;

use self::active_run::PresentRun;
use self::checkpoint::LastCheckpoint;
use self::compact::is_context_length;
use self::guarded_sink::GuardedSink;
use self::rejected_reply::RejectedReplies;
use self::setup::{cancelled_by, check_timer};
use self::steering::add_known_texts;
use self::task_news::{note_tasks, reporting};
use crate::budget::Budget;
use crate::event::{Event, EventSink};
use crate::prompt::Prompt;
use crate::provider::{Provider, ProviderError, ProviderInfo, RequestRetry, guarded};
use crate::repeat::RepeatGuard;
use crate::run::{AnswerCheck, Outcome, Run, Step, Summary};
use crate::run_handle::RunHandle;
use crate::run_options::RunOptions;
use crate::session::Session;
use crate::tool_set::ToolSet;
use crate::trace::{end_agent, open_agent};
use crate::wire_tool_set::WireToolSet;

pub(crate) use self::active_run::ActiveRun;
pub use self::error::DriverError;
pub(crate) use self::metering::Meter;
pub use self::worker_gate::abandoned_calls;
pub use crate::run_options::DEFAULT_MAX_STEPS;

/// Performs runs: requests turns from the provider, runs the calls of each turn in parallel and sends [events](Event).
///
/// ```
/// use std::sync::Arc;
/// use agent::{Direct, Driver, Event, Selection, Session};
/// use tools::{Catalog, Effects, Host, Tool, ToolContext};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut catalog = Catalog::new();
/// let tool = Tool::new("ping", "Answers.", json!({"type": "object"}))?.with_effects(Effects::Pure);
/// catalog.register(tool, async |_cx: ToolContext, _arguments: serde_json::Value| "pong".to_owned())?;
///
/// let mut session = Session::new(catalog.list(), Selection::new(), Host::new());
/// let driver = Driver::new(Arc::new(Direct)).with_events(|event: Event| eprintln!("{event:?}"));
/// let summary = driver.run(&mut session, "ping ; ping").await?;
/// assert_eq!(summary.calls, 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Driver {
    provider: Arc<dyn Provider>,
    /// The providers that take over from it, in order.
    fallbacks: Vec<Arc<dyn Provider>>,
    options: RunOptions,
    handle: RunHandle,
    events: Option<Arc<dyn EventSink>>,
    checkpoints: bool,
    /// True if the next run compacts its conversation first.
    compacts: bool,
}

/// The session, token, runtime and sink of one run.
struct RunContext<'a> {
    session: &'a Session,
    /// The session's tools, with those that requests offer.
    tools: &'a ToolSet,
    /// The session's context, with the run and the format in which the provider's model knows the tools.
    cx: &'a ToolContext,
    token: &'a CancellationToken,
    runtime: &'a Handle,
    sink: &'a Arc<GuardedSink>,
    active: &'a ActiveRun,
    budget: &'a Budget,
    rejected: &'a RejectedReplies,
}

/// The part of a run that stays when another provider takes over.
struct Progress {
    sink: Arc<GuardedSink>,
    budget: Budget,
    repeats: RepeatGuard,
    rejected: RejectedReplies,
    last: Option<LastCheckpoint>,
    /// The position of the prompt in the conversation.
    prompt_at: usize,
    /// The run as the present one of its session. `None` before its first events.
    present: Option<PresentRun>,
}

impl Progress {
    fn new(driver: &Driver, session: &Session, run: &Run) -> Self {
        Self {
            sink: Arc::new(GuardedSink::new(driver.events.clone())),
            budget: driver.budget(session, run),
            repeats: RepeatGuard::new(driver.options.repeats),
            rejected: RejectedReplies::default(),
            last: None,
            prompt_at: run.messages().len().saturating_sub(1),
            present: None,
        }
    }
}

impl Driver {
    /// Creates a driver that requests turns from this provider.
    pub fn new(provider: Arc<dyn Provider>) -> Self {
        Self {
            provider,
            fallbacks: Vec::new(),
            options: RunOptions::default(),
            handle: RunHandle::new(),
            events: None,
            checkpoints: false,
            compacts: false,
        }
    }

    /// Sets the step limit: the most turns a run requests. Defaults to [`DEFAULT_MAX_STEPS`].
    #[must_use]
    pub fn with_max_steps(mut self, max_steps: u32) -> Self {
        self.options.limits.steps = Some(max_steps.into());
        self
    }

    /// Replaces the settings of runs, the step limit included.
    #[must_use]
    pub fn with_options(mut self, options: RunOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets the providers that take over, one after another, from the one whose request has failed with its retries.
    ///
    /// - The next one takes over if the [kind of the failure](crate::FailureKind::permits_fallback) is an overload, a rate limit, a quota
    ///   or an unknown model. A refusal to answer is never passed on.
    /// - The same run goes on with it to its end: the conversation, the budget, and the limits of calls and repeats. Its request is a
    ///   further step. The next run begins with the first provider again.
    /// - Sub-agents begin with the present provider of the run, and have the ones after it.
    /// - One that does not take an image of the run's prompt is left out. If no other takes it, the run ends with
    ///   [`ProviderError::Image`].
    /// - [`RunOptions::context_tokens`] holds for the first provider alone.
    #[must_use]
    pub fn with_fallbacks(mut self, fallbacks: Vec<Arc<dyn Provider>>) -> Self {
        self.fallbacks = fallbacks;
        self
    }

    /// Sets a token that cancels runs, in addition to the token of the session's context, and in place of an earlier token or
    /// [handle](Self::with_handle).
    #[must_use]
    pub fn with_cancellation(mut self, token: CancellationToken) -> Self {
        self.handle = token.into();
        self
    }

    /// Sets the handle that sends messages to a run and cancels it, in place of an earlier handle or token.
    #[must_use]
    pub fn with_handle(mut self, handle: RunHandle) -> Self {
        self.handle = handle;
        self
    }

    /// Checks that the model takes a prompt or a message, as [`run`](Self::run) does.
    ///
    /// # Errors
    /// Returns [`ProviderError::Image`] if it does not take an image.
    pub fn check_prompt(&self, prompt: &Prompt) -> Result<(), ProviderError> {
        self.about().check_prompt(prompt)
    }

    /// Sets the event sink. After a panic, the sink receives no further events of that run, which continues.
    #[must_use]
    pub fn with_events(mut self, events: impl EventSink + 'static) -> Self {
        self.events = Some(Arc::new(events));
        self
    }

    /// Sets whether runs write checkpoints to their session's journal, at the start and after each model turn. Off by default.
    ///
    /// A checkpoint holds the whole conversation, arguments included. Without a journal or a session name, none is written.
    #[must_use]
    pub fn with_checkpoints(mut self, checkpoints: bool) -> Self {
        self.checkpoints = checkpoints;
        self
    }

    /// Returns the facts about the provider.
    fn about(&self) -> &ProviderInfo {
        guarded::about(&*self.provider)
    }

    /// Returns the tools of a set in the form in which the provider sends them. Returns `None` if it sends those of the catalog.
    pub fn wire_tools<'s>(&self, tools: &'s ToolSet) -> Option<&'s WireToolSet> {
        self.about().wire_tools(tools)
    }

    /// Runs a prompt until its outcome.
    ///
    /// When the run ends, also with an error, its messages are added to the session, unless the model took no turn. If the future
    /// is dropped, running calls are cancelled and the conversation does not change. Panics of tools, of the provider and of the
    /// event sink are caught.
    ///
    /// # Journal
    /// The [journal](tools::journal) identifies a call by session name, turn and position. If the session has a journal, its name
    /// must be new to the journal, or the session must be [resumed](Self::resume).
    ///
    /// # Prompts
    /// The texts of the prompt are the person's: they are added to the [`KnownTexts`] of the session, unless the session
    /// is a sub-agent's, each up to the first [text from outside](tools::OutsideText) in it. A host whose prompts are text of strangers gives the session a service that
    /// [ignores them](tools::context::KnownTexts::without_prompts).
    ///
    /// # Tools that do not yield
    /// Every call runs in its own task and has a result at the latest:
    /// - one second after its deadline;
    /// - when the run is cancelled, or one second later if there is a journal to record the outcome.
    ///
    /// If the tool does not yield by then, the call is abandoned. [`Event::Abandoned`] is sent, and the late result is dropped.
    /// The call holds a worker thread until it ends, and [`abandoned_calls`] counts it.
    ///
    /// Calls use all workers of the runtime but one. If abandoned calls hold all of these, further calls are refused. A runtime
    /// with a single worker cannot keep one free, so a tool that does not yield can block everything.
    ///
    /// # Errors
    /// - Returns [`ProviderError::Image`] if the model does not take an image of the prompt. The session does
    ///   not change.
    /// - Returns another [`DriverError`] if the run fails. The session then holds the conversation up to the failure.
    pub async fn run(
        &self,
        session: &mut Session,
        prompt: impl Into<Prompt>,
    ) -> Result<Summary, DriverError> {
        self.run_checked(session, prompt.into(), &mut |_, _| None)
            .await
    }

    /// Runs a prompt as [`run`](Self::run) does. The run goes on until the check accepts its answer.
    pub(crate) async fn run_checked(
        &self,
        session: &mut Session,
        prompt: Prompt,
        check: &mut AnswerCheck<'_>,
    ) -> Result<Summary, DriverError> {
        self.check_prompt(&prompt)?;
        add_known_texts(session.context(), &prompt);
        let (mut messages, before) = session.request_messages();
        messages.push(prompt.into_message());
        let run = session.enter(Run::new(messages), before);
        self.drive(session, run, before, check).await
    }

    /// Continues a run that ended with its process, such as a [stored run](Session::stored_run), at a limit of its budget, in a loop or
    /// with calls that [wait for approvals](crate::DeferredConsent). In a context without an approver, these calls are refused.
    ///
    /// The run's conversation replaces the session's when the run ends. The limits of this driver include the amounts that the run and
    /// its children used before, but not their time. If a process dies, the amounts of the request or the calls at that moment are lost.
    ///
    /// With the same session name and [journal](tools::journal), finished calls return their recorded results. An unfinished call
    /// runs again only if the effects of its tool allow it. Without that journal, all pending calls run.
    ///
    /// # Errors
    /// Returns the errors of [`run`](Self::run).
    pub async fn resume(&self, session: &mut Session, run: Run) -> Result<Summary, DriverError> {
        self.resume_checked(session, run, &mut |_, _| None).await
    }

    /// Continues a run as [`resume`](Self::resume) does, until the check accepts its answer, also one that it has already.
    pub(crate) async fn resume_checked(
        &self,
        session: &mut Session,
        run: Run,
        check: &mut AnswerCheck<'_>,
    ) -> Result<Summary, DriverError> {
        let mut run = run.reopen();
        run.check_answer(check);
        session.record_turn(run.turns());
        session.restore_plan(run.messages());
        if run.exposed {
            session.context().record_exposure();
        }
        if let Some(known) = session.context().service::<KnownTexts>() {
            known.restore_count(run.urls);
        }
        // A leading system message of the run is its system text, not its conversation, if the session has a system text.
        let first = run.messages().first();
        let has_system = first.is_some_and(|message| message.role == Role::System);
        let before = usize::from(has_system && session.system_message().is_some());
        self.drive(session, run, before, check).await
    }

    /// Drives a run to its end, in a span. The first `before` messages do not belong to the session's conversation.
    async fn drive(
        &self,
        session: &mut Session,
        run: Run,
        before: usize,
        check: &mut AnswerCheck<'_>,
    ) -> Result<Summary, DriverError> {
        let open = open_agent(self.about(), &self.options, session.context());
        let span = open.span.clone();
        let mut progress = Progress::new(self, session, &run);
        let ended = self
            .drive_in_span(session, run, before, check, &mut progress)
            .instrument(span)
            .await;
        end_agent(open, ended.as_ref().map_err(DriverError::span_type));
        ended
    }

    async fn drive_in_span(
        &self,
        session: &mut Session,
        mut run: Run,
        before: usize,
        check: &mut AnswerCheck<'_>,
        progress: &mut Progress,
    ) -> Result<Summary, DriverError> {
        let runtime = Handle::try_current().map_err(|_| DriverError::NoRuntime)?;
        let token = session.context().cancellation().child_token();
        let _stop = token.clone().drop_guard();
        // Dropped before the token is cancelled: the calls of a dropped run end without an outcome in the journal.
        let mut tasks = None;
        let sink = progress.sink.clone();
        let budget = progress.budget.clone();
        check_timer(&budget)?;

        let _open = self.handle.open();
        let active = Arc::new(ActiveRun::new(self, session, sink.clone()));
        let tools = self.offered_tools(session);
        let mut first = None;
        let cx = self.deferring(self.call_context(session, &tools, &budget), &mut run)?;
        let cx = active.enter(cx);
        self.announce(session, &tools, &mut run, progress);
        progress.present = Some(active.attach());
        let run_cx = RunContext {
            session: &*session,
            tools: &tools,
            cx: &cx,
            token: &token,
            runtime: &runtime,
            sink: &sink,
            active: &active,
            budget: &budget,
            rejected: &progress.rejected,
        };
        let mut failure = None;
        let mut continued = None;
        let mut last = progress.last;
        let prompt_at = progress.prompt_at;
        let steps = async {
            note_tasks(&mut run, &run_cx);
            let mut step = self.begin(&mut run, prompt_at, &mut last, &run_cx).await;
            if step.is_ok() && self.compacts {
                step = self.compact_on_request(&mut run, &mut last, &run_cx).await;
            }
            if step.is_ok() {
                step = self.steer(&mut run, &mut last, &run_cx).await;
            }
            // Kept for one repetition: a service with a small context may refuse a first request with all tools.
            first = (!tools.is_disclosing()).then(|| run.clone());
            let summary = loop {
                if let Err(error) = step {
                    let next = self.fallback(&error, &run.messages()[prompt_at..]);
                    continued = next.map(|next| (next, run.clone()));
                    run.fail_with(error.to_string(), error.kind());
                    failure.get_or_insert(error);
                }
                self.propagate_cancellation(&token);
                step = match run.step() {
                    Step::Ask => self.turn(&mut run, &mut last, check, &run_cx).await,
                    Step::Call(calls) => {
                        let called = self
                            .run_calls(&mut run, calls, &mut tasks, &mut progress.repeats, &run_cx)
                            .await;
                        note_tasks(&mut run, &run_cx);
                        let is_spent = run.record_spent(budget.spent());
                        match called.and_then(|()| active.settle_budget(&mut run)) {
                            // Another process finds the requests for approvals and the spending in the checkpoint.
                            Ok(()) if run.has_ended() || is_spent => {
                                self.checkpoint(&mut run, &mut last, &run_cx).await
                            }
                            called => called,
                        }
                    }
                    Step::Done(summary) => break summary,
                };
                if step.is_ok() {
                    // The whole conversation would be kept twice.
                    first = None;
                    step = self.steer(&mut run, &mut last, &run_cx).await;
                }
            };
            // The next provider writes a checkpoint at once.
            if continued.is_none()
                && let Err(error) = self.keep_spent(&run, last, &run_cx).await
            {
                failure.get_or_insert(error);
            }
            summary
        };
        let stop = self.handle.token().run_until_cancelled(budget.time_over());
        let steps = cancelled_by(stop, &token, steps);
        let (mut summary, stop) = reporting(&run_cx, steps).await;
        // The end of the time cancels the run's token, and the outcome names the reason.
        if let (Outcome::Cancelled, Some(Some(exhausted))) = (&summary.outcome, stop) {
            summary.outcome = Outcome::Budget(exhausted);
        }
        // The service refused the first request, with all tools, as too long, and the provider knows the size of the context from that.
        if let (Some(first), Some(DriverError::Provider(error)), 0) =
            (first, &failure, summary.steps)
            && is_context_length(error)
            && self.offered_tools(session).is_disclosing()
        {
            sink.send(|| Event::RequestRetried(RequestRetry::new(1, 1, 0, error)));
            *progress = Progress::new(self, session, &first);
            progress.prompt_at = prompt_at;
            return Box::pin(self.drive_in_span(session, first, before, check, progress)).await;
        }
        if let (Some((next, continued)), Some(error)) = (continued, &failure) {
            run = continued;
            progress.last = last;
            progress.send_change(self, &next, error);
            return Box::pin(next.drive_in_span(session, run, before, check, progress)).await;
        }
        summary.spent = budget.spent();
        // A prompt that no model has answered is not kept, so that it can be given again.
        if summary.steps > 0 || self.compacts {
            session.complete_run(run, before);
        }
        progress.present = None;
        sink.send(|| Event::Done(summary.clone()));
        failure.map_or(Ok(summary), Err)
    }

    /// Cancels the run's token if the driver's token is cancelled. [`cancelled_by`] does so while the run waits. This check covers a
    /// sink that cancels while it receives an event, so that the next step does not begin.
    fn propagate_cancellation(&self, token: &CancellationToken) {
        if self.handle.token().is_cancelled() {
            token.cancel();
        }
    }
}

tools::debug_fields!(self: Driver { provider = self.about().name, options });
