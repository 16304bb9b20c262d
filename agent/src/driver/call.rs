//! Running the calls of a turn side by side.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::task::Poll;
use std::time::Instant;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{Id, JoinError, JoinSet};
use tools::call::{CallOrder, CallPlace, Panic};
use tools::{CancellationToken, ErrorCode, ToolCall, ToolError, ToolErrorKind, ToolResult};

use super::alarm::{Alarm, Late, alarms};
use super::gate::{Doing, Gate, Pass};
use super::report::Report;
use super::watched::{GRACE, Watch, Watched};
use super::{Driver, DriverError, Setting};
use crate::{PendingCall, Run};

/// The position of no call.
const NONE: usize = usize::MAX;

/// What a task of a call ends with.
type Joined = Result<(Id, Result<ToolResult, ToolError>), JoinError>;

/// Calls under way, by the task that each runs in.
struct Batch<'a> {
    run: &'a mut Run,
    calls: Vec<(PendingCall, Option<Arc<Report>>)>,
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
            let report = Report::start(&pending, setting.session.tools(), setting.listener);
            (pending, report)
        };
        let calls: Vec<_> = calls.into_iter().map(start).collect();
        self.pass_on_cancellation(setting.token);
        let mut batch = Batch::new(run, calls, setting)?;
        batch.refuse(setting)?;
        batch.spawn(setting);
        while !batch.by_task.is_empty() {
            match setting.token.run_until_cancelled(batch.news()).await {
                Some(News::Joined(joined)) => batch.settle(joined)?,
                Some(News::Late(late)) => batch.time_out(late)?,
                None => {
                    if setting.session.context().journal().is_some() {
                        batch.wind_up().await?;
                    }
                    batch.abandon()?;
                }
            }
        }
        batch.broken.take().map_or(Ok(()), |error| Err(error.into()))
    }
}

impl<'a> Batch<'a> {
    fn new(
        run: &'a mut Run,
        calls: Vec<(PendingCall, Option<Arc<Report>>)>,
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

    /// Answers the calls that may not be run. Where there is a journal, each is answered when that knows of it.
    fn refuse(&mut self, setting: &Setting<'_>) -> Result<(), DriverError> {
        let cx = setting.session.context();
        let turn = self.run.turns();
        for (position, (pending, report)) in self.calls.iter().enumerate() {
            let (Some(refusal), Some(reason)) = (pending.refusal(), &pending.refused) else { continue };
            if cx.journal().is_none() {
                report.iter().for_each(|report| report.finish(&refusal));
                self.run.result(&pending.call.id, refusal)?;
                continue;
            }
            let (name, reason) = (pending.call.name.clone(), reason.clone());
            let cx = cx.clone().with_place(CallPlace::new(turn, pending.index).with_id(pending.call.id.as_str()));
            let running = Running { position, pass: self.gate.pass(), token: setting.token.child_token() };
            let refused = async move {
                tools::call::refuse(&cx, &name, ErrorCode::Refused, &reason).await?;
                Ok(refusal)
            };
            let task = self.tasks.spawn_on(refused, setting.runtime);
            self.by_task.insert(task.id(), running);
        }
        Ok(())
    }

    fn spawn(&mut self, setting: &Setting<'_>) {
        let Setting { session, token, runtime, .. } = *setting;
        let cx = session.context().clone();
        let turn = self.run.turns();
        // Of two calls that conflict the first one of the turn goes first, whichever task gets to run first.
        let order = CallOrder::new();
        for (position, (PendingCall { call, index, refused }, report)) in self.calls.iter().enumerate() {
            if refused.is_some() {
                continue;
            }
            let running = Running { position, pass: self.gate.pass(), token: token.child_token() };
            let watch = Arc::new(Watch::new(position, self.alarms.clone(), self.bell.clone()));
            let place = CallPlace::new(turn, *index).with_id(call.id.as_str()).with_order(&order);
            let cx = cx.clone().with_cancellation(running.token.clone());
            let cx = cx.with_place(place.with_observer(watch.clone()));
            let cx = match report {
                Some(report) => cx.with_progress(report.clone()),
                None => cx,
            };
            let execution = session.tools().execute(&cx, &call.name, call.arguments.clone());
            let watched = Watched::new(execution, &call.name, &cx, running.pass.clone(), &watch);
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
        let (pending, report) = &self.calls[position];
        let call = &pending.call;
        match joined.map_or_else(|error| Err(lost(call, error)), |(_, outcome)| outcome) {
            Ok(result) => {
                report.iter().for_each(|report| report.finish(&result));
                self.run.result(&call.id, result)?;
            }
            Err(error) => {
                let told = || pending.refusal().unwrap_or_else(|| ToolResult::from(&error));
                report.iter().for_each(|report| report.finish(&told()));
                self.run.error(&call.id, &error)?;
                if !error.is_recoverable() && error.code() != ErrorCode::Cancelled {
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
            self.leave(&running, doing, ToolErrorKind::Timeout { limit })?;
        }
        Ok(())
    }

    /// Waits, but not for long, until the calls have ended that were told to: a journal is to know how. One that does not yield
    /// has no end to write down.
    async fn wind_up(&mut self) -> Result<(), DriverError> {
        if let Some(at) = Instant::now().checked_add(GRACE) {
            let late = Late { position: NONE, limit: GRACE };
            let _ = self.alarms.send(Alarm { at, late, bell: self.bell.clone() });
        }
        while !self.by_task.is_empty() {
            match self.news().await {
                News::Joined(joined) => self.settle(joined)?,
                News::Late(Late { position: NONE, .. }) => break,
                News::Late(late) => self.time_out(late)?,
            }
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
            self.leave(&running, running.pass.give_up(), ToolErrorKind::Cancelled)?;
        }
        Ok(())
    }

    /// Gives a call its result while it goes on. Its tool is told to stop.
    fn leave(&mut self, running: &Running, doing: Doing, kind: ToolErrorKind) -> Result<(), DriverError> {
        running.token.cancel();
        let (pending, report) = &self.calls[running.position];
        let error = ToolError::new(pending.call.name.as_str(), kind);
        if let Some(report) = report {
            if doing == Doing::Polling {
                report.abandon(self.gate.abandoned());
            }
            report.finish(&pending.refusal().unwrap_or_else(|| ToolResult::from(&error)));
        }
        Ok(self.run.error(&pending.call.id, &error)?)
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
    let kind = match error.try_into_panic() {
        Ok(payload) => ToolErrorKind::Panicked { message: Panic::from_payload(payload).0 },
        Err(_) => ToolErrorKind::Internal { message: "the runtime dropped the call; start it again".to_owned() },
    };
    ToolError::new(call.name.as_str(), kind)
}
