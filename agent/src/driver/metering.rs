//! Charges a run's budget.

use std::ops::Range;
use std::slice::from_ref;
use std::sync::atomic::{AtomicU64, Ordering};

use tools::call::Isolated;
use tools::protocol::{Message, Part};
use tools::{Content, ToolContext, ToolResult};
use tracing::Instrument as _;

use super::{Driver, DriverError, RunContext};
use crate::budget::{Budget, BudgetError, Exhausted, Spending};
use crate::provider::{
    Cost, FailureKind, Provider, ProviderError, Request, TextSink, Turn, Usage, guarded,
};
use crate::run::{BYTES_PER_TOKEN, Compaction, Run, Step};
use crate::trace::{end_chat, open_chat};

/// The bytes around each part of a message.
const PART_BYTES: u64 = 32;

/// The bytes of text that have about as many tokens as an image or a recording. Services do not count the bytes of its base64.
const MEDIA_BYTES: u64 = 6000;

/// Requests turns and records their tokens in a budget.
pub(crate) struct Meter<'a> {
    /// The context of the run or the call that requests them.
    pub(crate) cx: &'a ToolContext,
    pub(crate) budget: &'a Budget,
    /// The bytes of the tools' definitions in each request.
    pub(crate) definitions: u64,
}

impl Meter<'_> {
    /// Requests a turn and records its tokens. Returns `None` if the request is cancelled.
    ///
    /// Tokens that the service does not report are estimated if the budget counts them: those of a turn without usage, the prompt of each
    /// attempt that failed after its reply had begun, and the text that was received of a turn that failed.
    ///
    /// # Errors
    /// Returns the error of the request, or [`DriverError::Budget`] if the tokens cannot be recorded.
    pub(crate) async fn request(
        &self,
        provider: &dyn Provider,
        request: Request<'_>,
    ) -> Option<Result<Turn, DriverError>> {
        let received = AtomicU64::new(0);
        let lost = AtomicU64::new(0);
        let count = |text: &str| {
            received.fetch_add(text.len() as u64, Ordering::Relaxed);
            request.text_sink.iter().for_each(|sink| sink(text));
        };
        let counted = Request {
            text_sink: request.text_sink.map(|_| &count as TextSink<'_>),
            lost_reply_sink: Some(&|| {
                lost.fetch_add(1, Ordering::Relaxed);
            }),
            ..request
        };
        let turn = request_turn(provider, counted, self.cx);
        let turn = request.cancellation.run_until_cancelled(turn).await;
        let received = received.into_inner();
        let lost = lost.into_inner();
        let usage = turn.as_ref().and_then(|turn| turn.as_ref().ok()?.usage);
        let mut usage = usage.unwrap_or_default();
        // Estimates cost a walk through the conversation.
        if self.budget.counts_tokens() && guarded::about(provider).is_metered {
            usage += self.estimate(request.messages, &turn, lost, received);
        }
        let recorded = self.record(provider, usage).await;
        turn.map(|turn| recorded.and(turn.map_err(DriverError::from)))
    }

    async fn record(&self, provider: &dyn Provider, usage: Usage) -> Result<(), DriverError> {
        if usage == Usage::default() {
            return Ok(());
        }
        let price = guarded::about(provider).price;
        let cost = price.map_or_else(Cost::default, |price| price.cost(usage));
        self.budget
            .record(Spending::tokens(usage.total(), cost))
            .await
            .map_err(DriverError::Budget)
    }

    /// Estimates the tokens that a request used and the service did not report: those of the attempts whose reply was lost, and of the
    /// last one, of which this many bytes were received.
    fn estimate(
        &self,
        request: &[Message],
        turn: &Option<Result<Turn, ProviderError>>,
        lost: u64,
        received: u64,
    ) -> Usage {
        let (attempts, reply) = match turn {
            Some(Ok(turn)) if turn.usage.is_some() => (lost, 0),
            Some(Ok(turn)) => (lost + 1, prompt_bytes(from_ref(&turn.message))),
            Some(Err(error)) => (
                // A provider that reports no lost replies may still have sent text.
                lost.max((received > 0 || is_interrupted(error)).into()),
                received,
            ),
            None => (lost + 1, received),
        };
        if attempts == 0 {
            return Usage::default();
        }
        let input_tokens =
            attempts.saturating_mul((self.definitions + prompt_bytes(request)) / BYTES_PER_TOKEN);
        Usage {
            input_tokens,
            output_tokens: reply / BYTES_PER_TOKEN,
            ..Usage::default()
        }
    }
}

/// Returns true if the service had probably begun its reply.
fn is_interrupted(error: &ProviderError) -> bool {
    matches!(error, ProviderError::Timeout { .. })
        || error.kind() == Some(FailureKind::MalformedReply)
}

impl Driver {
    /// Returns the meter of a run's requests.
    pub(super) fn meter<'a>(&self, run_cx: &RunContext<'a>) -> Meter<'a> {
        Meter {
            cx: run_cx.cx,
            budget: run_cx.budget,
            definitions: self.definition_bytes(run_cx),
        }
    }

    /// Charges the calls of a new turn. Calls beyond the budget are refused, and the run ends after the results of the turn.
    pub(super) async fn charge_calls(
        &self,
        run: &mut Run,
        run_cx: &RunContext<'_>,
    ) -> Result<(), DriverError> {
        let Step::Call(calls) = run.step() else {
            return Ok(());
        };
        let all = Spending::calls(calls.len() as u64);
        // Most turns fit, and a charge of all is one step of a shared window.
        if charge(run_cx.budget, all).await?.is_none() {
            return Ok(());
        }
        for pending in calls {
            if let Some(exhausted) = charge(run_cx.budget, Spending::calls(1)).await? {
                let reason = format!("{exhausted}, so this call was not run");
                run.refuse(&pending.call.id, reason);
                run.exhaust(exhausted);
            }
        }
        Ok(())
    }

    /// Returns the bytes of the tools' definitions. Returns 0 for a provider without a format.
    pub(super) fn definition_bytes(&self, run_cx: &RunContext<'_>) -> u64 {
        self.wire_tools(run_cx.tools)
            .map_or(0, |tools| tools.definitions().len() as u64)
    }
}

/// Returns the bytes of messages, as a measure of their tokens.
pub(super) fn prompt_bytes(messages: &[Message]) -> u64 {
    shown_bytes(messages, &Compaction::default())
}

/// Returns the bytes of messages with the notices in place of their results.
pub(super) fn shown_bytes(messages: &[Message], compaction: &Compaction) -> u64 {
    let parts = messages.iter().flat_map(|message| &message.parts);
    let bytes = parts.map(|part| match part {
        Part::ToolResult { id, result, .. } => {
            let notice = compaction.notice(id);
            let shown = notice.map_or_else(|| result_bytes(result), |notice| notice.len() as u64);
            PART_BYTES + id.len() as u64 + shown
        }
        part => PART_BYTES + part_bytes(part),
    });
    bytes.sum()
}

/// Returns the bytes of the [messages for the next request](Run::request_messages), without a copy of them. Counts only the messages
/// after the recorded ones.
pub(super) fn request_bytes(run: &Run) -> u64 {
    // Counted from the request before, so that a turn costs only its new messages.
    if let Some((bytes, added)) = run.recorded_bytes() {
        return bytes + shown_bytes(added, &run.compaction);
    }
    let (before, summary, after) = run.compaction.split(run.messages());
    let summary = summary.map_or(0, |text| PART_BYTES + text.len() as u64);
    shown_bytes(before, &run.compaction) + summary + shown_bytes(after, &run.compaction)
}

/// Returns the bytes of a request with this text in place of these messages.
pub(super) fn summarised_bytes(run: &Run, messages: Range<usize>, text: &str) -> u64 {
    let shown = |messages| shown_bytes(messages, &run.compaction);
    let before = shown(&run.messages()[..messages.start]);
    let after = shown(&run.messages()[messages.end..]);
    before + PART_BYTES + text.len() as u64 + after
}

fn part_bytes(part: &Part) -> u64 {
    let bytes = match part {
        Part::Content(content) => return content_bytes(content),
        Part::ToolCall(call) => call.id.len() + call.name.len() + call.arguments.to_string().len(),
        Part::Reasoning { text, opaque } => {
            let opaque = Some(opaque).filter(|opaque| !opaque.is_null());
            text.len() + opaque.map_or(0, |opaque| opaque.to_string().len())
        }
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
        other => other.describe().len() as u64,
    }
}

/// Charges a budget. Returns the limit that refuses the charge, or `None` if it is granted.
pub(super) async fn charge(
    budget: &Budget,
    spending: Spending,
) -> Result<Option<Exhausted>, DriverError> {
    match budget.charge(spending).await {
        Ok(()) => Ok(None),
        Err(BudgetError::Exhausted(exhausted)) => Ok(Some(exhausted)),
        Err(error) => Err(DriverError::Budget(error)),
    }
}

/// Requests a turn in a span. A panic while the future is created, polled or dropped becomes [`ProviderError::Panicked`].
async fn request_turn(
    provider: &dyn Provider,
    request: Request<'_>,
    cx: &ToolContext,
) -> Result<Turn, ProviderError> {
    let open = open_chat(guarded::about(provider), &request, cx);
    let span = open.span.clone();
    let turn = async { Isolated::new(|| provider.complete(request)).await }
        .instrument(span)
        .await;
    let turn = turn.unwrap_or_else(|panic| Err(guarded::panicked(provider, panic)));
    end_chat(open, turn.as_ref(), &request, cx);
    turn
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tools::ToolCall;
    use tools::protocol::Role;

    use super::*;

    #[test]
    fn a_request_is_measured_as_it_is_sent() {
        let mut messages = vec![
            Message::text(Role::System, "Be brief."),
            Message::text(Role::User, "Read."),
        ];
        for number in 0..9 {
            let call = ToolCall::new(format!("c{number}"), "read", json!({"number": number}));
            let result = Part::ToolResult {
                id: call.id.clone(),
                name: call.name.clone(),
                result: ToolResult::text("long ".repeat(99)),
            };
            messages.push(Message {
                role: Role::Assistant,
                parts: vec![Part::ToolCall(call)],
            });
            messages.push(Message {
                role: Role::Tool,
                parts: vec![result],
            });
        }
        let mut run = Run::new(messages);
        let mut sizes = vec![request_bytes(&run)];
        for id in ["c1", "c5", "c7"] {
            run.compaction
                .replace(id.to_owned(), format!("[handle {id}]"));
            sizes.push(request_bytes(&run));
            assert_eq!(sizes.last(), Some(&prompt_bytes(&run.request_messages())));
        }
        run.summarise(2..14, "A summary.".to_owned(), String::new());
        sizes.push(request_bytes(&run));
        assert_eq!(sizes.last(), Some(&prompt_bytes(&run.request_messages())));
        assert!(
            sizes.is_sorted_by(|before, after| before > after),
            "{sizes:?}"
        );
    }

    #[test]
    fn a_request_after_a_counted_one_is_measured_as_it_is_sent() {
        let mut run = Run::new(vec![Message::text(Role::User, "Read.")]);
        let is_exact =
            |run: &Run| assert_eq!(request_bytes(run), prompt_bytes(&run.request_messages()));
        for id in ["c1", "c2", "c3", "c4"] {
            run.record_bytes(request_bytes(&run));
            run.add_note("A note.");
            is_exact(&run);
            run.record_bytes(request_bytes(&run));
            run.turn(Turn::calls([ToolCall::new(
                id,
                "read",
                json!({"path": "a.txt"}),
            )]))
            .unwrap();
            is_exact(&run);
            run.result(
                id,
                ToolResult::structured(json!({"text": "long ".repeat(99)})),
            )
            .unwrap();
            is_exact(&run);
        }
        run.compaction
            .replace("c1".to_owned(), "[handle c1]".to_owned());
        is_exact(&run);
        run.record_bytes(request_bytes(&run));
        run.summarise(1..5, "A summary.".to_owned(), String::new());
        is_exact(&run);
        run.record_bytes(request_bytes(&run));
        run.turn(Turn::answer("Done.")).unwrap();
        is_exact(&run);
    }
}
