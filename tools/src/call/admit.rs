//! Admit: what the call needs of the limits and of the world, taken at once.

use protocol::Target;

use super::clock::before_deadline;
use crate::admission::{Permit, Key, Refused, Request};
use crate::context::{CallScope, QueueNumber};
use crate::{Entry, ToolContext, ToolErrorKind};

/// What the call may conflict with others about.
pub(super) fn keys(caller: &ToolContext, targets: &[Target]) -> Vec<Key> {
    if targets.is_empty() {
        return Vec::new();
    }
    targets.iter().map(|target| Key::new(target, caller.domain(target.scheme()))).collect()
}

/// Lets a call through that touches nothing and whose tool has no limits. Returns `None` for any other call, and if this one would
/// have to wait.
pub(super) fn enter<'a>(entry: &'a Entry, call: &CallScope, keys: &[Key]) -> Option<Permit<'a>> {
    let is_free = keys.is_empty() && entry.limiter().is_none();
    is_free.then(|| entry.admission().enter(call.caller.call().is_some())).flatten()
}

/// Puts the call into the queue: [`wait`] until it runs. When the permit is dropped, it gives back everything that the call was let
/// through with.
///
/// # Errors
/// Returns [`ToolErrorKind::Overloaded`] if the queue is full, or a nested call may not wait.
pub(super) fn register<'a>(entry: &'a Entry, call: &CallScope, keys: Vec<Key>) -> Result<Permit<'a>, ToolErrorKind> {
    let admission = entry.admission();
    let is_nested = call.caller.call().is_some();
    let around = call.outer_queue_numbers();
    let is_own = |number: &&QueueNumber| number.admission == admission.number();
    let own: Vec<_> = around.iter().filter(is_own).map(|number| number.call).collect();
    let has_foreign = own.len() < around.len();
    let request = Request { keys, limiter: entry.limiter().cloned(), is_nested, has_foreign, around: &own };
    let permit = admission.register(request).map_err(overloaded)?;
    if let Some(number) = permit.id() {
        call.queue_number.get_or_init(|| QueueNumber { admission: admission.number(), call: number });
    }
    Ok(permit)
}

/// Waits until the call runs.
///
/// # Errors
/// Returns [`ToolErrorKind::Overloaded`] if it would wait for its tool's rate beyond its deadline, and the errors of waiting.
pub(super) async fn wait(call: &CallScope, permit: &Permit<'_>) -> Result<(), ToolErrorKind> {
    before_deadline(call, permit.wait(call.deadline)).await?.map_err(overloaded)
}

fn overloaded(Refused { retry_after }: Refused) -> ToolErrorKind {
    ToolErrorKind::Overloaded { retry_after: Some(retry_after) }
}
