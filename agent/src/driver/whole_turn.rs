//! Requests a turn that belongs to no run.

use std::borrow::Cow;

use super::DriverError;
use super::metering::Meter;
use crate::budget::Spending;
use crate::provider::{Provider, Request, StopReason, Turn};

impl Meter<'_> {
    /// Charges a step and requests a turn. A turn that the service pauses is requested again until it is whole. Each of these requests
    /// is a step as well. Returns `None` if the request is cancelled.
    ///
    /// # Errors
    /// Returns the errors of [`request`](Self::request), and [`DriverError::Budget`] if no step is left.
    pub(crate) async fn whole_turn(
        &self,
        provider: &dyn Provider,
        request: Request<'_>,
    ) -> Option<Result<Turn, DriverError>> {
        let mut messages = Cow::Borrowed(request.messages);
        let mut paused: Option<Turn> = None;
        loop {
            if let Err(error) = self.budget.charge(Spending::steps(1)).await {
                return Some(Err(DriverError::Budget(error)));
            }
            let request = Request {
                messages: &messages,
                ..request
            };
            let turn = match self.request(provider, request).await? {
                Ok(turn) => turn,
                Err(error) => return Some(Err(error)),
            };
            // A pause with calls waits for their results, which nobody makes here.
            let goes_on = turn.stop == StopReason::Paused && turn.message.calls().next().is_none();
            if goes_on {
                messages.to_mut().push(turn.message.clone());
            }
            let whole = match paused.take() {
                Some(paused) => join_turns(paused, turn),
                None => turn,
            };
            if !goes_on {
                return Some(Ok(whole));
            }
            paused = Some(whole);
        }
    }
}

/// Returns a paused turn without calls, and the turn that goes on with it, as one.
fn join_turns(paused: Turn, mut turn: Turn) -> Turn {
    turn.message.parts.splice(..0, paused.message.parts);
    turn.usage = match (paused.usage, turn.usage) {
        (Some(usage), Some(more)) => Some(usage + more),
        (usage, more) => usage.or(more),
    };
    turn
}
