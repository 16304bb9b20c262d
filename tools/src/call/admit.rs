//! Admit: waits for concurrency limits, rate limits and conflicting calls, and takes a permit.

use protocol::{Access, Target};

use super::clock::before_deadline;
use crate::admission::{Key, Permit, Refused, Request};
use crate::context::{CallScope, QueueNumber, ToolContext};
use crate::entry::Entry;
use crate::tool_error::ToolErrorKind;
use crate::trees::Trees;

/// The scheme of programs, which touch more than their own target.
const PROGRAM: &str = "exec";

/// Returns the keys of the call's targets, by which conflicts with other calls are found. A program also has those of the paths that it
/// may write. A call that delegates has none: the calls of its delegate have keys of their own.
pub(super) fn keys(entry: &Entry, caller: &ToolContext, targets: &[Target]) -> Vec<Key> {
    // Keys of a call that delegates would make each call of its sub-agent one inside of it, and refuse those that need more.
    if targets.is_empty() || entry.tool().limits.delegates {
        return Vec::new();
    }
    let mut keys: Vec<_> = targets.iter().map(|target| key(caller, target)).collect();
    // Nobody knows what a program writes before it runs, so it conflicts with all that it may write.
    if targets.iter().any(|target| target.scheme() == PROGRAM) {
        let written = Trees::from_grant(caller.grant(), Access::Write);
        let written = written.targets(Access::Write);
        keys.extend(written.map(|target| key(caller, &target)));
    }
    keys
}

fn key(caller: &ToolContext, target: &Target) -> Key {
    Key::new(target, caller.domain(target.scheme()))
}

/// Admits a call without targets and without limits of its tool. Returns `None` for any other call, or if this call would have to
/// wait.
pub(super) fn enter<'a>(entry: &'a Entry, call: &CallScope, keys: &[Key]) -> Option<Permit<'a>> {
    let is_free = keys.is_empty() && entry.limiter.is_none();
    is_free
        .then(|| entry.admission().enter(call.caller.call().is_some()))
        .flatten()
}

/// Enqueues the call; [`wait`] then waits until it may run. Dropping the permit releases its slots and keys.
///
/// # Errors
/// Returns [`ToolErrorKind::Overloaded`] if the queue is full, or if a nested call would have to wait for a call that may wait for it.
pub(super) fn register<'a>(
    entry: &'a Entry,
    call: &CallScope,
    keys: Vec<Key>,
) -> Result<Permit<'a>, ToolErrorKind> {
    let admission = entry.admission();
    let is_nested = call.caller.call().is_some();
    let outer_calls = call.outer_queue_numbers();
    let own: Vec<_> = outer_calls
        .iter()
        .filter(|number| number.admission == admission.number)
        .map(|number| number.call)
        .collect();
    let has_foreign = own.len() < outer_calls.len();
    let request = Request {
        keys,
        limiter: entry.limiter.clone(),
        is_nested,
        has_foreign,
        outer_calls: &own,
    };
    let permit = admission.register(request).map_err(refuse)?;
    if let Some(number) = permit.id() {
        call.queue_number.get_or_init(|| QueueNumber {
            admission: admission.number,
            call: number,
        });
    }
    Ok(permit)
}

/// Waits until the call may run.
///
/// # Errors
/// - [`ToolErrorKind::Overloaded`] if the tool's rate limit allows no start before the deadline, or a nested call may not wait.
/// - [`ToolErrorKind::Cancelled`] or [`ToolErrorKind::Timeout`] if the call ends first.
pub(super) async fn wait(call: &CallScope, permit: &Permit<'_>) -> Result<(), ToolErrorKind> {
    before_deadline(call, permit.wait(call.deadline.at()))
        .await?
        .map_err(refuse)
}

fn refuse(Refused { retry_after }: Refused) -> ToolErrorKind {
    ToolErrorKind::Overloaded {
        retry_after: Some(retry_after),
    }
}

pub(super) fn supply(entry: &Entry, cx: &ToolContext) -> Result<(), ToolErrorKind> {
    if entry.needs().is_empty() {
        return Ok(());
    }
    let unmet = cx.services().unmet(entry.needs());
    if unmet.is_empty() {
        return Ok(());
    }
    Err(cx.services().lack_of(&unmet))
}
