//! Requests a turn, and catches the provider's panics.

use tools::ToolContext;
use tools::call::{Isolated, Panic};
use tracing::Instrument as _;

use crate::provider::guarded;
use crate::trace::{end_chat, open_chat};
use crate::{Provider, ProviderError, Request, Turn};

/// Requests a turn in a span. A panic while the future is created, polled or dropped becomes [`ProviderError::Panicked`].
pub(super) async fn request_turn(
    provider: &dyn Provider,
    request: Request<'_>,
    cx: &ToolContext,
) -> Result<Turn, ProviderError> {
    let open = open_chat(provider, &request, cx);
    let span = open.span().clone();
    let turn = async { Isolated::new(|| provider.complete(request)).await }
        .instrument(span)
        .await;
    let panicked = |Panic(message)| {
        Err(ProviderError::Panicked {
            provider: guarded::name(provider),
            message,
        })
    };
    let turn = turn.unwrap_or_else(panicked);
    end_chat(open, turn.as_ref(), &request, cx);
    turn
}
