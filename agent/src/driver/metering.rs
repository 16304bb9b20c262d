//! Charges a run's budget.

use tools::protocol::{Message, Part};
use tools::{Content, ToolResult};

use super::{Driver, DriverError, RunContext};
use crate::run::BYTES_PER_TOKEN;
use crate::{Budget, BudgetError, Cost, Exhausted, Run, Spending, Step, Usage};

/// The bytes around each part of a message.
const PART_BYTES: u64 = 32;

/// The bytes of text that have about as many tokens as an image or a recording. Services do not count the bytes of its base64.
const MEDIA_BYTES: u64 = 6000;

impl Driver {
    /// Records the tokens of a request.
    pub(super) async fn record_usage(&self, usage: Option<Usage>, run_cx: &RunContext<'_>) -> Result<(), DriverError> {
        let Some(usage) = usage else { return Ok(()) };
        run_cx.budget.record(Spending::tokens(usage.total(), self.cost(usage))).await.map_err(DriverError::Budget)
    }

    /// Charges the calls of a new turn. Calls beyond the budget are refused, and the run ends after the results of the turn.
    pub(super) async fn charge_calls(&self, run: &mut Run, run_cx: &RunContext<'_>) -> Result<(), DriverError> {
        let Step::Call(calls) = run.step() else { return Ok(()) };
        if charge(run_cx.budget, Spending::calls(calls.len() as u64)).await?.is_none() {
            return Ok(());
        }
        for pending in calls {
            if let Some(exhausted) = charge(run_cx.budget, Spending::calls(1)).await? {
                run.refuse(&pending.call.id, format!("{exhausted}, so this call was not run"));
                run.exhaust(exhausted);
            }
        }
        Ok(())
    }

    pub(super) fn cost(&self, usage: Usage) -> Cost {
        self.options.price.map_or_else(Cost::default, |price| price.cost(usage))
    }

    /// Estimates the tokens of a request that the service did not count, if a budget counts them. Returns `None` for a provider without
    /// a service.
    pub(super) fn estimated(&self, request: &[Message], turn: &Message, run_cx: &RunContext<'_>) -> Option<Usage> {
        self.wire().filter(|_| run_cx.budget.counts_tokens())?;
        Some(estimated_usage(self.definition_bytes(run_cx), request, turn))
    }

    /// Returns the bytes of the tools' definitions. Returns 0 for a provider without a format.
    pub(super) fn definition_bytes(&self, run_cx: &RunContext<'_>) -> u64 {
        self.wire_tools(run_cx.session.tools()).map_or(0, |tools| tools.definitions().len() as u64)
    }
}

/// Estimates the tokens of a turn from the sizes of the tools' definitions, the request's messages and the turn's message.
pub(crate) fn estimated_usage(definitions: u64, request: &[Message], turn: &Message) -> Usage {
    let input_tokens = (definitions + prompt_bytes(request)) / BYTES_PER_TOKEN;
    let output_tokens = prompt_bytes(std::slice::from_ref(turn)) / BYTES_PER_TOKEN;
    Usage { input_tokens, output_tokens, ..Usage::default() }
}

/// Returns the bytes of messages, as a measure of their tokens.
pub(super) fn prompt_bytes(messages: &[Message]) -> u64 {
    messages.iter().flat_map(|message| &message.parts).map(|part| PART_BYTES + part_bytes(part)).sum()
}

fn part_bytes(part: &Part) -> u64 {
    let bytes = match part {
        Part::Content(content) => return content_bytes(content),
        Part::ToolCall(call) => call.id.len() + call.name.len() + call.arguments.to_string().len(),
        Part::ToolResult { id, result, .. } => return id.len() as u64 + result_bytes(result),
        Part::Reasoning { text, opaque } => text.len() + if opaque.is_null() { 0 } else { opaque.to_string().len() },
        _ => 0,
    };
    bytes as u64
}

/// Returns the bytes of a result, as a measure of its tokens.
pub(super) fn result_bytes(result: &ToolResult) -> u64 {
    match (&result.content[..], &result.structured) {
        ([], Some(structured)) => structured.to_string().len() as u64,
        (content, _) => content.iter().map(content_bytes).sum(),
    }
}

fn content_bytes(content: &Content) -> u64 {
    match content {
        Content::Text { text } => text.len() as u64,
        Content::Image { .. } | Content::Audio { .. } => MEDIA_BYTES,
        other => other.described().len() as u64,
    }
}

/// Charges a budget. Returns the limit that refuses the charge, or `None` if it is granted.
pub(super) async fn charge(budget: &Budget, spending: Spending) -> Result<Option<Exhausted>, DriverError> {
    match budget.charge(spending).await {
        Ok(()) => Ok(None),
        Err(BudgetError::Exhausted(exhausted)) => Ok(Some(exhausted)),
        Err(error) => Err(DriverError::Budget(error)),
    }
}
