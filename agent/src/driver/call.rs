//! Running the calls of a turn side by side.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::task::{Id, JoinError, JoinSet};
use tools::call::panic_message;
use tools::{Line, ToolCall, ToolError, ToolResult};

use super::report::Report;
use super::{Driver, DriverError, Setting};
use crate::{PendingCall, Run};

/// What a task of a call ends with.
type Joined = Result<(Id, Result<ToolResult, ToolError>), JoinError>;

/// Calls under way, by the task that each runs in.
struct Batch<'a> {
    run: &'a mut Run,
    calls: Vec<(PendingCall, Arc<Report>)>,
    by_task: HashMap<Id, usize>,
    tasks: JoinSet<Result<ToolResult, ToolError>>,
    broken: Option<ToolError>,
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
        let mut batch = Batch { run, calls, by_task: HashMap::new(), tasks: JoinSet::new(), broken: None };
        batch.refuse()?;
        batch.spawn(setting);
        loop {
            match self.until_cancelled(setting.token, batch.tasks.join_next_with_id()).await {
                Some(Some(joined)) => batch.settle(joined)?,
                Some(None) => break,
                None => {
                    batch.abandon()?;
                    break;
                }
            }
        }
        batch.broken.map_or(Ok(()), |error| Err(error.into()))
    }
}

impl Batch<'_> {
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
        let cx = session.context().clone().with_cancellation(token.clone());
        let turn = self.run.turns();
        // Of two calls that conflict the first one of the turn goes first, whichever task gets to run first.
        let line = Line::new();
        for (position, (PendingCall { call, index, refused }, report)) in self.calls.iter().enumerate() {
            if refused.is_some() {
                continue;
            }
            let cx = cx.clone().with_call_id(call.id.as_str()).with_progress(report.clone());
            let cx = cx.with_turn(turn, *index).with_line(&line);
            let execution = session.tools().execute(&cx, &call.name, call.arguments.clone());
            let task = self.tasks.spawn_on(execution, runtime);
            self.by_task.insert(task.id(), position);
        }
    }

    fn settle(&mut self, joined: Joined) -> Result<(), DriverError> {
        let id = joined.as_ref().map_or_else(JoinError::id, |(id, _)| *id);
        let Some(index) = self.by_task.remove(&id) else { return Ok(()) };
        let (PendingCall { call, .. }, report) = &self.calls[index];
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

    /// Takes the results that are there, and ends all other calls without waiting: a tool may never yield. Their tasks are
    /// aborted with the batch.
    fn abandon(&mut self) -> Result<(), DriverError> {
        while let Some(joined) = self.tasks.try_join_next_with_id() {
            self.settle(joined)?;
        }
        let mut left: Vec<_> = self.by_task.drain().map(|(_, index)| index).collect();
        left.sort_unstable();
        for (PendingCall { call, .. }, report) in left.into_iter().map(|index| &self.calls[index]) {
            let error = ToolError::Cancelled { tool: call.name.clone() };
            report.finish(&ToolResult::from(&error));
            self.run.error(&call.id, &error)?;
        }
        Ok(())
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
