//! [`timer`]: a timer that needs no clock to be there.

use std::pin::Pin;

use tokio::runtime::Handle;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::isolate::Panic;

/// Returns a timer, or `None` if there is no runtime or it has no clock: tokio panics then, and the caller has to mend that.
pub(crate) fn timer(until: Instant) -> Option<Pin<Box<Sleep>>> {
    Handle::try_current().ok()?;
    Panic::catch(|| Box::pin(sleep_until(until))).ok()
}
