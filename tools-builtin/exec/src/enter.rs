//! [`enter`]: the first line of `main` in programs that run others.

use std::sync::atomic::{AtomicBool, Ordering};

/// True after `enter` returned, so that this program can start itself as a supervisor.
static ENTERED: AtomicBool = AtomicBool::new(false);

/// Takes the role for which this crate started the program again. Returns at once in any other process.
///
/// Call it in the first line of `main`. Each program that a tool runs has a supervisor: this program, started again under
/// another name. In such a process the function never returns. Nothing can be started before the first call.
pub fn enter() {
    #[cfg(target_os = "linux")]
    if std::env::args_os().next().is_some_and(|name| name == crate::supervise::SUPERVISOR) {
        crate::supervise::serve();
    }
    ENTERED.store(true, Ordering::Relaxed);
}

/// Returns true if [`enter`] was called.
#[cfg(target_os = "linux")]
pub(crate) fn has_entered() -> bool {
    ENTERED.load(Ordering::Relaxed)
}
