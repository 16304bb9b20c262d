//! [`Permits`]: the numbers of calls that run, and that wait for their clients.

use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tools::IgnorePoison as _;

/// The permits of all calls. Clones share them.
///
/// A call that waits for its client does not count as running, so clients that never answer do not keep others from calling.
#[derive(Clone)]
pub(super) struct Permits {
    running: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

/// The permit of one call. Clones share it.
#[derive(Clone)]
pub(super) struct Permit(Arc<Inner>);

struct Inner {
    permits: Permits,
    state: Mutex<State>,
}

struct State {
    running: Option<OwnedSemaphorePermit>,
    has_ended: bool,
}

/// The time while a call waits for its client. Dropping it ends the wait, and the call runs again even if too many others do.
pub(super) struct Wait {
    permit: Permit,
    _waiting: OwnedSemaphorePermit,
}

impl Permits {
    pub(super) fn new(running: usize, waiting: usize) -> Self {
        let semaphore =
            |permits: usize| Arc::new(Semaphore::new(permits.min(Semaphore::MAX_PERMITS)));
        Self {
            running: semaphore(running),
            waiting: semaphore(waiting),
        }
    }

    /// Begins a call. Returns `None` if too many run.
    pub(super) fn begin(&self) -> Option<Permit> {
        let running = Some(self.running.clone().try_acquire_owned().ok()?);
        let state = Mutex::new(State {
            running,
            has_ended: false,
        });
        Some(Permit(Arc::new(Inner {
            permits: self.clone(),
            state,
        })))
    }
}

impl Permit {
    /// Begins to wait for the client. Returns `None` if too many calls wait.
    pub(super) fn wait(&self) -> Option<Wait> {
        let waiting = self.0.permits.waiting.clone().try_acquire_owned().ok()?;
        self.lock().running = None;
        Some(Wait {
            permit: self.clone(),
            _waiting: waiting,
        })
    }

    /// Ends the call for good.
    pub(super) fn end(&self) {
        let mut state = self.lock();
        (state.running, state.has_ended) = (None, true);
    }

    fn is_idle(&self) -> bool {
        let state = self.lock();
        state.running.is_none() && !state.has_ended
    }

    fn run(&self, permit: Option<OwnedSemaphorePermit>) {
        let mut state = self.lock();
        // The call may have ended, or run again, while the permit was waited for.
        if state.running.is_none() && !state.has_ended {
            state.running = permit;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().ignore_poison()
    }
}

impl Wait {
    /// Ends the wait as soon as the call may run again.
    pub(super) async fn end(self) {
        if self.permit.is_idle() {
            let running = self.permit.0.permits.running.clone();
            self.permit.run(running.acquire_owned().await.ok());
        }
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        if self.permit.is_idle() {
            let running = self.permit.0.permits.running.clone();
            self.permit.run(running.try_acquire_owned().ok());
        }
    }
}
