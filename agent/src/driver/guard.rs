//! Foreign code that runs at once: its panic goes no further.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tools::call::{Panic, panic_message};

/// Unwind safety is asserted: whoever calls uses nothing again that a panic may have left half done.
pub(super) fn guarded<T>(run: impl FnOnce() -> T) -> Result<T, Panic> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| Panic(panic_message(payload)))
}
