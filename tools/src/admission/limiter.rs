//! [`Limiter`]: the concurrency and rate limits of one tool.

use protocol::Limits;
use tokio::time::Instant;

use super::rate::Bucket;
use crate::sync::{Mutex, lock};

/// The maximum period of a rate limit in milliseconds: a year.
const LONGEST_MS: u64 = 365 * 86_400_000;

/// The concurrency and rate limits of one tool, shared by all calls of its entry, in all tool sets.
#[derive(Debug)]
pub(crate) struct Limiter(Mutex<LimiterState>);

#[derive(Debug)]
struct LimiterState {
    running: u32,
    slots: u32,
    bucket: Option<Bucket>,
}

impl Limiter {
    /// Creates a limiter. Returns `Ok(None)` if there is neither a rate nor a concurrency limit.
    ///
    /// # Errors
    /// Returns a message with a valid value if no call could run within the limits.
    pub(crate) fn new(limits: &Limits) -> Result<Option<Self>, String> {
        // Each call would wait for ever, so registration refuses the tool.
        if limits.max_concurrency == Some(0) {
            return Err(
                "max_concurrency is 0, so no call could run; set it to 1 or more".to_owned(),
            );
        }
        let rate = limits.rate;
        if rate.is_some_and(|rate| rate.calls == 0 || rate.per_ms == 0 || rate.per_ms > LONGEST_MS)
        {
            return Err(format!(
                "rate is invalid; set at least 1 call in 1 to {LONGEST_MS} ms"
            ));
        }
        if rate.is_none() && limits.max_concurrency.is_none() {
            return Ok(None);
        }
        Ok(Some(Self(Mutex::new(LimiterState {
            running: 0,
            slots: limits.max_concurrency.unwrap_or(u32::MAX),
            bucket: rate.map(Bucket::new),
        }))))
    }

    /// Returns true if the number of concurrent calls is limited.
    pub(super) fn limits_concurrency(&self) -> bool {
        lock(&self.0).slots < u32::MAX
    }

    /// Returns true if the concurrency limit is reached.
    pub(super) fn is_full(&self) -> bool {
        let state = lock(&self.0);
        state.running >= state.slots
    }

    /// Takes a slot and a rate token.
    ///
    /// # Errors
    /// Returns the time of the next token if there is none. No slot is taken then.
    pub(super) fn enter(&self) -> Result<(), Instant> {
        // The token comes first: a slot that is taken for a call without a token would keep another call out.
        self.take_token()?;
        lock(&self.0).running += 1;
        Ok(())
    }

    /// Takes a rate token, for a retry of a call that has a slot.
    ///
    /// # Errors
    /// Returns the time of the next token if there is none.
    pub(crate) fn take_token(&self) -> Result<(), Instant> {
        let state = lock(&self.0);
        state.bucket.as_ref().map_or(Ok(()), Bucket::take)
    }

    pub(super) fn leave(&self) {
        lock(&self.0).running -= 1;
    }
}
