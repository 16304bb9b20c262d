//! [`ConcurrencyLimit`]: how many calls may run at once, without a lock for those who need nothing else.

use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::thread_number::thread_number;

/// How many counters a gate is divided into at most, so that threads do not wait for each other's cache lines.
const MAX_SHARDS: usize = 8;

/// How many slots a counter has at least: below that, a gate is too small to be worth dividing.
const MIN_SLOTS: usize = 64;

/// Places, counted. A thread takes from its own counter while that has some, and from the others when it has none.
#[derive(Debug)]
pub(super) struct ConcurrencyLimit {
    shards: Box<[Shard]>,
    /// Whether somebody waits for a place. It is set before they look for one, and read after one is given back, so that one of the
    /// two sees the other.
    is_wanted: AtomicBool,
}

/// A cache line, or two where they are fetched in pairs.
#[derive(Debug)]
#[repr(align(128))]
struct Shard {
    taken: AtomicUsize,
    slots: usize,
}

/// A place that is taken, by the number of its counter.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShardId(u8);

impl ConcurrencyLimit {
    pub(super) fn new(slots: usize) -> Self {
        let count = (slots / MIN_SLOTS).clamp(1, MAX_SHARDS);
        let shard = |index: usize| {
            let extra = usize::from(index < slots % count);
            Shard { taken: AtomicUsize::new(0), slots: slots / count + extra }
        };
        Self { shards: (0..count).map(shard).collect(), is_wanted: AtomicBool::new(false) }
    }

    /// A place, unless there is none or somebody waits for one.
    pub(super) fn enter(&self) -> Option<ShardId> {
        if self.is_wanted.load(Ordering::SeqCst) { None } else { self.take() }
    }

    /// A place, unless there is none. For those who have waited.
    pub(super) fn take(&self) -> Option<ShardId> {
        let count = self.shards.len();
        // There are at most `MAX_SHARDS`.
        let own = thread_number() % count;
        if self.shards[own].take() {
            return Some(ShardId(own as u8));
        }
        let index = (own + 1..count).chain(0..own).find(|index| self.shards[*index].take())?;
        Some(ShardId(index as u8))
    }

    /// Gives a place back. Whether somebody waits for it, who has to be served then.
    pub(super) fn leave(&self, ShardId(index): ShardId) -> bool {
        self.shards[usize::from(index)].taken.fetch_sub(1, Ordering::SeqCst);
        self.is_wanted.load(Ordering::SeqCst)
    }

    /// Says whether somebody waits. Called under the lock of those who wait.
    pub(super) fn set_wanted(&self, is_wanted: bool) {
        self.is_wanted.store(is_wanted, Ordering::SeqCst);
    }

    pub(super) fn taken(&self) -> usize {
        self.shards.iter().map(|shard| shard.taken.load(Ordering::SeqCst)).sum()
    }
}

impl Shard {
    fn take(&self) -> bool {
        let one_more = |taken| (taken < self.slots).then_some(taken + 1);
        self.taken.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_more).is_ok()
    }
}
