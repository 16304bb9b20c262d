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

/// Lets the call through if it need not wait, and puts it into the queue otherwise: [`wait`] until it runs. The permit gives back
/// everything that the call was let through with when it is dropped.
///
/// # Errors
/// Returns [`ToolErrorKind::Overloaded`] if the queue is full, or a nested call may not wait.
pub(super) fn enter<'a>(entry: &'a Entry, call: &CallScope, keys: Vec<Key>) -> Result<Admitted<'a>, ToolErrorKind> {
    let admission = entry.admission();
    let is_nested = call.caller.call().is_some();
    if keys.is_empty()
        && entry.limiter().is_none()
        && let Some(admitted) = admission.enter(is_nested)
    {
        return Ok(admitted);
    }
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
