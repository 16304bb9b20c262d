//! [`Suspended`]: calls that wait for the next request of their client.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::oneshot;
use tools::IgnorePoison as _;

use crate::server::running::{AskedOf, Running};

/// The time that the outcome of a call is kept for the client, which comes back when its person answers, perhaps too late.
const KEPT: Duration = Duration::from_secs(600);

/// The calls that wait for the next request of their client, by the request state that the client sends back.
///
/// The state is a random handle: the call itself stays here. Each state resumes its call once, and only for the request that it was
/// given for.
#[derive(Clone, Default)]
pub(super) struct Suspended(Arc<Mutex<HashMap<String, Waiting>>>);

struct Waiting {
    asked: AskedOf,
    taker: oneshot::Sender<oneshot::Sender<Running>>,
}

impl Suspended {
    /// Suspends a call and returns its state. The call runs on meanwhile, so its time limits and those of its questions hold. Returns
    /// `None` if there is no state; the call is then cancelled.
    pub(super) fn suspend(&self, mut running: Running) -> Option<String> {
        let state = random_handle()?;
        let (taker, taken) = oneshot::channel::<oneshot::Sender<Running>>();
        let asked = running.asked.clone();
        self.lock().insert(state.clone(), Waiting { asked, taker });
        let all = self.clone();
        let key = state.clone();
        tokio::spawn(async move {
            let ended = async {
                running.run_alone().await;
                tokio::time::sleep(KEPT).await;
            };
            let by = tokio::select! {
                taken = taken => taken.ok(),
                () = ended => None,
            };
            match by {
                Some(by) => drop(by.send(running)),
                None => drop(all.lock().remove(&key)),
            }
        });
        Some(state)
    }

    /// Takes the call of a state. Returns `None` if the state is unknown, used, or given for another request.
    pub(super) async fn resume(&self, state: &str, asked: &AskedOf) -> Option<Running> {
        let waiting = {
            let mut all = self.lock();
            if all.get(state)?.asked != *asked {
                return None;
            }
            all.remove(state)?
        };
        let (by, running) = oneshot::channel();
        waiting.taker.send(by).ok()?;
        running.await.ok()
    }

    /// Cancels all suspended calls.
    pub(super) fn cancel(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Waiting>> {
        self.0.lock().ignore_poison()
    }
}

/// Returns an unguessable handle. Returns `None` if the system has no randomness.
pub(super) fn random_handle() -> Option<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
