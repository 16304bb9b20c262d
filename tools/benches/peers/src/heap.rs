//! [`HEAP`]: the heap of a round.

use std::sync::OnceLock;

use peak_alloc::PeakAlloc;

/// The heap of this process, if it is counted.
pub static HEAP: Heap = Heap(OnceLock::new());

/// A counted heap. In a program that counts nothing, all its figures are 0.
#[derive(Debug)]
pub struct Heap(OnceLock<&'static PeakAlloc>);

impl Heap {
    /// Names the allocator that counts.
    pub fn set(&self, counted: &'static PeakAlloc) {
        self.0.get_or_init(|| counted);
    }

    /// Starts to look for a peak, and returns the bytes that are allocated now.
    pub(crate) fn start(&self) -> usize {
        self.0.get().map_or(0, |heap| {
            heap.reset_peak_usage();
            heap.current_usage()
        })
    }

    /// Returns the bytes at the peak above those at the start.
    pub(crate) fn peak_above(&self, start: usize) -> f64 {
        let peak = self.0.get().map_or(0, |heap| heap.peak_usage());
        peak.saturating_sub(start) as f64
    }

    /// Returns the bytes that are freed with a value.
    pub(crate) fn freed_with<T>(&self, value: T) -> f64 {
        let before = self.start();
        drop(value);
        before as f64 - self.kept_above(0)
    }

    /// Returns the bytes that are allocated now above those at the start.
    pub(crate) fn kept_above(&self, start: usize) -> f64 {
        let kept = self.0.get().map_or(0, |heap| heap.current_usage());
        kept.saturating_sub(start) as f64
    }
}
