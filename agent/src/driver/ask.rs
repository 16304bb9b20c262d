//! Asking a provider: its panic goes no further, be it made, polled or dropped.

use tools::call::{Isolated, Panic};

use crate::{Provider, ProviderError, Request, Turn};

pub(super) async fn ask(provider: &dyn Provider, request: Request<'_>) -> Result<Turn, ProviderError> {
    let turn = Isolated::new(|| provider.complete(request)).await;
    turn.unwrap_or_else(|Panic(message)| Err(ProviderError::Panicked { provider: name_of(provider), message }))
}

/// A provider that panics may do so again when it is asked for its name.
fn name_of(provider: &dyn Provider) -> String {
    Panic::catch(|| provider.name().to_owned()).unwrap_or_else(|_| "(without a name)".to_owned())
}
