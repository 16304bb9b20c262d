//! [`TimeLimit`]: stops a run when its budget has no time left.

use std::future::{Future, pending, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

use tokio::time::{Sleep, sleep_until};
use tools::CancellationToken;
use tools::call::Panic;

use super::DriverError;
use crate::{Budget, Exhausted};

/// The end of a budget's time.
pub(super) struct TimeLimit {
    sleep: Pin<Box<Sleep>>,
    exhausted: Exhausted,
}

impl TimeLimit {
    /// Starts the timer of a budget. Returns `None` if its time is not limited.
    ///
    /// # Errors
    /// Returns [`DriverError::NoTimer`] if the runtime has no timers.
    pub(super) fn start(budget: &Budget) -> Result<Option<Self>, DriverError> {
        let Some((end, exhausted)) = budget.deadline() else { return Ok(None) };
        // tokio panics if the time driver of the runtime is disabled.
        let sleep = Panic::catch(|| Box::pin(sleep_until(end))).map_err(|_| DriverError::NoTimer)?;
        Ok(Some(Self { sleep, exhausted }))
    }
}

/// Waits until a run must stop. Returns the limit if its time is over, or `None` if the token is cancelled.
pub(super) async fn stopped(cancellation: &CancellationToken, limit: Option<TimeLimit>) -> Option<Exhausted> {
    let over = async {
        match limit {
            Some(TimeLimit { sleep, exhausted }) => {
                sleep.await;
                exhausted
            }
            None => pending().await,
        }
    };
    cancellation.run_until_cancelled(pin!(over)).await
}

/// Runs a future to its end. Cancels `token` if `stop` ends meanwhile, and returns the output of `stop` too.
pub(super) async fn cancelled_by<S: Future, F: Future>(
    stop: S,
    token: &CancellationToken,
    future: F,
) -> (F::Output, Option<S::Output>) {
    let (mut future, mut stop, mut stopped) = (pin!(future), pin!(stop), None);
    let output = poll_fn(|task| {
        if !token.is_cancelled()
            && let Poll::Ready(reason) = stop.as_mut().poll(task)
        {
            stopped = Some(reason);
            token.cancel();
        }
        future.as_mut().poll(task)
    })
    .await;
    (output, stopped)
}
