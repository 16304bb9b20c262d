//! Asks the model for a summary, which takes the place of older messages.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use tools::protocol::{Message, Role};

use super::compact::{Room, is_context_length, stable_prefix, turn_starts};
use super::metering::prompt_bytes;
use super::{Driver, DriverError, RunContext};
use crate::{BudgetError, Exhausted, Plan, Run};

/// The part of the context, in percent, that a summary may have.
const LONGEST: u64 = 20;

/// The request for a summary.
const REQUEST: &str = "\
The older part of this conversation has to make room, and your summary takes its place. Do not go on with the task now, and make no \
calls. Summarise the conversation after its first message for yourself, in plain text: the task and its conditions, decisions and \
their reasons, findings with their names and numbers, the work that is done, and the next steps. Include the facts of an earlier \
summary. Keep the handles (out-…) of outputs that are still needed. Write the summary alone.";

/// The beginning of the message that has the summary.
const TITLE: &str = "[The older part of this conversation was left out to save context. Your summary of it:]";

/// The answer to the request for a summary.
enum Summarised {
    Text(String),
    /// The service refused the request as longer than the context.
    TooLong,
    /// The budget has no step left.
    Exhausted(Exhausted),
    Cancelled,
}

impl Driver {
    /// Replaces the messages before `end` by a summary, if they have `least` tokens. Returns their positions, or `None` if there is no
    /// summary.
    pub(super) async fn summarise(
        &self,
        run: &mut Run,
        end: usize,
        room: Room,
        least: u64,
        run_cx: &RunContext<'_>,
    ) -> Result<Option<Range<usize>>, DriverError> {
        let start = stable_prefix(run.messages());
        let first = run.compaction().summary_end().unwrap_or(start);
        let mut ends: Vec<_> = turn_starts(run.messages()).filter(|other| (first + 1..end).contains(other)).collect();
        ends.push(end);
        if end <= first {
            return Ok(None);
        }
        // An earlier summary is not worth another one.
        let covered = run.compaction().shown(&run.messages()[first..end]);
        if run.compaction().tokens(prompt_bytes(&covered)) < least {
            return Ok(None);
        }
        let text = loop {
            let Some(end) = ends.last() else { return Ok(None) };
            match self.request_summary(run, *end, run_cx).await? {
                Summarised::Text(text) => break text,
                // Half of it is summarised now, and the rest the next time.
                Summarised::TooLong if ends.len() > 1 => ends.truncate(ends.len().div_ceil(2)),
                Summarised::TooLong => break String::new(),
                Summarised::Exhausted(exhausted) => {
                    if room.is_refused() {
                        run.exhaust(exhausted);
                    }
                    return Ok(None);
                }
                Summarised::Cancelled => {
                    run.cancel();
                    return Ok(None);
                }
            }
        };
        let covered = start..ends.pop().unwrap_or(end);
        let text = message_text(run, covered.clone(), &text, room, run_cx);
        run.summarise(covered.clone(), text);
        Ok(Some(covered))
    }

    /// Asks for a summary of the messages before `end`. The request begins like the others, so that the service has most of it in its
    /// cache.
    async fn request_summary(
        &self,
        run: &mut Run,
        end: usize,
        run_cx: &RunContext<'_>,
    ) -> Result<Summarised, DriverError> {
        let mut messages = run.compaction().view(&run.messages()[..end]).into_owned();
        messages.push(Message::text(Role::User, REQUEST));
        let turn = match self.complete(&messages, None, run_cx).await {
            None => return Ok(Summarised::Cancelled),
            Some(Err(DriverError::Provider(error))) if is_context_length(&error) => return Ok(Summarised::TooLong),
            Some(Err(DriverError::Budget(BudgetError::Exhausted(exhausted)))) => {
                return Ok(Summarised::Exhausted(exhausted));
            }
            Some(turn) => turn?,
        };
        run.record_summary(turn.usage);
        Ok(Summarised::Text(turn.message.to_text()))
    }
}

/// Returns the text that takes the place of messages: the summary, or else their calls, the last prompt among them, and the plan.
fn message_text(run: &Run, messages: Range<usize>, summary: &str, room: Room, run_cx: &RunContext<'_>) -> String {
    let most = usize::try_from(run.compaction().bytes(room.percent(LONGEST))).unwrap_or(usize::MAX);
    let messages = &run.messages()[messages];
    let mut text = match head(summary.trim(), most) {
        "" => format!("{TITLE}\n(none)\n{}", calls_text(messages)),
        summary => format!("{TITLE}\n{summary}"),
    };
    // The last prompt is the present task.
    let prompt = messages.iter().rev().find(|message| message.role == Role::User).map(Message::to_text);
    if let Some(prompt) = prompt {
        let _ = write!(text, "\n[The user's last message in it]\n{}", head(&prompt, most));
    }
    if let Some(plan) = run_cx.session.context().service::<Plan>().filter(|plan| !plan.items().is_empty()) {
        let _ = write!(text, "\n[Your plan]\n{plan}");
    }
    text
}

/// Returns the beginning of a text, with at most this many bytes.
fn head(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rfind(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or_default()]
}

/// Returns the numbers of calls by tool, for a model that wrote no summary.
fn calls_text(messages: &[Message]) -> String {
    let mut counts = BTreeMap::<&str, u32>::new();
    for call in messages.iter().flat_map(Message::calls) {
        *counts.entry(&call.name).or_default() += 1;
    }
    let counts: Vec<_> = counts.iter().map(|(name, count)| format!("{name} ({count})")).collect();
    format!("[Your calls: {}]", counts.join(", "))
}
