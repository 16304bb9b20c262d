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

use std::sync::PoisonError;

/// Locks a mutex and ignores poisoning: the guarded data is consistent at every point where foreign code could panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
