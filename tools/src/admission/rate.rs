//! [`Bucket`]: how often something may start.

use std::time::Duration;

use protocol::Rate;
use tokio::time::Instant;

/// A token bucket, kept as the one moment at which it will be full again (the generic cell rate algorithm). It is always asked
/// under a lock, so a number is enough.
#[derive(Debug)]
pub(super) struct Bucket {
    /// How long a token takes to come.
    interval: Duration,
    /// How long all tokens take to come.
    whole: Duration,
    full_at: Option<Instant>,
}

impl Bucket {
    /// A bucket that is full. Neither figure of the rate is 0.
    pub(super) fn new(rate: Rate) -> Self {
        let whole = Duration::from_millis(rate.per_ms);
        // A rate above one call a nanosecond is none.
        let interval = (whole / rate.calls.max(1)).max(Duration::from_nanos(1));
        Self { interval, whole: interval * rate.calls, full_at: None }
    }

    /// Takes a token.
    ///
    /// # Errors
    /// When there is one again.
    pub(super) fn take(&mut self, now: Instant) -> Result<(), Instant> {
        let full_at = self.full_at.map_or(now, |full_at| full_at.max(now)) + self.interval;
        if full_at.duration_since(now) <= self.whole {
            self.full_at = Some(full_at);
            return Ok(());
        }
        Err(now + (full_at.duration_since(now) - self.whole))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_gives_what_it_holds_and_then_one_token_at_a_time() {
        let mut bucket = Bucket::new(Rate { calls: 3, per_ms: 300 });
        let start = Instant::now();
        let after = |ms| start + Duration::from_millis(ms);

        assert!((0..3).all(|_| bucket.take(start).is_ok()));
        assert_eq!(bucket.take(start), Err(after(100)));
        assert_eq!(bucket.take(after(40)), Err(after(100)), "to ask takes nothing");
        assert_eq!(bucket.take(after(100)), Ok(()));
        assert_eq!(bucket.take(after(100)), Err(after(200)));

        assert!((0..3).all(|_| bucket.take(after(10_000)).is_ok()), "it is full again");
        assert_eq!(bucket.take(after(10_000)), Err(after(10_100)), "and never more than full");
    }

    #[test]
    fn a_rate_without_measure_does_no_harm() {
        let now = Instant::now();
        assert!(Bucket::new(Rate { calls: u32::MAX, per_ms: 1 }).take(now).is_ok());
        assert!(Bucket::new(Rate { calls: 1, per_ms: 86_400_000 * 365 }).take(now).is_ok());
    }
}
