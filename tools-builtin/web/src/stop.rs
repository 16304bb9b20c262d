//! [`Stop`]: ends a conversion early.

use std::fmt;

/// Tells a conversion to end early, such as after a time or when its call was cancelled.
#[derive(Clone, Copy)]
pub(crate) struct Stop<'a>(&'a dyn Fn() -> bool);

impl<'a> Stop<'a> {
    pub(crate) fn new(is_over: &'a dyn Fn() -> bool) -> Self {
        Self(is_over)
    }

    /// Returns true if the conversion has to end.
    pub(crate) fn is_over(self) -> bool {
        (self.0)()
    }
}

impl fmt::Debug for Stop<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stop").finish_non_exhaustive()
    }
}
