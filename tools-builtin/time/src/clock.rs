//! [`Clock`]: the clock that the tools read.

use std::fmt;
use std::time::SystemTime;

/// A service for hosts that set the time themselves, such as a replay of a recorded session. Where the context has none,
/// the tools read the clock of the system.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use tools::ToolContext;
/// use tools_time::Clock;
///
/// let noon = SystemTime::UNIX_EPOCH + Duration::from_secs(12 * 3600);
/// let cx = ToolContext::new().with_service(Clock::new(move || noon));
/// # let _ = cx;
/// ```
pub struct Clock(Box<dyn Fn() -> SystemTime + Send + Sync>);

impl Clock {
    /// A clock that shows what `read` gives.
    pub fn new(read: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Self(Box::new(read))
    }

    /// What it shows.
    pub fn now(&self) -> SystemTime {
        (self.0)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clock").finish_non_exhaustive()
    }
}
