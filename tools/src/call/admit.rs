//! Admit: what the call needs of the limits and of the world, taken at once.

use std::sync::Arc;

use protocol::Target;

use super::clock::within;
use crate::admission::{Admitted, Key, Refused, Request};
use crate::context::{CallScope, Spot, Ticket};
use crate::{Entry, ToolContext, ToolErrorKind};

/// What the call may conflict with others about.
pub(super) fn keys(caller: &ToolContext, targets: &[Target]) -> Vec<Key> {
    if targets.is_empty() {
        return Vec::new();
    }
    targets.iter().map(|target| Key::new(target, caller.domain(target.scheme()))).collect()
}

/// Lets a call through that touches nothing and whose tool has no limits, unless it would have to wait.
pub(super) fn enter<'a>(entry: &'a Entry, call: &CallScope, keys: &[Key]) -> Option<Admitted<'a>> {
    if !keys.is_empty() || entry.limiter().is_some() {
        return None;
    }
    let Some(outer) = call.caller.call() else { return entry.admission().enter(false) };
    if let Some(around) = outer.held.get() {
        call.held.get_or_init(|| around.clone());
    }
    entry.admission().enter(true)
}

/// Lets the call through, in its turn. What it was let through with is given back when this is dropped.
///
/// # Errors
/// [`ToolErrorKind::Overloaded`] when the queue is full, or when a nested call may not wait; and what waiting can end with.
pub(super) async fn queue<'a>(
    entry: &'a Arc<Entry>,
    call: &CallScope,
    keys: Vec<Key>,
    spot: Option<Spot>,
) -> Result<Admitted<'a>, ToolErrorKind> {
    if let Some(spot) = &spot {
        within(call, spot.come()).await?;
    }
    let admission = entry.admission();
    let overloaded = |Refused { retry_after }| ToolErrorKind::Overloaded { retry_after: Some(retry_after) };
    let outer = call.caller.call();
    let around = outer.and_then(|outer| outer.held.get()).map_or(&[][..], |around| around);
    let own: Vec<_> =
        around.iter().filter(|ticket| ticket.admission == admission.number()).map(|ticket| ticket.call).collect();
    let request = Request {
        keys,
        limiter: entry.limiter().cloned(),
        is_nested: outer.is_some(),
        has_foreign: own.len() < around.len(),
        around: &own,
    };
    let admitted = admission.register(request).map_err(overloaded)?;
    drop(spot);
    if !admitted.is_running() {
        within(call, admitted.wait(call.deadline)).await?.map_err(overloaded)?;
    }
    let ticket = admitted.id().map(|call| Ticket { admission: admission.number(), call });
    call.held.get_or_init(|| around.iter().copied().chain(ticket).collect());
    Ok(admitted)
}
