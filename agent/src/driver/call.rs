//! Running the calls of a turn side by side.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinError;
use tools::call::{CallOrder, CallPlace, Panic};
use tools::{ErrorCode, ToolCall, ToolError, ToolErrorKind, ToolResult};

use super::alarm::Late;
use super::gate::Doing;
use super::report::Report;
use super::tasks::{Joined, News, Running, Tasks};
use super::watched::Watched;
use super::{Driver, DriverError, Setting};
use crate::{PendingCall, Run};

/// The calls of a turn.
struct Batch<'a> {
    run: &'a mut Run,
    calls: Vec<(PendingCall, Option<Arc<Report>>)>,
    tasks: &'a mut Tasks,
    broken: Option<ToolError>,
}

impl Driver {
    /// Gives each call its one result, be it a refusal.
    pub(super) async fn call(
        &self,
        run: &mut Run,
        calls: Vec<PendingCall>,
        tasks: &mut Tasks,
        setting: &Setting<'_>,
    ) -> Result<(), DriverError> {
        let start = |pending: PendingCall| {
            let report = Report::start(&pending, setting.session.tools(), setting.listener);
            (pending, report)
        };
        let calls: Vec<_> = calls.into_iter().map(start).collect();
        self.pass_on_cancellation(setting.token);
        let mut batch = Batch { run, calls, tasks, broken: None };
        batch.refuse(setting)?;
        batch.spawn(setting);
        while !batch.tasks.running.is_empty() {
            match setting.token.run_until_cancelled(batch.tasks.news()).await {
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
        batch.tasks.abort();
        batch.broken.map_or(Ok(()), |error| Err(error.into()))
    }
}

impl<'a> Batch<'a> {
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
            let running = self.tasks.admit(position, setting.token);
            let refused = async move {
                tools::call::refuse(&cx, &name, ErrorCode::Refused, &reason).await?;
                Ok(refusal)
            };
            self.tasks.spawn(setting.runtime, running, refused);
        }
        Ok(())
    }

    fn spawn(&mut self, setting: &Setting<'_>) {
        let Setting { session, token, runtime, .. } = *setting;
        let cx = session.context().clone();
        let turn = self.run.turns();
        // Of two calls that conflict the first one of the turn goes first, whichever task gets to run first.
        let order = (self.calls.len() > 1).then(CallOrder::new);
        for (position, (PendingCall { call, index, refused }, report)) in self.calls.iter().enumerate() {
            if refused.is_some() {
                continue;
            }
            let running = self.tasks.admit(position, token);
            let watch = self.tasks.watch(&running);
            let place = CallPlace::new(turn, *index).with_id(call.id.as_str());
            let place = match &order {
                Some(order) => place.with_order(order),
                None => place,
            };
            let cx = cx.clone().with_cancellation(running.token.clone());
            let cx = cx.with_place(place.with_observer(watch.clone()));
            let cx = match report {
                Some(report) => cx.with_progress(report.clone()),
                None => cx,
            };
            let execution = session.tools().execute(&cx, &call.name, call.arguments.clone());
            let watched = Watched::new(execution, &call.name, &cx, running.pass.clone(), watch);
            self.tasks.spawn(runtime, running, watched);
        }
    }

    fn settle(&mut self, joined: Joined) -> Result<(), DriverError> {
        let id = joined.as_ref().map_or_else(JoinError::id, |(id, _)| *id);
        // What was given up has its result already.
        let Some(Running { position, .. }) = self.tasks.running.remove(&id) else { return Ok(()) };
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
        let is_it = |running: &Running| Some(running.pass.number()) == late.call;
        let Some((id, running)) = self.tasks.running.iter().find(|(_, running)| is_it(running)) else { return Ok(()) };
        let (id, doing) = (*id, running.pass.give_up());
        if doing == Doing::Waiting {
            // The counter ends it. It may still come to hold a thread before that.
            let grace = self.tasks.grace(late.call, late.limit);
            self.tasks.running.entry(id).and_modify(|running| running.grace = grace);
            return Ok(());
        }
        if let Some(running) = self.tasks.running.remove(&id) {
            self.leave(&running, doing, ToolErrorKind::Timeout { limit: late.limit })?;
        }
        Ok(())
    }

    /// Waits, but not for long, until the calls have ended that were told to: a journal is to know how. One that does not yield
    /// has no end to write down.
    async fn wind_up(&mut self) -> Result<(), DriverError> {
        let _grace = self.tasks.grace(None, Duration::ZERO);
        while !self.tasks.running.is_empty() {
            match self.tasks.news().await {
                News::Joined(joined) => self.settle(joined)?,
                News::Late(Late { call: None, .. }) => break,
                News::Late(late) => self.time_out(late)?,
            }
        }
        Ok(())
    }

    /// Takes the results that are there, and ends all other calls without waiting: a tool may never yield. Their tasks are
    /// aborted with the batch.
    fn abandon(&mut self) -> Result<(), DriverError> {
        while let Some(joined) = self.tasks.try_join() {
            self.settle(joined)?;
        }
        let mut left: Vec<_> = self.tasks.running.drain().map(|(_, running)| running).collect();
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
                report.abandon(self.tasks.gate.abandoned());
            }
            report.finish(&pending.refusal().unwrap_or_else(|| ToolResult::from(&error)));
        }
        Ok(self.run.error(&pending.call.id, &error)?)
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
