//! [`Bucket`]: a token-bucket rate limiter.

use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::Clock;
use governor::nanos::Nanos;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use protocol::Rate;
use tokio::time::Instant;

/// A token-bucket rate limiter.
#[derive(Debug)]
pub(super) struct Bucket {
    limiter: RateLimiter<NotKeyed, InMemoryState, TokioClock>,
    start: Instant,
}

/// tokio's clock for governor, relative to an instant, because waiting uses tokio's timers.
#[derive(Clone, Debug)]
struct TokioClock(Instant);

impl Clock for TokioClock {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        self.0.elapsed().into()
    }
}

impl Bucket {
    /// Creates a full bucket. Both numbers of the rate must be above 0.
    pub(super) fn new(rate: Rate) -> Self {
        let calls = NonZeroU32::new(rate.calls).unwrap_or(NonZeroU32::MIN);
        // governor needs an interval above 0, and one token per nanosecond is no limit in practice.
        let interval =
            (Duration::from_millis(rate.per_ms) / calls.get()).max(Duration::from_nanos(1));
        let quota = Quota::with_period(interval)
            // Not reached: the interval is above 0.
            .unwrap_or(Quota::per_second(calls))
            .allow_burst(calls);
        let start = Instant::now();
        Self {
            limiter: RateLimiter::direct_with_clock(quota, TokioClock(start)),
            start,
        }
    }

    /// Takes a token.
    ///
    /// # Errors
    /// Returns the time of the next token if there is none.
    pub(super) fn take(&self) -> Result<(), Instant> {
        self.limiter
            .check()
            .map_err(|until| self.start + Duration::from(until.earliest_possible()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_bucket_gives_what_it_holds_and_then_one_token_at_a_time() {
        let bucket = Bucket::new(Rate {
            calls: 3,
            per_ms: 300,
        });
        let start = Instant::now();
        let after = |ms| start + Duration::from_millis(ms);
        let until = async |ms| advance(after(ms) - Instant::now()).await;

        assert!((0..3).all(|_| bucket.take().is_ok()));
        assert_eq!(bucket.take(), Err(after(100)));
        until(40).await;
        assert_eq!(bucket.take(), Err(after(100)), "to ask takes nothing");
        until(100).await;
        assert_eq!(bucket.take(), Ok(()));
        assert_eq!(bucket.take(), Err(after(200)));

        until(10_000).await;
        assert!((0..3).all(|_| bucket.take().is_ok()), "it is full again");
        assert_eq!(
            bucket.take(),
            Err(after(10_100)),
            "and never more than full"
        );
    }

    #[test]
    fn a_rate_without_measure_does_no_harm() {
        assert!(
            Bucket::new(Rate {
                calls: u32::MAX,
                per_ms: 1
            })
            .take()
            .is_ok()
        );
        assert!(
            Bucket::new(Rate {
                calls: 1,
                per_ms: 86_400_000 * 365
            })
            .take()
            .is_ok()
        );
        let most = Bucket::new(Rate {
            calls: u32::MAX,
            per_ms: 86_400_000 * 365,
        });
        assert!((0..1_000).all(|_| most.take().is_ok()));
    }
}
