//! Retries requests after transient errors, with growing delays, until the deadline.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use agent::{FailureKind, ProviderError, RequestRetry, RetryPolicy, RetrySink};
use tokio::time;
use tools::call::delays;

/// The failure of one attempt.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) error: ProviderError,
    /// True if a retry of the same request may succeed.
    pub(crate) is_transient: bool,
}

impl Failure {
    /// Creates the failure of a turn that the service gave up for this reason, because it cannot read what the model wrote.
    pub(crate) fn unreadable_turn(provider: &str, reason: &str) -> Self {
        let message = format!("the service cannot read what the model wrote ({reason})");
        Self::transient(reported(provider, FailureKind::MalformedReply, message))
    }

    pub(crate) fn transient(error: ProviderError) -> Self {
        Self::new(error, true)
    }

    pub(crate) fn permanent(error: ProviderError) -> Self {
        Self::new(error, false)
    }

    pub(crate) fn new(error: ProviderError, is_transient: bool) -> Self {
        Self {
            error,
            is_transient,
        }
    }

    /// Returns true if the service cannot read what the model wrote. A model often writes the same again.
    pub(crate) fn is_unreadable_turn(&self) -> bool {
        match &self.error {
            ProviderError::Status { kind, .. } | ProviderError::Reported { kind, .. } => {
                *kind == FailureKind::MalformedReply
            }
            _ => false,
        }
    }
}

/// Returns an error that no reply of the service stated with a status.
pub(crate) fn reported(provider: &str, kind: FailureKind, message: String) -> ProviderError {
    ProviderError::Reported {
        provider: provider.to_owned(),
        kind,
        status: None,
        message,
        retry_after: None,
    }
}

/// The most retries after a turn that the service cannot read.
const UNREADABLE_RETRIES: u32 = 1;

/// Makes attempts until one succeeds, fails permanently, or the retries or the time are used up. Reports each retry before its
/// wait, with the information whether it withdraws text that was sent.
pub(crate) async fn retry<T, F>(
    provider: &str,
    policy: &RetryPolicy,
    deadline: Option<Instant>,
    retries: Option<RetrySink<'_>>,
    is_sent: &AtomicBool,
    mut attempt: impl FnMut() -> F,
) -> Result<T, ProviderError>
where
    F: Future<Output = Result<T, Failure>>,
{
    let deadline = deadline.map(time::Instant::from_std);
    let mut delays = (1..).zip(delays(
        policy.first_delay,
        policy.longest_delay,
        policy.max_retries,
    ));
    loop {
        let outcome = match deadline {
            // A retry has no time of its own: the deadline is that of the run.
            Some(deadline) => time::timeout_at(deadline, attempt())
                .await
                .map_err(|_| deadline_error(provider))?,
            None => attempt().await,
        };
        let failure = match outcome {
            Ok(value) => return Ok(value),
            Err(failure) => failure,
        };
        let most = if failure.is_unreadable_turn() {
            UNREADABLE_RETRIES
        } else {
            u32::MAX
        };
        let next = delays
            .next()
            .filter(|(number, _)| failure.is_transient && *number <= most);
        let Some((number, delay)) = next else {
            return Err(failure.error);
        };
        let requested = requested_delay(&failure.error);
        let delay = delay.min(policy.longest_delay).max(requested);
        let is_late = deadline.is_some_and(|deadline| {
            time::Instant::now()
                // A service may ask for a pause without end, which no clock can hold.
                .checked_add(delay)
                .is_none_or(|end| end >= deadline)
        });
        // An earlier attempt than the service asked for would be refused again, and a later one than the deadline is no attempt.
        if requested > policy.longest_delay || is_late {
            return Err(failure.error);
        }
        if let Some(retries) = retries {
            let most = most.min(u32::try_from(policy.max_retries).unwrap_or(u32::MAX));
            let wait_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
            let mut retry = RequestRetry::new(number, most, wait_ms, &failure.error);
            retry.withdraws_text = is_sent.swap(false, Ordering::Relaxed);
            retries(retry);
        }
        time::sleep(delay).await;
    }
}

fn requested_delay(error: &ProviderError) -> Duration {
    match error {
        ProviderError::Status { retry_after, .. } | ProviderError::Reported { retry_after, .. } => {
            retry_after.unwrap_or_default()
        }
        _ => Duration::ZERO,
    }
}

fn deadline_error(provider: &str) -> ProviderError {
    ProviderError::Timeout {
        provider: provider.to_owned(),
        message: "the run reached its deadline".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use agent::FailureKind;

    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn policy() -> RetryPolicy {
        let mut policy = RetryPolicy::default();
        (policy.max_retries, policy.first_delay, policy.longest_delay) = (3, 100 * MS, 1000 * MS);
        policy
    }

    fn busy(retry_after: Option<Duration>) -> Failure {
        let (provider, message, kind) =
            ("x".to_owned(), "busy".to_owned(), FailureKind::Overloaded);
        Failure {
            error: ProviderError::Status {
                provider,
                status: 503,
                kind,
                message,
                retry_after,
            },
            is_transient: true,
        }
    }

    /// Returns the delays between attempts that all fail, and the final error.
    async fn delays_of(
        policy: RetryPolicy,
        deadline: Option<Duration>,
        fail: impl Fn() -> Failure,
    ) -> (Vec<Duration>, ProviderError) {
        let mut moments = Vec::new();
        let deadline = deadline.map(|after| (time::Instant::now() + after).into_std());
        let outcome: Result<(), _> = retry(
            "x",
            &policy,
            deadline,
            None,
            &AtomicBool::new(false),
            || {
                moments.push(time::Instant::now());
                std::future::ready(Err(fail()))
            },
        )
        .await;
        (
            moments.windows(2).map(|pair| pair[1] - pair[0]).collect(),
            outcome.unwrap_err(),
        )
    }

    #[tokio::test(start_paused = true)]
    async fn each_delay_is_twice_as_long_with_jitter() {
        let (delays, error) = delays_of(policy(), None, || busy(None)).await;
        assert!(
            matches!(error, ProviderError::Status { status: 503, .. }),
            "{error:?}"
        );
        assert_eq!(delays.len(), 3, "{delays:?}");
        for (delay, least) in delays.iter().zip([100, 200, 400]) {
            assert!(
                (least * MS..=2 * least * MS + MS).contains(delay),
                "{delays:?}"
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn no_delay_is_longer_than_the_maximum() {
        let mut slow = policy();
        slow.first_delay = 900 * MS;
        let (delays, _) = delays_of(slow, None, || busy(None)).await;
        assert!(
            delays.len() == 3 && delays.iter().all(|delay| *delay <= 1001 * MS),
            "{delays:?}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn the_delay_that_a_service_requests_is_kept_unless_it_is_too_long() {
        let (kept, _) = delays_of(policy(), None, || busy(Some(950 * MS))).await;
        assert!(
            kept.len() == 3 && kept.iter().all(|delay| *delay >= 950 * MS),
            "{kept:?}"
        );
        let (kept, _) = delays_of(policy(), None, || busy(Some(1001 * MS))).await;
        assert!(kept.is_empty(), "{kept:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn no_attempt_begins_after_the_deadline() {
        let start = time::Instant::now();
        let (delays, error) = delays_of(policy(), Some(250 * MS), || busy(None)).await;
        assert_eq!(delays.len(), 1, "{delays:?}");
        assert!(
            start.elapsed() < 250 * MS && matches!(error, ProviderError::Status { .. }),
            "{error:?}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn an_attempt_ends_at_the_deadline() {
        let start = time::Instant::now();
        let deadline = Some((start + 250 * MS).into_std());
        let never = || std::future::pending::<Result<(), Failure>>();
        let error = retry(
            "x",
            &policy(),
            deadline,
            None,
            &AtomicBool::new(false),
            never,
        )
        .await
        .unwrap_err();
        assert!(matches!(error, ProviderError::Timeout { .. }), "{error:?}");
        assert!((250 * MS..300 * MS).contains(&start.elapsed()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_permanent_failure_is_attempted_once() {
        let (delays, _) = delays_of(policy(), None, || Failure {
            is_transient: false,
            ..busy(None)
        })
        .await;
        assert!(delays.is_empty(), "{delays:?}");
    }
}
