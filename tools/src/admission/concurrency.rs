//! [`ConcurrencyLimit`]: a lock-free limit on concurrent calls.

use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A counter of slots, one for each running call.
#[derive(Debug)]
pub(super) struct ConcurrencyLimit {
    slots: usize,
    taken: AtomicUsize,
    /// True while a call waits for a slot. Set before the waiter looks for a slot, and read after a slot is released. So either the
    /// waiter sees the slot, or the releasing thread sees the waiter.
    is_wanted: AtomicBool,
}

impl ConcurrencyLimit {
    pub(super) fn new(slots: usize) -> Self {
        Self {
            slots,
            taken: AtomicUsize::new(0),
            is_wanted: AtomicBool::new(false),
        }
    }

    /// Takes a slot. Returns false if none is free or another call waits for one.
    pub(super) fn enter(&self) -> bool {
        // Without the first condition, calls that need no queue would take each free slot before a waiting one.
        !self.is_wanted.load(Ordering::SeqCst) && self.take()
    }

    /// Takes a slot for a call from the queue. Returns false if none is free.
    pub(super) fn take(&self) -> bool {
        self.taken
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |taken| {
                (taken < self.slots).then_some(taken + 1)
            })
            .is_ok()
    }

    /// Releases a slot. Returns true if a call waits for one; the caller must then serve the queue.
    pub(super) fn leave(&self) -> bool {
        // Sequential consistency is needed: release and acquire order would let this thread miss the waiter, and the waiter the slot.
        self.taken.fetch_sub(1, Ordering::SeqCst);
        self.is_wanted.load(Ordering::SeqCst)
    }

    /// Sets whether a call waits for a slot. Called under the lock of the queue.
    pub(super) fn set_wanted(&self, is_wanted: bool) {
        self.is_wanted.store(is_wanted, Ordering::SeqCst);
    }

    pub(super) fn count_taken(&self) -> usize {
        self.taken.load(Ordering::SeqCst)
    }
}
