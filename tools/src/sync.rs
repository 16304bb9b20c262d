//! The primitives that our own concurrent code is made of, in one place: built with `--cfg shuttle` they are those of the model
//! checker `shuttle`, which then decides who goes next at each of them.

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

/// Locks, also after a panic: what is guarded here is whole at every point where code of somebody else could panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
