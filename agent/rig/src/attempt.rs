//! Asking again: after errors that may pass, with growing pauses, inside the deadline.

use std::future::Future;
use std::time::{Duration, Instant};

use agent::ProviderError;
use tokio::time;
use tools::call::delays;

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
    let deadline = deadline.map(time::Instant::from_std);
    let mut pauses = delays(patience.first_delay, patience.longest_delay, patience.retries);
    loop {
        let outcome = match deadline {
            Some(deadline) => time::timeout_at(deadline, attempt()).await.map_err(|_| late(provider))?,
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
            deadline.is_some_and(|deadline| time::Instant::now().checked_add(pause).is_none_or(|end| end >= deadline));
        if asked > patience.longest_delay || is_late {
            return Err(error);
        }
        time::sleep(pause).await;
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

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn patience() -> Patience {
        let mut patience = Patience::default();
        (patience.retries, patience.first_delay, patience.longest_delay) = (3, 100 * MS, 1000 * MS);
        patience
    }

    fn busy(retry_after: Option<Duration>) -> Failure {
        let (provider, message) = ("x".to_owned(), "busy".to_owned());
        Failure { error: ProviderError::Status { provider, status: 503, message, retry_after }, may_pass: true }
    }

    /// What came of attempts that all fail like this, and the pauses between them.
    async fn pauses(
        patience: Patience,
        deadline: Option<Duration>,
        fail: impl Fn() -> Failure,
    ) -> (Vec<Duration>, ProviderError) {
        let mut moments = Vec::new();
        let deadline = deadline.map(|after| (time::Instant::now() + after).into_std());
        let outcome: Result<(), _> = repeated("x", &patience, deadline, || {
            moments.push(time::Instant::now());
            std::future::ready(Err(fail()))
        })
        .await;
        (moments.windows(2).map(|pair| pair[1] - pair[0]).collect(), outcome.unwrap_err())
    }

    #[tokio::test(start_paused = true)]
    async fn each_pause_is_twice_as_long_with_some_chance_in_it() {
        let (pauses, error) = pauses(patience(), None, || busy(None)).await;
        assert!(matches!(error, ProviderError::Status { status: 503, .. }), "{error:?}");
        assert_eq!(pauses.len(), 3, "{pauses:?}");
        for (pause, least) in pauses.iter().zip([100, 200, 400]) {
            assert!((least * MS..=2 * least * MS + MS).contains(pause), "{pauses:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn no_pause_is_longer_than_the_longest() {
        let mut patient = patience();
        patient.first_delay = 900 * MS;
        let (pauses, _) = pauses(patient, None, || busy(None)).await;
        assert!(pauses.len() == 3 && pauses.iter().all(|pause| *pause <= 1001 * MS), "{pauses:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn the_pause_that_a_service_asks_for_is_kept_unless_it_is_too_long() {
        let (kept, _) = pauses(patience(), None, || busy(Some(950 * MS))).await;
        assert!(kept.len() == 3 && kept.iter().all(|pause| *pause >= 950 * MS), "{kept:?}");
        let (kept, _) = pauses(patience(), None, || busy(Some(1001 * MS))).await;
        assert!(kept.is_empty(), "{kept:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn no_attempt_begins_after_the_deadline() {
        let start = time::Instant::now();
        let (pauses, error) = pauses(patience(), Some(250 * MS), || busy(None)).await;
        assert_eq!(pauses.len(), 1, "{pauses:?}");
        assert!(start.elapsed() < 250 * MS && matches!(error, ProviderError::Status { .. }), "{error:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn an_attempt_ends_at_the_deadline() {
        let start = time::Instant::now();
        let deadline = Some((start + 250 * MS).into_std());
        let never = || std::future::pending::<Result<(), Failure>>();
        let error = repeated("x", &patience(), deadline, never).await.unwrap_err();
        assert!(matches!(error, ProviderError::Timeout { .. }), "{error:?}");
        assert!((250 * MS..300 * MS).contains(&start.elapsed()));
    }

    #[tokio::test(start_paused = true)]
    async fn what_will_not_pass_is_attempted_once() {
        let (pauses, _) = pauses(patience(), None, || Failure { may_pass: false, ..busy(None) }).await;
        assert!(pauses.is_empty(), "{pauses:?}");
    }
}
