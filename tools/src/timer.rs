//! [`timer`]: a timer that works without a tokio clock.

use std::pin::Pin;

use tokio::runtime::Handle;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::isolate::Panic;

/// Returns a timer, or `None` if there is no runtime or its time driver is disabled, where tokio would panic.
pub(crate) fn timer(until: Instant) -> Option<Pin<Box<Sleep>>> {
    Handle::try_current().ok()?;
    Panic::catch(|| Box::pin(sleep_until(until))).ok()
}
