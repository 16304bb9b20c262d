//! [`Bucket`]: a token-bucket rate limiter.

use std::time::Duration;

use protocol::Rate;
use tokio::time::Instant;

use crate::sync::{Mutex, lock};

/// A token-bucket rate limiter. It follows the generic cell rate algorithm, whose only state is the time at which the bucket is full again.
#[derive(Debug)]
pub(super) struct Bucket {
    full_at: Mutex<Instant>,
    /// The time in which a token comes.
    interval: Duration,
    /// The time to the full bucket at which the last token is there.
    with_one_token: Duration,
}

impl Bucket {
    /// Creates a full bucket. Both numbers of the rate must be above 0.
    pub(super) fn new(rate: Rate) -> Self {
        let calls = rate.calls.max(1);
        let interval = Duration::from_millis(rate.per_ms) / calls;
        Self {
            full_at: Mutex::new(Instant::now()),
            interval,
            with_one_token: interval * (calls - 1),
        }
    }

    /// Takes a token.
    ///
    /// # Errors
    /// Returns the time of the next token if there is none.
    pub(super) fn take(&self) -> Result<(), Instant> {
        let mut full_at = lock(&self.full_at);
        let now = Instant::now();
        let full = (*full_at).max(now);
        if full - now > self.with_one_token {
            return Err(full - self.with_one_token);
        }
        *full_at = full + self.interval;
        Ok(())
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
