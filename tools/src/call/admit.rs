//! Admit: what the call needs of the limits and of the world, taken at once.

use protocol::Target;

use super::clock::within;
use crate::admission::{Admitted, Key, Refused, Request};
use crate::context::{CallScope, Ticket};
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
pub(super) fn enter<'a>(entry: &'a Entry, call: &CallScope, keys: &[Key]) -> Option<Admitted<'a>> {
    let is_free = keys.is_empty() && entry.limiter().is_none();
    is_free.then(|| entry.admission().enter(call.caller.call().is_some())).flatten()
}

/// Puts the call into the queue: [`wait`] until it runs. When the permit is dropped, it gives back everything that the call was let
/// through with.
///
/// # Errors
/// Returns [`ToolErrorKind::Overloaded`] if the queue is full, or a nested call may not wait.
pub(super) fn register<'a>(entry: &'a Entry, call: &CallScope, keys: Vec<Key>) -> Result<Admitted<'a>, ToolErrorKind> {
    let admission = entry.admission();
    let is_nested = call.caller.call().is_some();
    let around = call.tickets_around();
    let is_own = |ticket: &&Ticket| ticket.admission == admission.number();
    let own: Vec<_> = around.iter().filter(is_own).map(|ticket| ticket.call).collect();
    let has_foreign = own.len() < around.len();
    let request = Request { keys, limiter: entry.limiter().cloned(), is_nested, has_foreign, around: &own };
    let admitted = admission.register(request).map_err(overloaded)?;
    if let Some(number) = admitted.id() {
        call.ticket.get_or_init(|| Ticket { admission: admission.number(), call: number });
    }
    Ok(admitted)
}

/// Waits until the call runs.
///
/// # Errors
/// Returns [`ToolErrorKind::Overloaded`] if it would wait for its tool's rate beyond its deadline, and the errors of waiting.
pub(super) async fn wait(call: &CallScope, admitted: &Admitted<'_>) -> Result<(), ToolErrorKind> {
    within(call, admitted.wait(call.deadline)).await?.map_err(overloaded)
}

fn overloaded(Refused { retry_after }: Refused) -> ToolErrorKind {
    ToolErrorKind::Overloaded { retry_after: Some(retry_after) }
}
