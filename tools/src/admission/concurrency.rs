//! [`ConcurrencyLimit`]: a lock-free limit on concurrent calls.

use std::cell::Cell;

use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The maximum number of shards, which keep threads from contending for one cache line.
const MAX_SHARDS: usize = 8;

/// The minimum number of slots per shard. A smaller limit is not worth sharding.
const MIN_SLOTS: usize = 64;

/// A sharded counter of slots, one for each running call. A thread takes a slot of its own shard first, then of the others.
#[derive(Debug)]
pub(super) struct ConcurrencyLimit {
    shards: Box<[Shard]>,
    /// True while a call waits for a slot. Set before the waiter looks for a slot, and read after a slot is released. So either the
    /// waiter sees the slot, or the releasing thread sees the waiter.
    is_wanted: AtomicBool,
}

/// A part of the slots, aligned to two cache lines, because some processors fetch them in pairs.
#[derive(Debug)]
#[repr(align(128))]
struct Shard {
    taken: AtomicUsize,
    slots: usize,
}

/// The shard that a slot was taken from.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShardId(u8);

impl ConcurrencyLimit {
    pub(super) fn new(slots: usize) -> Self {
        let count = (slots / MIN_SLOTS).clamp(1, MAX_SHARDS);
        let shard = |index: usize| {
            let extra = usize::from(index < slots % count);
            Shard {
                taken: AtomicUsize::new(0),
                slots: slots / count + extra,
            }
        };
        Self {
            shards: (0..count).map(shard).collect(),
            is_wanted: AtomicBool::new(false),
        }
    }

    /// Takes a slot. Returns `None` if none is free or another call waits for one.
    pub(super) fn enter(&self) -> Option<ShardId> {
        if self.is_wanted.load(Ordering::SeqCst) {
            None
        } else {
            self.take()
        }
    }

    /// Takes a slot for a call from the queue. Returns `None` if none is free.
    pub(super) fn take(&self) -> Option<ShardId> {
        let count = self.shards.len();
        // An index is below `MAX_SHARDS`, so it fits into a `u8`.
        let own = thread_number() % count;
        if self.shards[own].take() {
            return Some(ShardId(own as u8));
        }
        let index = (own + 1..count)
            .chain(0..own)
            .find(|index| self.shards[*index].take())?;
        Some(ShardId(index as u8))
    }

    /// Releases a slot. Returns true if a call waits for one; the caller must then serve the queue.
    pub(super) fn leave(&self, ShardId(index): ShardId) -> bool {
        self.shards[usize::from(index)]
            .taken
            .fetch_sub(1, Ordering::SeqCst);
        self.is_wanted.load(Ordering::SeqCst)
    }

    /// Sets whether a call waits for a slot. Called under the lock of the queue.
    pub(super) fn set_wanted(&self, is_wanted: bool) {
        self.is_wanted.store(is_wanted, Ordering::SeqCst);
    }

    pub(super) fn taken(&self) -> usize {
        self.shards
            .iter()
            .map(|shard| shard.taken.load(Ordering::SeqCst))
            .sum()
    }
}

impl Shard {
    fn take(&self) -> bool {
        let one_more = |taken| (taken < self.slots).then_some(taken + 1);
        self.taken
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_more)
            .is_ok()
    }
}

/// Returns the number of this thread. Under the model checker it is 0 for all threads, so that they share a shard.
fn thread_number() -> usize {
    static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(1);
    thread_local! {
        static NUMBER: Cell<usize> = const { Cell::new(0) };
    }
    if cfg!(shuttle) {
        return 0;
    }
    NUMBER.with(|number| {
        if number.get() == 0 {
            number.set(NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        }
        number.get()
    })
}
