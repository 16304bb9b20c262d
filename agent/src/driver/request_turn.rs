//! Checks and requests a turn, and catches the provider's panics.

use tools::call::{Isolated, Panic};
use tools::protocol::wire::Format;

use crate::{Provider, ProviderError, Request, ToolSet, Turn, WireToolSet};

/// Requests a turn. A panic while the future is created, polled or dropped becomes [`ProviderError::Panicked`].
pub(super) async fn request_turn(provider: &dyn Provider, request: Request<'_>) -> Result<Turn, ProviderError> {
    let turn = Isolated::new(|| provider.complete(request)).await;
    turn.unwrap_or_else(|Panic(message)| Err(ProviderError::Panicked { provider: name_of(provider), message }))
}

/// Returns an error if the provider will refuse the request each time, or panics.
pub(super) fn check(provider: &dyn Provider, request: Request<'_>) -> Result<(), ProviderError> {
    let checked = Panic::catch(|| provider.check(request));
    checked.unwrap_or_else(|Panic(message)| Err(ProviderError::Panicked { provider: name_of(provider), message }))
}

/// Returns the format in which the provider's model knows the tools. Returns `None` if it knows their own names, or after a panic.
pub(super) fn wire(provider: &dyn Provider) -> Option<Format> {
    Panic::catch(|| provider.wire()).ok().flatten()
}

/// Returns the tokens of the model's context. Returns `None` if they are unknown, or after a panic.
pub(super) fn context_tokens(provider: &dyn Provider) -> Option<u64> {
    Panic::catch(|| provider.context_tokens()).ok().flatten()
}

/// Returns true if the tokens of requests are estimated. Also returns true after a panic.
pub(super) fn is_metered(provider: &dyn Provider) -> bool {
    Panic::catch(|| provider.is_metered()).unwrap_or(true)
}

/// Returns the tools of a set in the form in which the provider sends them. Returns `None` if it sends those of the catalog, or after a
/// panic.
pub(super) fn wire_tools<'s>(provider: &dyn Provider, tools: &'s ToolSet) -> Option<&'s WireToolSet> {
    Panic::catch(|| provider.wire_tools(tools)).ok().flatten()
}

/// Returns the name of the provider. `name` may panic as well.
fn name_of(provider: &dyn Provider) -> String {
    Panic::catch(|| provider.name().to_owned()).unwrap_or_else(|_| "(without a name)".to_owned())
}
