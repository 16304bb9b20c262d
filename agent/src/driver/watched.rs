//! [`Watched`]: a call that passes the [gate](super::gate), and a timekeeper that sets its alarm.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;
use tools::{Execution, Timekeeper, ToolContext, ToolError, ToolResult};

use super::alarm::{Alarm, Late};
use super::gate::{Entry, Pass};

/// How long after its deadline a call is given up. One that yields ends at its deadline by itself, be it a little late on a
/// machine with much to do.
pub(super) const GRACE: Duration = Duration::from_secs(1);

/// A call that is polled when there is a place for it.
pub(super) struct Watched {
    execution: Execution,
    tool: String,
    pass: Pass,
    spot: Option<u64>,
    has_begun: Arc<AtomicBool>,
}

/// Sets the alarm of one call when its clock starts.
pub(super) struct Watch {
    position: usize,
    alarms: Sender<Alarm>,
    bell: UnboundedSender<Late>,
    has_begun: Arc<AtomicBool>,
}

impl Watched {
    pub(super) fn new(execution: Execution, tool: &str, pass: Pass, watch: &Watch) -> Self {
        Self { execution, tool: tool.to_owned(), pass, spot: None, has_begun: watch.has_begun.clone() }
    }
}

impl Watch {
    pub(super) fn new(position: usize, alarms: Sender<Alarm>, bell: UnboundedSender<Late>) -> Self {
        Self { position, alarms, bell, has_begun: Arc::default() }
    }
}

impl Future for Watched {
    type Output = Result<ToolResult, ToolError>;

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { execution, tool, pass, spot, has_begun } = self.get_mut();
        match pass.enter(spot, task.waker(), has_begun.load(Ordering::Relaxed)) {
            Entry::In(_inside) => Pin::new(execution).poll(task),
            Entry::Wait => Poll::Pending,
            Entry::Lost => {
                let reason = "earlier calls whose tools do not yield hold all threads that are there for calls; \
                              try again later, and if that does not help, restart the program"
                    .to_owned();
                Poll::Ready(Err(ToolError::Unavailable { tool: std::mem::take(tool), reason }))
            }
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(spot) = self.spot {
            self.pass.step_out(spot);
        }
    }
}

impl Timekeeper for Watch {
    fn started(&self, cx: &ToolContext, limit: Duration) {
        self.has_begun.store(true, Ordering::Relaxed);
        if let Some(at) = cx.deadline().and_then(|deadline| deadline.checked_add(GRACE)) {
            let alarm = Alarm { at, late: Late { position: self.position, limit }, bell: self.bell.clone() };
            // The thread lives as long as the process.
            let _ = self.alarms.send(alarm);
        }
    }
}
