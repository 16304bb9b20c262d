//! Asking a provider: its panic goes no further.

use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use crate::{Provider, ProviderError, Request, Turn};

pub(super) async fn ask(provider: &dyn Provider, request: Request<'_>) -> Result<Turn, ProviderError> {
    // Inside, so that a provider that panics before it gives its future is caught as well.
    let mut turn = pin!(async move { provider.complete(request).await });
    poll_fn(|task| match catch_unwind(AssertUnwindSafe(|| turn.as_mut().poll(task))) {
        Ok(poll) => poll,
        Err(panic) => Poll::Ready(Err(ProviderError::Panicked {
            provider: provider.name().to_owned(),
            message: panic_message(&*panic),
        })),
    })
    .await
}

/// What a panic said.
pub(super) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without a message").to_owned()
}
