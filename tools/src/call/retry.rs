//! Retry: one more attempt, where a failure passes and to do it twice is as good as once.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use protocol::ToolResult;
use tokio::time::Instant;

use super::clock::within;
use super::run;
use crate::context::CallScope;
use crate::timer::timer;
use crate::{Entry, Input, ToolContext, ToolError, ToolErrorKind};

/// How often a call that failed in passing is repeated where its tool does not say and its effects allow it.
pub const DEFAULT_MAX_RETRIES: u32 = 2;

/// The first wait between two attempts; each further one is twice as long. Up to as much again is added at random, so that calls
/// which failed together do not come back together.
const SHORTEST: Duration = Duration::from_millis(100);

/// The longest wait, before that addition.
const LONGEST: Duration = Duration::from_secs(5);

/// Runs the handler, and runs it again after a [transient](ToolErrorKind::Transient) failure, inside of the one deadline. What the
/// call was admitted with it keeps; each attempt takes a token of its tool's rate. Dropping it ends all.
pub(super) async fn run(
    entry: &Entry,
    mut cx: ToolContext,
    mut arguments: Input,
    mut waits: impl Iterator<Item = Duration>,
) -> Result<ToolResult, ToolError> {
    loop {
        let (last, again) = (cx.clone(), arguments.clone());
        let call = cx.running()?.clone();
        let outcome = run::run(entry, &call, cx, arguments).await;
        let Some(wait) = wait_after(&outcome, &mut waits) else { return outcome };
        let next = last.next_attempt();
        let Some(call) = next.call() else { return outcome };
        if !within(call, pause(entry, call, wait)).await? {
            return outcome;
        }
        (cx, arguments) = (next, again);
    }
}

/// The waits before the attempts that a tool's calls may have after the first; `None` where there are none. The result of a pure tool
/// follows from its arguments, so it would only fail again.
pub(super) fn waits(entry: &Entry) -> Option<impl Iterator<Item = Duration> + use<>> {
    let tool = entry.tool();
    if tool.effects.is_pure() || !tool.effects.is_idempotent() {
        return None;
    }
    let count = tool.limits.max_retries.unwrap_or(DEFAULT_MAX_RETRIES);
    let builder = ExponentialBuilder::new().with_min_delay(SHORTEST).with_max_delay(LONGEST).with_jitter();
    (count > 0).then(|| builder.with_max_times(usize::try_from(count).unwrap_or(usize::MAX)).build())
}

/// How long to wait before the next attempt, if there may be one.
fn wait_after(outcome: &Result<ToolResult, ToolError>, waits: &mut impl Iterator<Item = Duration>) -> Option<Duration> {
    let error = outcome.as_ref().err().filter(|error| matches!(error.kind(), ToolErrorKind::Transient { .. }))?;
    let wait = waits.next()?;
    Some(error.retry_after().map_or(wait, |asked| asked.max(wait)))
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
