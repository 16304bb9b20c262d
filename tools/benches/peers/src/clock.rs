//! [`ProcessorTime`]: the time for which this process or its children run, which other load changes little.

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// A point in the processor time of this process, all threads and the system's work for them included.
pub(crate) struct ProcessorTime(f64);

impl ProcessorTime {
    pub(crate) fn now() -> Self {
        Self(used(UsageWho::RUSAGE_SELF))
    }

    /// Returns the microseconds since then.
    pub(crate) fn micros(&self) -> f64 {
        Self::now().since(self)
    }

    /// Returns the microseconds between an earlier point and this one.
    pub(crate) fn since(&self, earlier: &Self) -> f64 {
        self.0 - earlier.0
    }
}

/// Returns the processor time of the children of this process that have ended, in microseconds.
pub(crate) fn micros_of_children() -> f64 {
    used(UsageWho::RUSAGE_CHILDREN)
}

fn used(who: UsageWho) -> f64 {
    let usage: Usage = getrusage(who).unwrap();
    (usage.user_time() + usage.system_time()).num_microseconds() as f64
}
