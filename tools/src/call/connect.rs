//! Connect: waits until a call can be handed over. An intent is recorded after it, so a call without an intent has surely no effect.

use super::clock::before_deadline;
use crate::context::CallScope;
use crate::handler::ConnectFuture;
use crate::isolate::{Isolated, Panic};
use crate::{ToolError, ToolErrorKind};

/// Waits for the handler until the call's deadline or cancellation, and catches its panics.
pub(super) async fn wait(call: &CallScope, connecting: ConnectFuture<'_>) -> Result<(), ToolError> {
    match before_deadline(call, Isolated::new(|| connecting)).await? {
        Ok(connected) => connected,
        Err(Panic(message)) => Err(ToolErrorKind::Panicked { message }.into()),
    }
}
