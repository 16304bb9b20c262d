//! [`GatedExecution`]: a call that is polled through the [`WorkerGate`](super::worker_gate). [`DeadlineAlarm`]: sets its alarm.

use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;
use tools::call::DeadlineObserver;
use tools::{Execution, IgnorePoison as _, ToolContext, ToolError, ToolErrorKind, ToolResult};

use super::alarm::{Alarm, Alarms, Overdue};
use super::worker_gate::{GateDecision, GatedCall};

/// The time from the deadline of a call until it is abandoned. A tool that yields ends at its deadline, but may be late on a busy
/// machine.
pub(super) const GRACE: Duration = Duration::from_secs(1);

/// The execution of a call, polled only while it holds a slot of the gate.
pub(super) struct GatedExecution {
    pub(super) execution: Execution,
    pub(super) tool: String,
    pub(super) call: GatedCall,
    pub(super) alarm: Arc<DeadlineAlarm>,
    pub(super) cx: ToolContext,
    /// The place in the queue, while the call waits for a slot.
    pub(super) ticket: Option<u64>,
    pub(super) is_refused: bool,
}

/// Sets the alarm of one call when its deadline starts running, and again when the deadline moves.
pub(super) struct DeadlineAlarm {
    pub(super) call: u64,
    pub(super) alarms: &'static Alarms,
    pub(super) sender: UnboundedSender<Overdue>,
    /// Set when the call begins, and cancelled when this is dropped after the call.
    pub(super) pending: OnceLock<Mutex<PendingAlarm>>,
}

/// The alarm of a call that has begun.
pub(super) struct PendingAlarm {
    /// The time limit of the call.
    limit: Duration,
    alarm: Option<Alarm>,
}

impl DeadlineAlarm {
    /// Sets an alarm after the deadline of the call.
    fn alarm(&self, cx: &ToolContext, limit: Duration) -> Option<Alarm> {
        let at = cx.deadline()?.checked_add(GRACE)?;
        let call = Some(self.call);
        let overdue = Overdue { call, limit };
        Some(self.alarms.set(at, self.sender.clone(), overdue))
    }
}

impl Future for GatedExecution {
    type Output = Result<ToolResult, ToolError>;

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let execution = &mut this.execution;
        if this.is_refused {
            return Pin::new(execution).poll(task);
        }
        let has_begun = this.alarm.pending.get().is_some();
        match this.call.enter(&mut this.ticket, task.waker(), has_begun) {
            GateDecision::Enter(_slot) => Pin::new(execution).poll(task),
            GateDecision::Wait => Poll::Pending,
            GateDecision::Exhausted => {
                let reason =
                    "earlier calls of tools that do not yield hold all worker threads for calls; \
                              try again later, and restart the program if that does not help"
                        .to_owned();
                let tool = std::mem::take(&mut this.tool);
                let error = ToolError::new(tool, ToolErrorKind::Unavailable { reason });
                // The refusal does not block a worker, so it needs no slot.
                this.is_refused = true;
                execution.refuse(&this.cx, error);
                Pin::new(execution).poll(task)
            }
        }
    }
}

impl Drop for GatedExecution {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.call.leave_queue(ticket);
        }
    }
}

impl DeadlineObserver for DeadlineAlarm {
    fn on_start(&self, cx: &ToolContext, limit: Duration) {
        self.pending.get_or_init(|| {
            Mutex::new(PendingAlarm {
                limit,
                alarm: self.alarm(cx, limit),
            })
        });
    }

    fn on_move(&self, cx: &ToolContext) {
        if let Some(pending) = self.pending.get() {
            let mut pending = pending.lock().ignore_poison();
            // The old alarm is dropped, and so cancelled.
            pending.alarm = self.alarm(cx, pending.limit);
        }
    }
}
