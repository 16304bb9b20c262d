//! Stops a run when its budget has no time left.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use tokio::time::sleep_until;
use tools::CancellationToken;
use tools::call::Panic;

use super::DriverError;
use crate::{Budget, Exhausted};

/// Checks that the time of a budget can be measured, if it is limited.
///
/// # Errors
/// Returns [`DriverError::NoTimer`] if the runtime has no timers.
pub(super) fn check_timer(budget: &Budget) -> Result<(), DriverError> {
    let Some((end, _)) = budget.deadline() else {
        return Ok(());
    };
    // tokio panics if the time driver of the runtime is disabled.
    Panic::catch(|| drop(sleep_until(end))).map_err(|_| DriverError::NoTimer)
}

/// Waits until a run must stop. Returns the limit if its time is over, or `None` if the token is cancelled.
pub(super) async fn stopped(
    cancellation: &CancellationToken,
    budget: &Budget,
) -> Option<Exhausted> {
    cancellation.run_until_cancelled(budget.time_over()).await
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
