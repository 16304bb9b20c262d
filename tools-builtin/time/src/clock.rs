//! [`Clock`]: the time source of `time.now`.

use std::time::SystemTime;

/// A time source that a host adds to the context, such as the recorded time of a replayed session.
///
/// Without this service, `time.now` reads the system clock.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use tools::Host;
/// use tools_time::Clock;
///
/// let noon = SystemTime::UNIX_EPOCH + Duration::from_secs(12 * 3600);
/// let cx = Host::new().with_service(Clock::new(move || noon));
/// # let _ = cx;
/// ```
pub struct Clock(Box<dyn Fn() -> SystemTime + Send + Sync>);

impl Clock {
    /// Creates a clock that calls `read` for the current time.
    pub fn new(read: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Self(Box::new(read))
    }

    /// Returns the current time of this clock.
    pub fn now(&self) -> SystemTime {
        (self.0)()
    }
}

tools::debug_fields!(self: Clock {});
