//! Asking again: after errors that may pass, with growing pauses, inside the deadline.

use std::future::Future;
use std::time::{Duration, Instant};

use agent::ProviderError;
use backon::{BackoffBuilder, ExponentialBuilder};

use crate::Patience;

/// What one attempt failed with.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) error: ProviderError,
    /// Whether the same request may fare better.
    pub(crate) may_pass: bool,
}

/// Attempts until one succeeds, fails for good, or the patience or the time is used up.
pub(crate) async fn repeated<T, F>(
    provider: &str,
    patience: &Patience,
    deadline: Option<Instant>,
    mut attempt: impl FnMut() -> F,
) -> Result<T, ProviderError>
where
    F: Future<Output = Result<T, Failure>>,
{
    let mut pauses = ExponentialBuilder::new()
        .with_min_delay(patience.first_delay)
        .with_max_delay(patience.longest_delay)
        .with_max_times(patience.retries)
        .with_jitter()
        .build();
    loop {
        let outcome = match deadline {
            Some(deadline) => tokio::time::timeout_at(deadline.into(), attempt()).await.map_err(|_| late(provider))?,
            None => attempt().await,
        };
        let Failure { error, may_pass } = match outcome {
            Ok(value) => return Ok(value),
            Err(failure) => failure,
        };
        let Some(pause) = pauses.next().filter(|_| may_pass) else { return Err(error) };
        let asked = asked_pause(&error);
        let pause = pause.min(patience.longest_delay).max(asked);
        let is_late =
            deadline.is_some_and(|deadline| Instant::now().checked_add(pause).is_none_or(|end| end >= deadline));
        if asked > patience.longest_delay || is_late {
            return Err(error);
        }
        tokio::time::sleep(pause).await;
    }
}

fn asked_pause(error: &ProviderError) -> Duration {
    match error {
        ProviderError::Status { retry_after: Some(asked), .. } => *asked,
        _ => Duration::ZERO,
    }
}

fn late(provider: &str) -> ProviderError {
    ProviderError::Timeout { provider: provider.to_owned(), message: "the deadline of the run passed".to_owned() }
}
