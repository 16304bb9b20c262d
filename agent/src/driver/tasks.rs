//! [`CallTasks`]: the tasks that run the calls of a run, and their events.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::{Arc, OnceLock};
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{Id, JoinError, JoinSet};
use tools::call::CallSpan;
use tools::{CancellationToken, ErrorCode, ToolError, ToolResult};

use super::DriverError;
use super::alarm::{Alarm, Alarms, Overdue, alarms};
use super::gated_execution::{DeadlineAlarm, GRACE};
use super::worker_gate::{GatedCall, WorkerGate};

/// The end of a call's task.
pub(super) type Joined = Result<(Id, Result<ToolResult, ToolError>), JoinError>;

/// The running calls by the id of their task.
pub(super) struct CallTasks {
    pub(super) running: HashMap<Id, RunningCall>,
    set: JoinSet<Result<ToolResult, ToolError>>,
    pub(super) gate: Arc<WorkerGate>,
    alarms: &'static Alarms,
    overdue_sender: UnboundedSender<Overdue>,
    overdue_receiver: UnboundedReceiver<Overdue>,
}

/// A call without a result yet.
pub(super) struct RunningCall {
    /// The position of the call in its batch, from 0.
    pub(super) position: usize,
    pub(super) gated: GatedCall,
    pub(super) token: CancellationToken,
    /// The span of the call, which ends at the latest when the driver stops waiting.
    pub(super) span: CallSpan,
    /// A second alarm, set if the call was overdue before it held a worker.
    pub(super) grace: Option<Alarm>,
}

/// An event of the batch of running calls.
pub(super) enum BatchEvent {
    Joined(Joined),
    Overdue(Overdue),
}

impl CallTasks {
    /// Creates an empty set of tasks on this runtime.
    ///
    /// # Errors
    /// Returns [`DriverError::NoThread`] if the alarm thread cannot be started.
    pub(super) fn new(runtime: &Handle) -> Result<Self, DriverError> {
        let alarms = alarms().map_err(DriverError::NoThread)?;
        // The alarm thread must not wait for a run.
        let (overdue_sender, overdue_receiver) = unbounded_channel();
        Ok(Self {
            running: HashMap::new(),
            set: JoinSet::new(),
            gate: WorkerGate::for_runtime(runtime),
            alarms,
            overdue_sender,
            overdue_receiver,
        })
    }

    /// Returns a call for [`spawn`](Self::spawn). Its token is a child of the run's token.
    pub(super) fn new_call(&self, position: usize, token: &CancellationToken) -> RunningCall {
        RunningCall {
            position,
            gated: self.gate.new_call(),
            token: token.child_token(),
            span: CallSpan::default(),
            grace: None,
        }
    }

    /// Returns the observer that sets the alarm of a call.
    pub(super) fn deadline_alarm(&self, call: &RunningCall) -> Arc<DeadlineAlarm> {
        Arc::new(DeadlineAlarm {
            call: call.gated.number,
            alarms: self.alarms,
            sender: self.overdue_sender.clone(),
            pending: OnceLock::new(),
        })
    }

    pub(super) fn spawn(
        &mut self,
        runtime: &Handle,
        call: RunningCall,
        future: impl Future<Output = Result<ToolResult, ToolError>> + Send + 'static,
    ) {
        let task = self.set.spawn_on(future, runtime);
        self.running.insert(task.id(), call);
    }

    /// Waits for the next event. Call it only while a call is running.
    pub(super) async fn next_event(&mut self) -> BatchEvent {
        poll_fn(|task| {
            // A result that is there counts, also if the alarm of its call is due.
            if let Poll::Ready(Some(joined)) = self.set.poll_join_next_with_id(task) {
                return Poll::Ready(BatchEvent::Joined(joined));
            }
            match self.overdue_receiver.poll_recv(task) {
                Poll::Ready(Some(overdue)) => Poll::Ready(BatchEvent::Overdue(overdue)),
                _ => Poll::Pending,
            }
        })
        .await
    }

    /// Returns a task that has already ended, or `None`.
    pub(super) fn try_join(&mut self) -> Option<Joined> {
        self.set.try_join_next_with_id()
    }

    /// Sets an alarm after [`GRACE`], for one call or for all.
    pub(super) fn grace_alarm(&self, call: Option<u64>, limit: Duration) -> Option<Alarm> {
        let at = Instant::now().checked_add(GRACE)?;
        Some(
            self.alarms
                .set(at, self.overdue_sender.clone(), Overdue { call, limit }),
        )
    }

    /// Aborts the tasks of abandoned calls. A task that does not yield continues, and is not awaited.
    pub(super) fn abort(&mut self) {
        if !self.set.is_empty() {
            self.set.abort_all();
        }
    }
}

impl Drop for CallTasks {
    /// Abandons the running calls. Calls that do not yield are then counted.
    fn drop(&mut self) {
        self.running.values().for_each(|running| {
            running.gated.abandon();
            running
                .span
                .fail(ErrorCode::Cancelled, &ErrorCode::Cancelled);
        });
    }
}
