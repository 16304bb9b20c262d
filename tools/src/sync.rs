//! The synchronisation primitives of this crate. With `--cfg shuttle` they are those of the model checker `shuttle`, which schedules
//! the threads at each of them.

#[cfg(shuttle)]
mod modelled;

#[cfg(not(shuttle))]
pub(crate) use std::sync::{Mutex, MutexGuard, OnceLock, RwLock, RwLockReadGuard, atomic};
#[cfg(not(shuttle))]
pub(crate) use std::thread_local;
#[cfg(not(shuttle))]
pub(crate) use tokio::sync::watch;

#[cfg(shuttle)]
pub(crate) use self::modelled::{OnceLock, watch};
#[cfg(shuttle)]
pub(crate) use shuttle::sync::{Mutex, MutexGuard, RwLock, RwLockReadGuard, atomic};
#[cfg(shuttle)]
pub(crate) use shuttle::thread_local;

use std::sync::{LockResult, PoisonError};

/// Ignores that a panic poisoned a lock.
///
/// The pipeline catches the panics of tools, so that one of them must not end all calls that share a lock. Hold a lock only while its
/// data is consistent wherever foreign code could panic.
///
/// ```text
/// let mut state = lock.lock().ignore_poison(); state.count += 1; handler(&state)?; state.log.push(entry); // wrong: half changed
/// let outcome = handler()?; let mut state = lock.lock().ignore_poison(); state.record(outcome);            // right
/// ```
pub trait IgnorePoison {
    /// A lock that is held.
    type Guard;

    /// Returns the guard, even if a thread panicked while it held the lock.
    fn ignore_poison(self) -> Self::Guard;
}

impl<G> IgnorePoison for LockResult<G> {
    type Guard = G;

    fn ignore_poison(self) -> G {
        self.unwrap_or_else(PoisonError::into_inner)
    }
}

/// Locks a mutex and ignores poisoning.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().ignore_poison()
}
