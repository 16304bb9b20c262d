//! Runs the calls of a turn in parallel.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinError;
use tokio::time::Instant;
use tools::call::{CallOrder, CallPlace, Panic};
use tools::context::KnownTexts;
use tools::{Content, ErrorCode, ToolCall, ToolContext, ToolError, ToolErrorKind, ToolResult};
use tracing::Instrument as _;

use super::alarm::Overdue;
use super::call_reporter::CallReporter;
use super::gated_execution::GatedExecution;
use super::tasks::{BatchEvent, CallTasks, Joined, RunningCall};
use super::worker_gate::PollState;
use super::{Driver, DriverError, RunContext};
use crate::consent::{ApprovalRequest, DeferredRequests};
use crate::disclosure::definition;
use crate::repeat::{self, CallEffect, RepeatGuard, Repeated};
use crate::run::{PendingCall, Run};
use crate::wire_tool_set::WireToolSet;

/// The calls of a turn and their tasks.
struct Batch<'a> {
    run: &'a mut Run,
    calls: Vec<(PendingCall, Option<Arc<CallReporter>>)>,
    tasks: &'a mut CallTasks,
    run_cx: &'a RunContext<'a>,
    wire: Option<&'a WireToolSet>,
    repeats: &'a mut RepeatGuard,
    started: Instant,
    /// The requests for approvals, with the positions of their calls.
    deferred: Vec<(usize, ApprovalRequest)>,
    /// The first error that ends the run, except cancellation.
    fatal: Option<ToolError>,
}

impl Driver {
    /// Runs the calls of a turn until each has its one result.
    pub(super) async fn run_calls(
        &self,
        run: &mut Run,
        calls: Vec<PendingCall>,
        tasks: &mut Option<CallTasks>,
        repeats: &mut RepeatGuard,
        run_cx: &RunContext<'_>,
    ) -> Result<(), DriverError> {
        let tasks = match tasks {
            Some(tasks) => tasks,
            None => tasks.insert(CallTasks::new(run_cx.runtime)?),
        };
        let cx = run_cx.session.context();
        if let Some(known) = cx.service::<KnownTexts>().filter(|_| !cx.is_exposed()) {
            // The model wrote these calls before it could read the result of any of them.
            calls
                .iter()
                .for_each(|pending| known.add_call(&pending.call.arguments));
        }
        let wire = self.wire_tools(run_cx.tools);
        let start = |mut pending: PendingCall| {
            // The conversation keeps the call of the model.
            if let Some(inner) = run_cx.tools.inner_call(&pending.call) {
                pending.call = inner;
            }
            let reporter =
                CallReporter::start(&pending, run_cx.tools, cx, run_cx.sink, run_cx.budget);
            (pending, reporter)
        };
        let calls: Vec<_> = calls.into_iter().map(start).collect();
        self.propagate_cancellation(run_cx.token);
        // Results that a compaction left out are read from the conversation, since a store of outputs drops the oldest.
        run_cx.active.set_results(run.past_results());
        let mut batch = Batch {
            run,
            calls,
            tasks,
            run_cx,
            wire,
            repeats,
            started: Instant::now(),
            deferred: Vec::new(),
            fatal: None,
        };
        batch.refuse();
        batch.spawn();
        while !batch.tasks.running.is_empty() {
            let event = batch.tasks.next_event();
            match run_cx.token.run_until_cancelled(event).await {
                Some(BatchEvent::Joined(joined)) => batch.settle(joined)?,
                Some(BatchEvent::Overdue(overdue)) => batch.time_out(overdue)?,
                None => {
                    // A sub-agent ends with its call.
                    if run_cx.cx.is_recorded() || run_cx.active.has_sub_agents() {
                        batch.wait_for_cancelled().await?;
                    }
                    batch.abandon_running()?;
                }
            }
        }
        batch.tasks.abort();
        self.propagate_cancellation(run_cx.token);
        batch.wait_for_approvals(run_cx.token.is_cancelled());
        batch.fatal.map_or(Ok(()), |error| Err(error.into()))
    }
}

impl<'a> Batch<'a> {
    /// Gives refused calls their results. Each refusal has a span and is recorded in the journal first, if there is one.
    fn refuse(&mut self) {
        let run_cx = self.run_cx;
        let turn = self.run.turns();
        for position in 0..self.calls.len() {
            let (pending, _) = &self.calls[position];
            let (Some(refusal), Some(reason)) = (pending.refusal(), &pending.refused) else {
                continue;
            };
            let name = pending.call.name.clone();
            let reason = reason.clone();
            let place = place(run_cx.cx, turn, pending.index, &pending.call);
            let cx = place.enter(run_cx.cx.clone());
            let running = self.tasks.new_call(position, run_cx.token);
            let refused = async move {
                tools::call::refuse(&cx, &name, ErrorCode::Refused, &reason).await?;
                Ok(refusal)
            };
            self.tasks
                .spawn(run_cx.runtime, running, refused.in_current_span());
        }
    }

    fn spawn(&mut self) {
        let run_cx = self.run_cx;
        let turn = self.run.turns();
        // Conflicting calls run in the order of the turn, independently of task scheduling.
        let order = (self.calls.len() > 1).then(CallOrder::new);
        for (position, (pending, reporter)) in self.calls.iter().enumerate() {
            if pending.refused.is_some() {
                continue;
            }
            let call = &pending.call;
            let mut running = self.tasks.new_call(position, run_cx.token);
            let alarm = self.tasks.deadline_alarm(&running);
            let place = place(run_cx.cx, turn, pending.index, call);
            let place = match &order {
                Some(order) => place.with_order(order),
                None => place,
            };
            let cx = run_cx.cx.clone().with_cancellation(running.token.clone());
            let place = place.with_observer(alarm.clone());
            let place = match reporter {
                Some(reporter) => place
                    .with_person_clock(reporter.person_clock.clone())
                    .with_progress(reporter.clone()),
                None => place.with_person_clock(run_cx.budget.person_clock().clone()),
            };
            let cx = place.enter(cx);
            let tools = run_cx.tools;
            let execution = tools.execute(&cx, &call.name, call.arguments.clone());
            running.span = execution.span();
            let gated = GatedExecution {
                execution,
                tool: call.name.clone(),
                call: running.gated.clone(),
                alarm,
                cx,
                ticket: None,
                is_refused: false,
            };
            self.tasks.spawn(run_cx.runtime, running, gated);
        }
    }

    fn settle(&mut self, joined: Joined) -> Result<(), DriverError> {
        let id = joined.as_ref().map_or_else(JoinError::id, |(id, _)| *id);
        // An abandoned call already has its result.
        let Some(RunningCall { position, .. }) = self.tasks.running.remove(&id) else {
            return Ok(());
        };
        let (pending, _) = &self.calls[position];
        let outcome = joined.map_or_else(
            |error| Err(task_error(&pending.call, error)),
            |(_, outcome)| outcome,
        );
        let error = match outcome {
            Ok(result) => return self.answer(position, result, None),
            Err(error) => error,
        };
        let result = self.error_result(pending, &error);
        if self.defer(position, &error) {
            return Ok(());
        }
        self.answer(position, result, Some(&error))?;
        if !error.is_recoverable() && error.code() != ErrorCode::Cancelled {
            // The other calls go on, so that each call of the turn has its one result.
            self.fatal.get_or_insert(error);
        }
        Ok(())
    }

    /// Keeps the request of a call that was not approved because its approval is deferred. Returns false for other errors.
    fn defer(&mut self, position: usize, error: &ToolError) -> bool {
        let (PendingCall { call, .. }, reporter) = &self.calls[position];
        let is_unapproved = matches!(
            error.code(),
            ErrorCode::PermissionDenied | ErrorCode::Unapproved
        );
        let requests = DeferredRequests::of_run(self.run_cx.cx).filter(|_| is_unapproved);
        let Some(request) = requests.and_then(|requests| requests.take(&call.id)) else {
            return false;
        };
        reporter
            .iter()
            .for_each(|reporter| reporter.defer(&request));
        self.deferred.push((position, request));
        true
    }

    /// Ends the run if calls wait for approvals. A cancelled run does not wait.
    fn wait_for_approvals(&mut self, is_cancelled: bool) {
        let mut deferred = std::mem::take(&mut self.deferred);
        // Calls are refused in the order in which they end. A person reads the requests in that of the turn.
        deferred.sort_by_key(|(position, _)| *position);
        if !deferred.is_empty() && is_cancelled {
            self.run.cancel();
        } else if !deferred.is_empty() {
            self.run
                .wait_for_approval(deferred.into_iter().map(|(_, request)| request).collect());
        }
    }

    /// Sends and stores the result of a call. The result of a repeated call has a hint, and finally ends the run.
    fn answer(
        &mut self,
        position: usize,
        mut result: ToolResult,
        error: Option<&ToolError>,
    ) -> Result<(), DriverError> {
        let (PendingCall { call, refused, .. }, reporter) = &self.calls[position];
        let entry = self.run_cx.tools.get(&call.name);
        let is_effective = entry.is_ok_and(|entry| !entry.tool().effects.is_read_only());
        let is_write = !result.is_error && is_effective;
        let is_wait = RepeatGuard::is_wait(&result, self.started.elapsed());
        self.repeats.notice_compaction(self.run.compaction.version);
        let times = self.repeats.record(
            self.run.turns(),
            call,
            &result,
            CallEffect { is_write, is_wait },
        );
        if let Some(hint) = self.repeats.hint(times, is_wait) {
            if refused.is_some() {
                self.run.extend_refusal(&call.id, &hint);
            }
            repeat::append(&mut result, hint);
        }
        reporter
            .iter()
            .for_each(|reporter| reporter.finish(&result));
        match error {
            Some(error) => self.run.error_with_result(&call.id, error, result)?,
            None => self.run.result(&call.id, result)?,
        }
        if self.repeats.is_end(times, is_wait) {
            self.run.end_loop(Repeated {
                tool: call.name.clone(),
                times,
            });
        }
        Ok(())
    }

    /// Returns the result of a failed call, in the words of the model. If the arguments of a tool that is not offered are wrong, the model
    /// needs the definition.
    fn error_result(&self, pending: &PendingCall, error: &ToolError) -> ToolResult {
        if let Some(refusal) = pending.refusal() {
            return refusal;
        }
        let (name, RunContext { cx, tools, .. }) = (&pending.call.name, self.run_cx);
        let mut result = cx.error_result(tools.get(name).ok().as_deref(), error);
        let hidden = tools
            .find_hidden(name)
            .filter(|_| error.code() == ErrorCode::InvalidArguments);
        let definition = hidden.map(|entry| definition(&entry, self.wire));
        result
            .content
            .extend(definition.map(|text| Content::text(format!("its definition: {text}"))));
        result
    }

    /// Abandons an overdue call.
    fn time_out(&mut self, overdue: Overdue) -> Result<(), DriverError> {
        let Overdue { call, limit } = overdue;
        let mut running = self.tasks.running.iter();
        let found = running.find(|(_, running)| Some(running.gated.number) == call);
        let Some((id, state)) = found.map(|(id, running)| (*id, running.gated.abandon())) else {
            return Ok(());
        };
        if state == PollState::Idle {
            // The pipeline ends the call. It may hold a worker again before that.
            let grace = self.tasks.grace_alarm(call, limit);
            let running = self.tasks.running.entry(id);
            running.and_modify(|running| running.grace = grace);
            return Ok(());
        }
        match self.tasks.running.remove(&id) {
            Some(running) => self.abandon(&running, state, ToolErrorKind::Timeout { limit }),
            None => Ok(()),
        }
    }

    /// Waits up to [`GRACE`](super::gated_execution::GRACE) for cancelled calls, so that the journal records their outcomes. A
    /// call that does not yield has no outcome to record.
    async fn wait_for_cancelled(&mut self) -> Result<(), DriverError> {
        let _grace = self.tasks.grace_alarm(None, Duration::ZERO);
        while !self.tasks.running.is_empty() {
            match self.tasks.next_event().await {
                BatchEvent::Joined(joined) => self.settle(joined)?,
                BatchEvent::Overdue(Overdue { call: None, .. }) => break,
                BatchEvent::Overdue(overdue) => self.time_out(overdue)?,
            }
        }
        Ok(())
    }

    /// Takes the available results and abandons all other calls, because a tool may never yield. Their tasks are aborted with the
    /// batch.
    fn abandon_running(&mut self) -> Result<(), DriverError> {
        while let Some(joined) = self.tasks.try_join() {
            self.settle(joined)?;
        }
        let running = self.tasks.running.drain();
        let mut left: Vec<_> = running.map(|(_, running)| running).collect();
        // A hash map has no order, and events of equal runs are to be equal.
        left.sort_unstable_by_key(|running| running.position);
        for running in left {
            self.abandon(&running, running.gated.abandon(), ToolErrorKind::Cancelled)?;
        }
        Ok(())
    }

    /// Cancels a call and gives it an error result without waiting for its task.
    fn abandon(
        &mut self,
        running: &RunningCall,
        state: PollState,
        kind: ToolErrorKind,
    ) -> Result<(), DriverError> {
        running.token.cancel();
        let (pending, reporter) = &self.calls[running.position];
        let mut error = ToolError::new(pending.call.name.as_str(), kind);
        let entry = self.run_cx.tools.get(&pending.call.name);
        // Nobody knows whether the tool has begun: the driver stopped waiting for it.
        if entry.is_ok_and(|entry| !entry.tool().effects.is_idempotent()) {
            error = error.with_unclear_effects();
        }
        running.span.fail(error.code(), &error);
        let result = self.error_result(pending, &error);
        if let Some(reporter) = reporter {
            if state == PollState::Polling {
                reporter.abandon(self.tasks.gate.abandoned_calls());
            }
            reporter.finish(&result);
        }
        Ok(self
            .run
            .error_with_result(&pending.call.id, &error, result)?)
    }
}

/// Returns the place of a call. The ids of a sub-agent's calls begin with its path, because each run has ids of its own.
fn place(cx: &ToolContext, turn: u64, index: u32, call: &ToolCall) -> CallPlace {
    let place = CallPlace::new(turn, index);
    match cx.agent() {
        Some(agent) => place.with_id(format!("{agent}/{}", call.id)),
        None => place.with_id(call.id.as_str()),
    }
}

/// Returns the error of a task that ended without an outcome. The pipeline catches the panics of tools, so this is another panic.
fn task_error(call: &ToolCall, error: JoinError) -> ToolError {
    let kind = match error.try_into_panic() {
        Ok(payload) => ToolErrorKind::Panicked {
            message: Panic::from_payload(payload).0,
        },
        Err(_) => ToolErrorKind::internal("the runtime dropped the call; start it again"),
    };
    ToolError::new(call.name.as_str(), kind)
}
