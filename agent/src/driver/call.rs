//! Running the calls of a turn side by side.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::task::Poll;
use std::time::Instant;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{Id, JoinError, JoinSet};
use tools::call::panic_message;
use tools::{CancellationToken, Line, ToolCall, ToolError, ToolResult};

use super::alarm::{Alarm, Late, alarms};
use super::gate::{Doing, Gate, Pass};
use super::report::Report;
use super::watched::{GRACE, Watch, Watched};
use super::{Driver, DriverError, Setting};
use crate::{PendingCall, Run};

/// What a task of a call ends with.
type Joined = Result<(Id, Result<ToolResult, ToolError>), JoinError>;

/// Calls under way, by the task that each runs in.
struct Batch<'a> {
    run: &'a mut Run,
    calls: Vec<(PendingCall, Arc<Report>)>,
    by_task: HashMap<Id, Running>,
    tasks: JoinSet<Result<ToolResult, ToolError>>,
    gate: Arc<Gate>,
    alarms: Sender<Alarm>,
    bell: UnboundedSender<Late>,
    rung: UnboundedReceiver<Late>,
    broken: Option<ToolError>,
}

/// A call that has no result yet.
struct Running {
    /// Which of its turn.
    position: usize,
    pass: Pass,
    token: CancellationToken,
}

/// What there is to hear of calls.
enum News {
    Joined(Joined),
    Late(Late),
}

impl Driver {
    /// Gives each call its one result, be it a refusal.
    pub(super) async fn call(
        &self,
        run: &mut Run,
        calls: Vec<PendingCall>,
        setting: &Setting<'_>,
    ) -> Result<(), DriverError> {
        let start = |pending: PendingCall| {
            let report = Arc::new(Report::start(&pending.call, setting.session.tools(), setting.listener.clone()));
            (pending, report)
        };
        let calls: Vec<_> = calls.into_iter().map(start).collect();
        let mut batch = Batch::new(run, calls, setting)?;
        batch.refuse()?;
        batch.spawn(setting);
        while !batch.by_task.is_empty() {
            match self.until_cancelled(setting.token, batch.news()).await {
                Some(News::Joined(joined)) => batch.settle(joined)?,
                Some(News::Late(late)) => batch.time_out(late)?,
                None => batch.abandon()?,
            }
        }
        batch.broken.take().map_or(Ok(()), |error| Err(error.into()))
    }
}

impl<'a> Batch<'a> {
    fn new(
        run: &'a mut Run,
        calls: Vec<(PendingCall, Arc<Report>)>,
        setting: &Setting<'_>,
    ) -> Result<Self, DriverError> {
        let (bell, rung) = unbounded_channel();
        Ok(Self {
            run,
            calls,
            by_task: HashMap::new(),
            tasks: JoinSet::new(),
            gate: Gate::of(setting.runtime),
            alarms: alarms().map_err(DriverError::NoThread)?,
            bell,
            rung,
            broken: None,
        })
    }

    fn refuse(&mut self) -> Result<(), DriverError> {
        for (pending, report) in &self.calls {
            if let Some(refusal) = pending.refusal() {
                report.finish(&refusal);
                self.run.result(&pending.call.id, refusal)?;
            }
        }
        Ok(())
    }

    fn spawn(&mut self, setting: &Setting<'_>) {
        let Setting { session, token, runtime, .. } = *setting;
        let cx = session.context().clone();
        let turn = self.run.turns();
        // Of two calls that conflict the first one of the turn goes first, whichever task gets to run first.
        let line = Line::new();
        for (position, (PendingCall { call, index, refused }, report)) in self.calls.iter().enumerate() {
            if refused.is_some() {
                continue;
            }
            let running = Running { position, pass: self.gate.pass(), token: token.child_token() };
            let watch = Arc::new(Watch::new(position, self.alarms.clone(), self.bell.clone()));
            let cx = cx.clone().with_cancellation(running.token.clone()).with_timekeeper(watch.clone());
            let cx = cx.with_call_id(call.id.as_str()).with_progress(report.clone());
            let cx = cx.with_turn(turn, *index).with_line(&line);
            let execution = session.tools().execute(&cx, &call.name, call.arguments.clone());
            let watched = Watched::new(execution, &call.name, running.pass.clone(), &watch);
            let task = self.tasks.spawn_on(watched, runtime);
            self.by_task.insert(task.id(), running);
        }
    }

    /// What happens next. There is a call under way.
    async fn news(&mut self) -> News {
        poll_fn(|task| {
            if let Poll::Ready(Some(joined)) = self.tasks.poll_join_next_with_id(task) {
                return Poll::Ready(News::Joined(joined));
            }
            match self.rung.poll_recv(task) {
                Poll::Ready(Some(late)) => Poll::Ready(News::Late(late)),
                _ => Poll::Pending,
            }
        })
        .await
    }

    fn settle(&mut self, joined: Joined) -> Result<(), DriverError> {
        let id = joined.as_ref().map_or_else(JoinError::id, |(id, _)| *id);
        // What was given up has its result already.
        let Some(Running { position, .. }) = self.by_task.remove(&id) else { return Ok(()) };
        let (PendingCall { call, .. }, report) = &self.calls[position];
        match joined.map_or_else(|error| Err(lost(call, error)), |(_, outcome)| outcome) {
            Ok(result) => {
                report.finish(&result);
                self.run.result(&call.id, result)?;
            }
            Err(error) => {
                report.finish(&ToolResult::from(&error));
                self.run.error(&call.id, &error)?;
                if !error.is_recoverable() && !matches!(error, ToolError::Cancelled { .. }) {
                    self.broken.get_or_insert(error);
                }
            }
        }
        Ok(())
    }

    /// Ends a call that should be over, without waiting for it.
    fn time_out(&mut self, late: Late) -> Result<(), DriverError> {
        let Late { position, limit } = late;
        let Some((id, running)) = self.by_task.iter().find(|(_, running)| running.position == position) else {
            return Ok(());
        };
        let (id, doing) = (*id, running.pass.give_up());
        if doing == Doing::Waiting {
            // The counter ends it. It may still come to hold a thread before that.
            if let Some(at) = Instant::now().checked_add(GRACE) {
                let _ = self.alarms.send(Alarm { at, late, bell: self.bell.clone() });
            }
            return Ok(());
        }
        if let Some(running) = self.by_task.remove(&id) {
            let error = ToolError::Timeout { tool: self.calls[position].0.call.name.clone(), limit };
            self.leave(&running, doing, &error)?;
        }
        Ok(())
    }

    /// Takes the results that are there, and ends all other calls without waiting: a tool may never yield. Their tasks are
    /// aborted with the batch.
    fn abandon(&mut self) -> Result<(), DriverError> {
        while let Some(joined) = self.tasks.try_join_next_with_id() {
            self.settle(joined)?;
        }
        let mut left: Vec<_> = self.by_task.drain().map(|(_, running)| running).collect();
        left.sort_unstable_by_key(|running| running.position);
        for running in left {
            let error = ToolError::Cancelled { tool: self.calls[running.position].0.call.name.clone() };
            self.leave(&running, running.pass.give_up(), &error)?;
        }
        Ok(())
    }

    /// Gives a call its result while it goes on. Its tool is told to stop.
    fn leave(&mut self, running: &Running, doing: Doing, error: &ToolError) -> Result<(), DriverError> {
        running.token.cancel();
        let (PendingCall { call, .. }, report) = &self.calls[running.position];
        if doing == Doing::Polling {
            report.abandon(self.gate.abandoned());
        }
        report.finish(&ToolResult::from(error));
        Ok(self.run.error(&call.id, error)?)
    }
}

impl Drop for Batch<'_> {
    /// Calls whose run is dropped are aborted, which those that do not yield do not notice: they count.
    fn drop(&mut self) {
        self.by_task.values().for_each(|running| {
            running.pass.give_up();
        });
    }
}

/// A task that ended without an outcome: the counter isolates tools, so this is not one of theirs.
fn lost(call: &ToolCall, error: JoinError) -> ToolError {
    let tool = call.name.clone();
    match error.try_into_panic() {
        Ok(panic) => ToolError::Panicked { tool, message: panic_message(panic) },
        Err(_) => ToolError::Internal { tool, message: "the runtime dropped the call; start it again".to_owned() },
    }
}
