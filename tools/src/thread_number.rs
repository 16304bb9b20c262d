//! A number for each thread, by which threads keep out of each other's cache lines.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A number for this thread. Under the model checker all threads have the same one, and meet.
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
