//! The questions to a provider besides a turn, with its panics caught.

use tools::call::Panic;

use super::{Provider, ProviderError, ProviderInfo, Request};

/// Returns the facts about the provider, or those about one without a name after a panic.
pub(crate) fn about(provider: &dyn Provider) -> &ProviderInfo {
    static NAMELESS: ProviderInfo = ProviderInfo::new("(without a name)");
    Panic::catch(|| provider.about()).unwrap_or(&NAMELESS)
}

/// Returns an error if the provider will refuse the request each time, or panics.
pub(crate) fn check(provider: &dyn Provider, request: Request<'_>) -> Result<(), ProviderError> {
    let checked = Panic::catch(|| provider.check(request));
    checked.unwrap_or_else(|panic| Err(panicked(provider, panic)))
}

/// Returns the error of a provider that panicked.
pub(crate) fn panicked(provider: &dyn Provider, Panic(message): Panic) -> ProviderError {
    ProviderError::Panicked {
        provider: about(provider).name.to_string(),
        message,
    }
}
