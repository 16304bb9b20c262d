//! [`Tasks`]: the tasks that the calls of a run have, and what there is to hear of them.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{Id, JoinError, JoinSet};
use tools::{CancellationToken, ToolError, ToolResult};

use super::DriverError;
use super::alarm::{Alarm, Alarms, Late, alarms};
use super::gate::{Gate, Pass};
use super::watched::{GRACE, Watch};

/// What a task of a call ends with.
pub(super) type Joined = Result<(Id, Result<ToolResult, ToolError>), JoinError>;

/// Calls under way, by the task that each runs in.
pub(super) struct Tasks {
    pub(super) running: HashMap<Id, Running>,
    set: JoinSet<Result<ToolResult, ToolError>>,
    pub(super) gate: Arc<Gate>,
    alarms: &'static Alarms,
    bell: UnboundedSender<Late>,
    rung: UnboundedReceiver<Late>,
}

/// A call that has no result yet.
pub(super) struct Running {
    /// Which of its turn.
    pub(super) position: usize,
    pub(super) pass: Pass,
    pub(super) token: CancellationToken,
    /// Set if the call was late before it held a thread.
    pub(super) grace: Option<Alarm>,
}

/// What there is to hear of calls.
pub(super) enum News {
    Joined(Joined),
    Late(Late),
}

impl Tasks {
    /// Makes room for calls on this runtime.
    ///
    /// # Errors
    /// Returns [`DriverError::NoThread`] if the system gives no thread to watch over calls from.
    pub(super) fn new(runtime: &Handle) -> Result<Self, DriverError> {
        let alarms = alarms().map_err(DriverError::NoThread)?;
        let (bell, rung) = unbounded_channel();
        Ok(Self { running: HashMap::new(), set: JoinSet::new(), gate: Gate::of(runtime), alarms, bell, rung })
    }

    /// Returns the call at this position of its turn, to be [spawned](Self::spawn). Its token is cancelled with that of the run.
    pub(super) fn admit(&self, position: usize, token: &CancellationToken) -> Running {
        Running { position, pass: self.gate.pass(), token: token.child_token(), grace: None }
    }

    /// Returns what sets the alarm of a call.
    pub(super) fn watch(&self, call: &Running) -> Arc<Watch> {
        Arc::new(Watch::new(call.pass.number(), self.alarms, self.bell.clone()))
    }

    pub(super) fn spawn(
        &mut self,
        runtime: &Handle,
        call: Running,
        future: impl Future<Output = Result<ToolResult, ToolError>> + Send + 'static,
    ) {
        let task = self.set.spawn_on(future, runtime);
        self.running.insert(task.id(), call);
    }

    /// Waits for what happens next. There is a call under way.
    pub(super) async fn news(&mut self) -> News {
        poll_fn(|task| {
            if let Poll::Ready(Some(joined)) = self.set.poll_join_next_with_id(task) {
                return Poll::Ready(News::Joined(joined));
            }
            match self.rung.poll_recv(task) {
                Poll::Ready(Some(late)) => Poll::Ready(News::Late(late)),
                _ => Poll::Pending,
            }
        })
        .await
    }

    /// Returns a call that has ended already, if there is one.
    pub(super) fn try_join(&mut self) -> Option<Joined> {
        self.set.try_join_next_with_id()
    }

    /// Sets an alarm a little later than now, for one call or for all.
    pub(super) fn grace(&self, call: Option<u64>, limit: Duration) -> Option<Alarm> {
        let at = Instant::now().checked_add(GRACE)?;
        Some(self.alarms.set(at, self.bell.clone(), Late { call, limit }))
    }

    /// Aborts the tasks of calls that were given up. One that does not yield does not notice, and is not waited for.
    pub(super) fn abort(&mut self) {
        if !self.set.is_empty() {
            self.set.abort_all();
        }
    }
}

impl Drop for Tasks {
    /// Calls whose run is dropped are aborted, which those that do not yield do not notice: they count.
    fn drop(&mut self) {
        self.running.values().for_each(|running| {
            running.pass.give_up();
        });
    }
}
