//! The questions to a provider besides a turn, with its panics caught.

use tools::call::Panic;
use tools::protocol::wire::Format;

use super::{GenerationOptions, Provider, ProviderError, Request};
use crate::{ToolSet, WireToolSet};

/// Returns an error if the provider will refuse the request each time, or panics.
pub(crate) fn check(provider: &dyn Provider, request: Request<'_>) -> Result<(), ProviderError> {
    let checked = Panic::catch(|| provider.check(request));
    checked.unwrap_or_else(|Panic(message)| {
        Err(ProviderError::Panicked {
            provider: name(provider),
            message,
        })
    })
}

/// Returns the format in which the provider's model knows the tools. Returns `None` if it knows their own names, or after a panic.
pub(crate) fn wire(provider: &dyn Provider) -> Option<Format> {
    Panic::catch(|| provider.wire()).ok().flatten()
}

/// Returns the tokens of the model's context. Returns `None` if they are unknown, or after a panic.
pub(crate) fn context_tokens(provider: &dyn Provider) -> Option<u64> {
    Panic::catch(|| provider.context_tokens()).ok().flatten()
}

/// Returns the tokens of the context that a request keeps free for its turn. Returns 0 after a panic.
pub(crate) fn reserved_tokens(provider: &dyn Provider) -> u64 {
    Panic::catch(|| provider.reserved_tokens()).unwrap_or_default()
}

/// Returns true if the tokens of requests are estimated. Also returns true after a panic.
pub(crate) fn is_metered(provider: &dyn Provider) -> bool {
    Panic::catch(|| provider.is_metered()).unwrap_or(true)
}

/// Returns the tools of a set in the form in which the provider sends them. Returns `None` if it sends those of the catalog, or after a
/// panic.
pub(crate) fn wire_tools<'s>(
    provider: &dyn Provider,
    tools: &'s ToolSet,
) -> Option<&'s WireToolSet> {
    Panic::catch(|| provider.wire_tools(tools)).ok().flatten()
}

/// Returns the name of the provider, or a substitute after a panic.
pub(crate) fn name(provider: &dyn Provider) -> String {
    Panic::catch(|| provider.name().to_owned()).unwrap_or_else(|_| "(without a name)".to_owned())
}

/// Returns the name of the service in spans, or that of the provider after a panic.
pub(crate) fn service_name(provider: &dyn Provider) -> String {
    Panic::catch(|| provider.service_name().to_owned()).unwrap_or_else(|_| name(provider))
}

/// Returns the configured model. Returns `None` if there is no model, or after a panic.
pub(crate) fn model(provider: &dyn Provider) -> Option<String> {
    Panic::catch(|| provider.model().map(str::to_owned))
        .ok()
        .flatten()
}

/// Returns the URL of the service. Returns `None` if there is none, or after a panic.
pub(crate) fn base_url(provider: &dyn Provider) -> Option<String> {
    Panic::catch(|| provider.base_url().map(str::to_owned))
        .ok()
        .flatten()
}

/// Returns the settings of the model's answers. Returns the default ones if there are none, or after a panic.
pub(crate) fn generation(provider: &dyn Provider) -> GenerationOptions {
    Panic::catch(|| provider.generation().cloned())
        .ok()
        .flatten()
        .unwrap_or_default()
}
