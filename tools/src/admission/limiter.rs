//! [`Limiter`]: what one tool's limits leave for the next call.

use protocol::Limits;
use tokio::time::Instant;

use super::rate::Bucket;
use crate::sync::{Mutex, lock};

/// The longest time that a rate can be counted over: a year, in milliseconds.
const LONGEST_MS: u64 = 365 * 86_400_000;

/// The slots and tokens of one tool. All calls of its entry share it, whichever tool set they come through.
#[derive(Debug)]
pub(crate) struct Limiter(Mutex<State>);

#[derive(Debug)]
struct State {
    running: u32,
    slots: u32,
    bucket: Option<Bucket>,
}

impl Limiter {
    /// `None` where the limits say nothing about how many calls there may be.
    ///
    /// # Errors
    /// A limit that no call could keep, and what to write instead.
    pub(crate) fn new(limits: &Limits) -> Result<Option<Self>, String> {
        let Limits { rate, max_concurrency, .. } = limits;
        if *max_concurrency == Some(0) {
            return Err("max_concurrency is 0, so that it could never run; write 1 or more".to_owned());
        }
        if rate.is_some_and(|rate| rate.calls == 0 || rate.per_ms == 0 || rate.per_ms > LONGEST_MS) {
            return Err(format!("rate has to be 1 call or more in 1 to {LONGEST_MS} ms; write a rate it can keep"));
        }
        if rate.is_none() && max_concurrency.is_none() {
            return Ok(None);
        }
        let slots = max_concurrency.unwrap_or(u32::MAX);
        Ok(Some(Self(Mutex::new(State { running: 0, slots, bucket: rate.map(Bucket::new) }))))
    }

    /// Whether it matters how many calls run.
    pub(super) fn limits_concurrency(&self) -> bool {
        lock(&self.0).slots < u32::MAX
    }

    /// Whether as many calls run as may.
    pub(super) fn is_full(&self) -> bool {
        let state = lock(&self.0);
        state.running >= state.slots
    }

    /// Takes a place and a token.
    ///
    /// # Errors
    /// When there is a token again. No place is taken then.
    pub(super) fn enter(&self) -> Result<(), Instant> {
        self.take_token()?;
        lock(&self.0).running += 1;
        Ok(())
    }

    /// Takes a token alone: for one more attempt of a call that has a place.
    ///
    /// # Errors
    /// When there is one again.
    pub(crate) fn take_token(&self) -> Result<(), Instant> {
        let state = lock(&self.0);
        state.bucket.as_ref().map_or(Ok(()), Bucket::take)
    }

    pub(super) fn leave(&self) {
        lock(&self.0).running -= 1;
    }
}
