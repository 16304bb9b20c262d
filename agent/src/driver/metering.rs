//! Charges a run's budget.

use tools::protocol::Message;

use super::{Driver, DriverError, RunContext};
use crate::{Budget, BudgetError, Cost, Exhausted, PendingCall, Run, Spending, Usage};

/// The bytes of JSON that make up about one token.
const BYTES_PER_TOKEN: usize = 4;

impl Driver {
    /// Records the tokens of a turn. If the service reports none, they are estimated from the sizes of the request and the turn.
    pub(super) async fn record_turn(
        &self,
        run: &Run,
        usage: Option<Usage>,
        run_cx: &RunContext<'_>,
    ) -> Result<(), DriverError> {
        let Some(usage) = usage.or_else(|| self.estimated(run, run_cx)) else { return Ok(()) };
        run_cx.budget.record(Spending::tokens(usage.total(), self.cost(usage))).await.map_err(DriverError::Budget)
    }

    /// Charges the calls of a turn. Calls beyond the budget are refused, and the run ends after the results of the turn.
    pub(super) async fn charge_calls(
        &self,
        run: &mut Run,
        calls: &mut [PendingCall],
        run_cx: &RunContext<'_>,
    ) -> Result<(), DriverError> {
        if charge(run_cx.budget, Spending::calls(calls.len() as u64)).await?.is_none() {
            return Ok(());
        }
        for pending in calls {
            if let Some(exhausted) = charge(run_cx.budget, Spending::calls(1)).await? {
                pending.refused.get_or_insert_with(|| format!("{exhausted}, so this call was not run"));
                run.exhaust(exhausted);
            }
        }
        Ok(())
    }

    pub(super) fn cost(&self, usage: Usage) -> Cost {
        self.options.price.map_or_else(Cost::default, |price| price.cost(usage))
    }

    /// Estimates the tokens of the last turn, if a budget counts them. Returns `None` for a provider without a service.
    fn estimated(&self, run: &Run, run_cx: &RunContext<'_>) -> Option<Usage> {
        let sent = self.wire_tools(run_cx.session.tools()).filter(|_| run_cx.budget.counts_tokens())?;
        let definitions = sent.definitions().len();
        let (turn, request) = run.messages().split_last()?;
        Some(estimated_usage(definitions, request, turn))
    }
}

/// Estimates the tokens of a turn from the sizes of the tools' definitions, the request's messages and the turn's message.
pub(crate) fn estimated_usage(definitions: usize, request: &[Message], turn: &Message) -> Usage {
    let bytes = |messages: &[Message]| serde_json::to_vec(messages).map_or(0, |json| json.len());
    let tokens = |bytes: usize| (bytes / BYTES_PER_TOKEN) as u64;
    let input_tokens = tokens(definitions + bytes(request));
    let output_tokens = tokens(bytes(std::slice::from_ref(turn)));
    Usage { input_tokens, output_tokens, ..Usage::default() }
}

/// Charges a budget. Returns the limit that refuses the charge, or `None` if it is granted.
pub(super) async fn charge(budget: &Budget, spending: Spending) -> Result<Option<Exhausted>, DriverError> {
    match budget.charge(spending).await {
        Ok(()) => Ok(None),
        Err(BudgetError::Exhausted(exhausted)) => Ok(Some(exhausted)),
        Err(error) => Err(DriverError::Budget(error)),
    }
}
