//! Retry: repeats a transient failure of an idempotent call.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use protocol::{Limits, ToolResult};
use tokio::time::Instant;

use super::clock::before_deadline;
use super::run;
use crate::context::{CallScope, ToolContext};
use crate::entry::Entry;
use crate::input::Input;
use crate::timer::timer;
use crate::tool_error::{ToolError, ToolErrorKind};

/// The first delay between attempts, without jitter.
const SHORTEST: Duration = Duration::from_millis(100);

/// The maximum delay between attempts, without jitter.
const LONGEST: Duration = Duration::from_secs(5);

/// Returns the delays before `times` retries: exponential backoff from `first`, doubled each time up to `longest`, plus a random jitter
/// of up to the same length.
pub fn delays(first: Duration, longest: Duration, times: usize) -> impl Iterator<Item = Duration> {
    let builder = ExponentialBuilder::new()
        .with_min_delay(first)
        .with_max_delay(longest)
        .with_jitter();
    builder.with_max_times(times).build()
}

/// Retries the handler after a first [transient](ToolErrorKind::Transient) failure, within the call's deadline.
///
/// The call keeps its permit. Each attempt takes a token of the tool's rate limit.
pub(super) async fn run(
    entry: &Entry,
    mut cx: ToolContext,
    arguments: Input,
    mut outcome: Result<ToolResult, ToolError>,
) -> Result<ToolResult, ToolError> {
    let count = entry
        .tool()
        .limits
        .max_retries
        .unwrap_or(Limits::DEFAULT_MAX_RETRIES);
    for wait in delays(
        SHORTEST,
        LONGEST,
        usize::try_from(count).unwrap_or(usize::MAX),
    ) {
        let Some(error) = outcome.as_ref().err().filter(|_| is_transient(&outcome)) else {
            return outcome;
        };
        let wait = error
            .retry_after()
            .map_or(wait, |requested| requested.max(wait));
        cx = cx.next_attempt();
        let Some(call) = cx.call().cloned() else {
            return outcome;
        };
        if !before_deadline(&call, pause(entry, &call, wait)).await? {
            return outcome;
        }
        outcome = run::run(entry, &call, cx.clone(), arguments.clone()).await;
    }
    outcome
}

/// Returns true if the tool may be retried. A pure tool is not, because its result depends only on its arguments.
pub(super) fn may_retry(entry: &Entry) -> bool {
    let tool = entry.tool();
    !tool.effects.is_pure() && tool.effects.is_idempotent() && tool.limits.max_retries != Some(0)
}

pub(super) fn is_transient(outcome: &Result<ToolResult, ToolError>) -> bool {
    outcome
        .as_ref()
        .is_err_and(|error| matches!(error.kind(), ToolErrorKind::Transient { .. }))
}

/// Waits for the delay and then for the tool's rate limit. Returns false as soon as the next attempt cannot start before the deadline.
async fn pause(entry: &Entry, call: &CallScope, wait: Duration) -> bool {
    let mut until = Instant::now().checked_add(wait);
    while let Some(next) = until {
        // Ends at once instead of at the deadline: the first error says more than a timeout.
        if next >= call.deadline.at() {
            return false;
        }
        let Some(timer) = timer(next) else {
            return false;
        };
        timer.await;
        until = entry
            .limiter
            .as_ref()
            .and_then(|limiter| limiter.take_token().err());
        if until.is_none() {
            return true;
        }
    }
    false
}
