//! [`thread_number`]: a number for each thread, which spreads threads over shards.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Returns the number of this thread. Under the model checker it is 0 for all threads, so that they share a shard.
pub(crate) fn thread_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    thread_local! {
        static NUMBER: Cell<usize> = const { Cell::new(0) };
    }
    if cfg!(shuttle) {
        return 0;
    }
    NUMBER.with(|number| {
        if number.get() == 0 {
            number.set(NEXT.fetch_add(1, Ordering::Relaxed));
        }
        number.get()
    })
}
