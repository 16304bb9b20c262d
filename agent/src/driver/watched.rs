//! [`Watched`]: a call that passes the [gate](super::gate), and an observer of its deadline that sets its alarm.

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;
use tools::call::DeadlineObserver;
use tools::{Execution, ToolContext, ToolError, ToolErrorKind, ToolResult};

use super::alarm::{Alarm, Alarms, Late};
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
    watch: Arc<Watch>,
    /// Where there is a journal that is to know of it when the call has no place.
    recorded: Option<ToolContext>,
    refusing: Option<Refusing>,
}

/// A refusal on its way into the journal.
type Refusing = Pin<Box<dyn Future<Output = Result<ToolResult, ToolError>> + Send>>;

/// Sets the alarm of one call when its deadline starts running.
pub(super) struct Watch {
    call: u64,
    alarms: &'static Alarms,
    bell: UnboundedSender<Late>,
    /// Set once the call has begun, and taken back with this: after the call.
    alarm: OnceLock<Option<Alarm>>,
}

impl Watched {
    /// The execution of a call of this tool with this context.
    pub(super) fn new(execution: Execution, tool: &str, cx: &ToolContext, pass: Pass, watch: Arc<Watch>) -> Self {
        let recorded = cx.journal().is_some().then(|| cx.clone());
        Self { execution, tool: tool.to_owned(), pass, spot: None, watch, recorded, refusing: None }
    }
}

impl Watch {
    pub(super) fn new(call: u64, alarms: &'static Alarms, bell: UnboundedSender<Late>) -> Self {
        Self { call, alarms, bell, alarm: OnceLock::new() }
    }
}

impl Future for Watched {
    type Output = Result<ToolResult, ToolError>;

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { execution, tool, pass, spot, watch, recorded, refusing } = self.get_mut();
        if let Some(refusing) = refusing {
            return refusing.as_mut().poll(task);
        }
        match pass.enter(spot, task.waker(), watch.alarm.get().is_some()) {
            Entry::In(_inside) => Pin::new(execution).poll(task),
            Entry::Wait => Poll::Pending,
            Entry::Lost => {
                let reason = "earlier calls whose tools do not yield hold all threads that are there for calls; \
                              try again later, and if that does not help, restart the program"
                    .to_owned();
                let error = ToolError::new(std::mem::take(tool), ToolErrorKind::Unavailable { reason });
                match recorded.take() {
                    // A journal is no tool that holds a thread, and needs no place.
                    Some(cx) => refusing.insert(Box::pin(refused(cx, error))).as_mut().poll(task),
                    None => Poll::Ready(Err(error)),
                }
            }
        }
    }
}

async fn refused(cx: ToolContext, error: ToolError) -> Result<ToolResult, ToolError> {
    tools::call::refuse(&cx, error.tool_name(), error.code(), &error.to_string()).await?;
    Err(error)
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(spot) = self.spot {
            self.pass.step_out(spot);
        }
    }
}

impl DeadlineObserver for Watch {
    fn started(&self, cx: &ToolContext, limit: Duration) {
        let at = cx.deadline().and_then(|deadline| deadline.checked_add(GRACE));
        let late = Late { call: Some(self.call), limit };
        self.alarm.get_or_init(|| at.map(|at| self.alarms.set(at, self.bell.clone(), late)));
    }
}
