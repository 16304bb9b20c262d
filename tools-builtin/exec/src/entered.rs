//! Whether [`enter`](crate::enter) was called.

use std::sync::atomic::{AtomicBool, Ordering};

/// True if this program can start itself in other roles.
static ENTERED: AtomicBool = AtomicBool::new(false);

/// Notes the call.
pub(crate) fn set_entered() {
    ENTERED.store(true, Ordering::Relaxed);
}

/// Returns true if it was called.
#[cfg(target_os = "linux")]
pub(crate) fn has_entered() -> bool {
    ENTERED.load(Ordering::Relaxed)
}
