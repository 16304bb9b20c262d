//! Asks the model for a summary, which takes the place of older messages.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;

use tools::protocol::{Message, Role};
use tools::{head, join};

use super::compact::{Room, is_context_length, quote_last_prompt, stable_prefix, turn_starts};
use super::metering::{request_bytes, shown_bytes, summarised_bytes};
use super::{Driver, DriverError, RunContext};
use crate::budget::BudgetError;
use crate::compacted::{Compacted, SummaryProblem};
use crate::disclosure::is_of_search;
use crate::found::list_known;
use crate::inner_call;
use crate::plan::Plan;
use crate::provider::StopReason;
use crate::run::Run;
use crate::tool_set::ToolSet;

/// The part of the context, in percent, that a summary may have.
const LONGEST: u64 = 20;

/// The output limit of a request for a summary, also if the options of answers have a lower one. Every model can write so many tokens.
const OUTPUT_LIMIT: u32 = 4096;

/// The request for a summary.
const REQUEST: &str = "\
The older part of this conversation has to make room, and your summary takes its place. Do not go on with the task now, and make no \
calls. Summarise the conversation after its first message for yourself, in plain text: the task and its conditions, decisions and \
their reasons, findings with their names and numbers, the work that is done, and the next steps. Include the facts of an earlier \
summary. Keep the handles of results that are still needed. Write the summary alone.";

/// The beginning of the message that has the summary.
const TITLE: &str =
    "[The older part of this conversation was left out to save context. Your summary of it:]";

/// The answer to the request for a summary.
struct SummaryAnswer {
    text: String,
    problem: Option<SummaryProblem>,
}

impl Driver {
    /// Replaces the messages before `end` by a summary, if they have `least` tokens. They stay if the request for it fails, and near the
    /// limit also if there is another problem with the summary.
    pub(super) async fn summarise(
        &self,
        run: &mut Run,
        end: usize,
        room: Room,
        least: u64,
        compacted: &mut Compacted,
        run_cx: &RunContext<'_>,
    ) -> Result<(), DriverError> {
        let start = stable_prefix(run.messages());
        let first = run.compaction.summary_end().unwrap_or(start);
        let mut ends: Vec<_> = turn_starts(run.messages())
            .filter(|other| (first + 1..end).contains(other))
            .collect();
        ends.push(end);
        if end <= first {
            return Ok(());
        }
        // An earlier summary is not worth another one.
        let covered = shown_bytes(&run.messages()[first..end], &run.compaction);
        if run.compaction.tokens(covered) < least {
            return Ok(());
        }
        let SummaryAnswer { text, problem } = loop {
            let Some(end) = ends.last() else {
                return Ok(());
            };
            let Some(answer) = self.request_summary(run, *end, room, run_cx).await? else {
                return Ok(());
            };
            if answer.problem != Some(SummaryProblem::TooLong) || ends.len() == 1 {
                break answer;
            }
            // Half of it is summarised now, and the rest the next time.
            ends.truncate(ends.len().div_ceil(2));
        };
        compacted.summary_problem = problem;
        let is_kept = match &compacted.summary_problem {
            None => true,
            // The service is at fault and not the conversation: the next request may do without a summary.
            Some(SummaryProblem::Failed { .. }) => false,
            Some(_) => room.is_refused(),
        };
        if is_kept {
            let covered = start..ends.pop().unwrap_or(end);
            let is_new = !text.is_empty();
            let written = if is_new {
                text
            } else {
                run.compaction.written_summary().to_owned()
            };
            let text = message_text(run, covered.clone(), &written, is_new, room, run_cx);
            if summarised_bytes(run, covered.clone(), &text) >= request_bytes(run) {
                compacted
                    .summary_problem
                    .get_or_insert(SummaryProblem::NotShorter);
                return Ok(());
            }
            run.summarise(covered.clone(), text, written);
            compacted.summarised = Some(covered);
        }
        Ok(())
    }

    /// Asks for a summary of the messages before `end`. The request begins like the others, so that the service has most of it in its
    /// cache. Returns `None` if the run is cancelled or has no step left.
    async fn request_summary(
        &self,
        run: &mut Run,
        end: usize,
        room: Room,
        run_cx: &RunContext<'_>,
    ) -> Result<Option<SummaryAnswer>, DriverError> {
        let mut messages = run.compaction.view(&run.messages()[..end]).into_owned();
        messages.push(Message::text(Role::User, REQUEST));
        // A small context has no room for a summary of the usual length.
        let most = u32::try_from(room.percent(LONGEST))
            .map_or(OUTPUT_LIMIT, |most| most.min(OUTPUT_LIMIT));
        let no_text = |problem| {
            Ok(Some(SummaryAnswer {
                text: String::new(),
                problem: Some(problem),
            }))
        };
        let turn = match self.complete(&messages, None, None, most, run_cx).await {
            None => {
                run.cancel();
                return Ok(None);
            }
            Some(Err(DriverError::Budget(BudgetError::Exhausted(exhausted)))) => {
                if room.is_refused() {
                    run.exhaust(exhausted);
                }
                return Ok(None);
            }
            Some(Err(DriverError::Provider(error))) if is_context_length(&error) => {
                return no_text(SummaryProblem::TooLong);
            }
            Some(Err(DriverError::Provider(error))) => {
                let message = error.to_string();
                return no_text(SummaryProblem::Failed { message });
            }
            Some(turn) => turn?,
        };
        run.record_usage(turn.usage);
        let text = turn.message.to_text();
        match turn.stop {
            StopReason::Refusal => no_text(SummaryProblem::Refused),
            _ if text.trim().is_empty() => no_text(SummaryProblem::NoText),
            stop => {
                let problem = (stop == StopReason::Length).then_some(SummaryProblem::CutOff);
                Ok(Some(SummaryAnswer { text, problem }))
            }
        }
    }
}

/// Returns the text that takes the place of messages: the summary, their calls unless it is new, the last prompt among them, the found
/// tools that they call, and the plan.
fn message_text(
    run: &Run,
    messages: Range<usize>,
    summary: &str,
    is_new: bool,
    room: Room,
    run_cx: &RunContext<'_>,
) -> String {
    let most = usize::try_from(run.compaction.bytes(room.percent(LONGEST))).unwrap_or(usize::MAX);
    let messages = &run.messages()[messages];
    let summary = Some(head(summary.trim(), most)).filter(|summary| !summary.is_empty());
    let mut text = format!("{TITLE}\n{}", summary.unwrap_or("(none)"));
    if !is_new {
        let _ = write!(text, "\n{}", calls_text(messages, run_cx.tools));
    }
    // The last prompt is the present task.
    text += &quote_last_prompt(messages, most);
    let found = found_text(run, messages, run_cx);
    if !found.is_empty() {
        let _ = write!(
            text,
            "\n[Tools that you found and called in it; search for one again before you call it: {found}]"
        );
    }
    let plan = run_cx.session.context().service::<Plan>();
    if let Some(plan) = plan.filter(|plan| !plan.items().is_empty()) {
        let _ = write!(text, "\n[Your plan]\n{plan}");
    }
    text
}

/// Returns the names of the tools that these messages call and no request offers, without the forgotten ones.
fn found_text(run: &Run, messages: &[Message], run_cx: &RunContext<'_>) -> String {
    let known = list_known(run.messages(), run_cx.session.disclosure.found_turns());
    let calls = messages.iter().flat_map(Message::calls);
    let called: BTreeSet<_> = calls.map(inner_call::name).collect();
    let found = called.into_iter().filter(|name| known.contains(*name));
    let found = found.filter(|name| {
        let entry = run_cx.tools.find_hidden(name);
        entry.is_some_and(|entry| !is_of_search(&entry))
    });
    join(found.map(|name| run_cx.cx.spelling(name)), ", ")
}

/// Returns the numbers of calls by tool, for a model that wrote no summary.
fn calls_text(messages: &[Message], tools: &ToolSet) -> String {
    let mut counts = BTreeMap::<&str, u32>::new();
    for call in messages.iter().flat_map(Message::calls) {
        let called = Some(inner_call::name(call)).filter(|name| tools.contains(name));
        *counts.entry(called.unwrap_or(&call.name)).or_default() += 1;
    }
    let counts = counts.iter();
    let counts = counts.map(|(name, count)| format!("{name} ({count})"));
    format!("[Your calls: {}]", join(counts, ", "))
}
