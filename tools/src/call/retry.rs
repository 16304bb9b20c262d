//! Retry: one more attempt, where a failure passes and to do it twice is as good as once.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use protocol::{Limits, ToolResult};
use tokio::time::Instant;

use super::clock::before_deadline;
use super::run;
use crate::context::CallScope;
use crate::timer::timer;
use crate::{Entry, Input, ToolContext, ToolError, ToolErrorKind};

/// The first wait between two attempts.
const SHORTEST: Duration = Duration::from_millis(100);

/// The longest wait, before that addition.
const LONGEST: Duration = Duration::from_secs(5);

/// Returns the delays before `times` repetitions: each is twice as long as the one before, up to `longest`. Up to as much again is
/// added at random, so that calls which failed together do not come back together.
pub fn delays(first: Duration, longest: Duration, times: usize) -> impl Iterator<Item = Duration> {
    let builder = ExponentialBuilder::new().with_min_delay(first).with_max_delay(longest).with_jitter();
    builder.with_max_times(times).build()
}

/// Runs the handler again after a first [transient](ToolErrorKind::Transient) failure, inside of the one deadline. The call keeps what
/// it was admitted with; each attempt takes a token of its tool's rate. Dropping the future ends all.
pub(super) async fn run(
    entry: &Entry,
    mut cx: ToolContext,
    arguments: Input,
    mut outcome: Result<ToolResult, ToolError>,
) -> Result<ToolResult, ToolError> {
    let count = entry.tool().limits.max_retries.unwrap_or(Limits::DEFAULT_MAX_RETRIES);
    for wait in delays(SHORTEST, LONGEST, usize::try_from(count).unwrap_or(usize::MAX)) {
        let Some(error) = outcome.as_ref().err().filter(|_| is_transient(&outcome)) else { return outcome };
        let wait = error.retry_after().map_or(wait, |asked| asked.max(wait));
        cx = cx.next_attempt();
        let Some(call) = cx.call().cloned() else { return outcome };
        if !before_deadline(&call, pause(entry, &call, wait)).await? {
            return outcome;
        }
        outcome = run::run(entry, &call, cx.clone(), arguments.clone()).await;
    }
    outcome
}

/// Returns true if a failure of the tool may be repeated. The result of a pure tool follows from its arguments, so it would only
/// fail again.
pub(super) fn may_retry(entry: &Entry) -> bool {
    let tool = entry.tool();
    !tool.effects.is_pure() && tool.effects.is_idempotent() && tool.limits.max_retries != Some(0)
}

pub(super) fn is_transient(outcome: &Result<ToolResult, ToolError>) -> bool {
    outcome.as_ref().is_err_and(|error| matches!(error.kind(), ToolErrorKind::Transient { .. }))
}

/// Waits, and then until the tool's rate allows another start. Gives whether there is time for it: an attempt that the deadline
/// would not let begin is not waited for.
async fn pause(entry: &Entry, call: &CallScope, wait: Duration) -> bool {
    let mut until = Instant::now().checked_add(wait);
    while let Some(next) = until {
        if next >= call.deadline {
            return false;
        }
        let Some(timer) = timer(next) else { return false };
        timer.await;
        until = entry.limiter().and_then(|limiter| limiter.take_token().err());
        if until.is_none() {
            return true;
        }
    }
    false
}
