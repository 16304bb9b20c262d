//! Compacts a conversation that is about to exceed the model's context.

use std::ops::Range;

use tools::head;
use tools::protocol::{Message, Role};

use super::checkpoint::LastCheckpoint;
use super::metering::{request_bytes, shown_bytes, summarised_bytes};
use super::replaced_results::{replace_all, replace_largest};
use super::{Driver, DriverError, RunContext};
use crate::compacted::{Compacted, CompactionCause, RequestSize};
use crate::event::Event;
use crate::provider::{FailureKind, ProviderError};
use crate::run::{Run, Summary};
use crate::session::Session;

/// The part of the context, in percent, from which on the next request is compacted.
const NEAR_LIMIT: u64 = 80;

/// The part of the context that a compacted request is to have at most.
const GOAL: u64 = 50;

/// The part of the context that the newest messages may have, which a compaction leaves as they are.
const NEWEST: u64 = 25;

/// The part of a refused request that the next one may have at most.
const MUST_FREE: u64 = 95;

/// The most bytes of a prompt that is kept of messages that are left out.
const MAX_PROMPT_BYTES: usize = 1000;

/// The part of the context that a summary replaces at least, unless nothing else helps.
const WORTH_SUMMARY: u64 = 10;

/// The room for a request, and the reason why it matters.
#[derive(Clone, Copy)]
pub(super) struct Room {
    /// The tokens of the model's context.
    pub(super) tokens: u64,
    pub(super) cause: CompactionCause,
}

impl Room {
    /// Returns a part of the context in tokens.
    pub(super) fn percent(self, percent: u64) -> u64 {
        self.tokens.saturating_mul(percent) / 100
    }

    /// Returns true if the service refused the request.
    pub(super) fn is_refused(self) -> bool {
        self.cause == CompactionCause::ContextLength
    }

    /// Returns the tokens that the next request may have: all of the room, or this part of it after a refusal.
    fn limit(self, percent: u64) -> u64 {
        if self.is_refused() {
            self.percent(percent)
        } else {
            self.tokens
        }
    }
}

/// Returns true if the service refused a request because it is longer than the model's context.
pub(super) fn is_context_length(error: &ProviderError) -> bool {
    error.kind() == Some(FailureKind::ContextLength)
}

impl Driver {
    /// Compacts the conversation of a session now, whatever its size: later requests leave out older results, and have a summary of older
    /// messages, for which the model is asked. The last turn stays. [`Event::Compacted`] says what changed, if anything did.
    ///
    /// # Errors
    /// Returns a [`DriverError`] if the request for the summary ends the run, or if the session cannot be recorded.
    pub async fn compact(&self, session: &mut Session) -> Result<Summary, DriverError> {
        let (messages, before) = session.request_messages();
        let run = session.enter(Run::answered(messages), before);
        let mut driver = self.clone();
        driver.compacts = true;
        driver.drive(session, run, before, &mut |_, _| None).await
    }

    /// Returns the tokens that a request may have, if the size of the model's context is known.
    pub(super) fn context_tokens(&self) -> Option<u64> {
        let context = self.known_context()?;
        // If the options name a context that is smaller than the output limit, a request still has half of it.
        Some(context - self.about().reserved_tokens.min(context / 2))
    }

    /// Compacts the conversation if the next request would nearly fill the model's context. Returns true if it did.
    pub(super) async fn compact_if_full(
        &self,
        run: &mut Run,
        run_cx: &RunContext<'_>,
    ) -> Result<bool, DriverError> {
        let Some(tokens) = self.context_tokens() else {
            return Ok(false);
        };
        let room = Room {
            tokens,
            cause: CompactionCause::NearLimit,
        };
        let before = self.request_size(run, run_cx);
        if before.tokens < room.percent(NEAR_LIMIT) {
            return Ok(false);
        }
        self.compact_run(run, room, before, run_cx).await
    }

    /// Compacts the conversation after the service refused it as longer than the context. Returns true.
    ///
    /// # Errors
    /// Returns the error of the request if it is another one, or if nothing is left to be compacted.
    pub(super) async fn compact_after(
        &self,
        error: DriverError,
        run: &mut Run,
        run_cx: &RunContext<'_>,
    ) -> Result<bool, DriverError> {
        if !matches!(&error, DriverError::Provider(error) if is_context_length(error)) {
            return Err(error);
        }
        let context = self.context_tokens().unwrap_or(u64::MAX);
        let mut refused = self.request_size(run, run_cx);
        if refused.tokens < context {
            // The service may have counted too few tokens in earlier requests.
            run.compaction.measured = None;
            refused = self.request_size(run, run_cx);
        }
        // The service knows better than the options how large its context is.
        let tokens = context.min(refused.tokens);
        let room = Room {
            tokens,
            cause: CompactionCause::ContextLength,
        };
        if self.compact_run(run, room, refused, run_cx).await? {
            Ok(true)
        } else {
            Err(error)
        }
    }

    /// Compacts the conversation as if the model's context were as large as its messages are now. A resumed session has it so, too.
    pub(super) async fn compact_on_request(
        &self,
        run: &mut Run,
        last: &mut Option<LastCheckpoint>,
        run_cx: &RunContext<'_>,
    ) -> Result<(), DriverError> {
        let before = self.request_size(run, run_cx);
        let room = Room {
            tokens: run.compaction.tokens(request_bytes(run)),
            cause: CompactionCause::Requested,
        };
        self.compact_run(run, room, before, run_cx).await?;
        self.checkpoint(run, last, run_cx).await
    }

    /// Shortens the next request and reports it. Returns true if the request is smaller than before, or if the run has ended.
    async fn compact_run(
        &self,
        run: &mut Run,
        room: Room,
        before: RequestSize,
        run_cx: &RunContext<'_>,
    ) -> Result<bool, DriverError> {
        let mut compacted = Compacted {
            cause: room.cause,
            replaced: Vec::new(),
            summarised: None,
            dropped: None,
            summary_problem: None,
            before,
            after: before,
        };
        let shortened = self.shorten(run, room, &mut compacted, run_cx).await;
        compacted.after = self.request_size(run, run_cx);
        let is_smaller = compacted.after.bytes < before.bytes;
        let is_changed = !compacted.replaced.is_empty()
            || compacted.summarised.is_some()
            || compacted.dropped.is_some();
        if is_changed || compacted.summary_problem.is_some() {
            run_cx.sink.send(|| Event::Compacted(compacted));
        }
        shortened.map(|()| is_smaller || run.has_ended())
    }

    /// Replaces older results by notices, then older messages by a summary, and at last new results too.
    async fn shorten(
        &self,
        run: &mut Run,
        room: Room,
        compacted: &mut Compacted,
        run_cx: &RunContext<'_>,
    ) -> Result<(), DriverError> {
        let first = run.compaction.summary_end().unwrap_or_default();
        // A refusal without a size makes room for less than an earlier compaction left.
        let newest = newest(run, room).max(first);
        compacted.replaced = replace_all(run, first..newest, run_cx);
        let size = self.request_size(run, run_cx).tokens;
        let is_due = room.is_refused() || size >= run.compaction.next_summary;
        if size > room.percent(GOAL) && is_due {
            let least = room.percent(WORTH_SUMMARY);
            self.summarise(run, newest, room, least, compacted, run_cx)
                .await?;
            if !room.is_refused() && compacted.summary_problem.is_some() {
                run.compaction.next_summary = size + least;
            }
        }
        if room.cause == CompactionCause::Requested {
            return Ok(());
        }
        // The model has not seen the newest results yet.
        let most = room.limit(NEAR_LIMIT);
        let bytes = self.request_size(run, run_cx).bytes;
        compacted
            .replaced
            .extend(replace_largest(run, newest, bytes, most, run_cx));
        if room.is_refused()
            && compacted.summary_problem.is_none()
            // The service refuses the same request again, so any summary is better than none.
            && self.request_size(run, run_cx).bytes >= compacted.before.bytes
        {
            self.summarise(run, newest, room, 0, compacted, run_cx)
                .await?;
        }
        let fits = room.limit(MUST_FREE);
        if !run.has_ended() && self.request_size(run, run_cx).tokens > fits {
            compacted.dropped = self.drop_oldest(run, fits, run_cx);
        }
        Ok(())
    }

    /// Leaves out the oldest turns, as few as possible, until the next request has at most so many tokens. The first message of the user
    /// and the last turn stay. Returns the positions of the messages. Returns `None` if nothing can be left out.
    fn drop_oldest(
        &self,
        run: &mut Run,
        most: u64,
        run_cx: &RunContext<'_>,
    ) -> Option<Range<usize>> {
        let start = stable_prefix(run.messages());
        let first = run.compaction.summary_end().unwrap_or_default();
        let before = request_bytes(run);
        let definitions = self.definition_bytes(run_cx);
        let mut found = None;
        for end in turn_starts(run.messages()).filter(|end| *end > start && *end >= first) {
            let text = dropped_text(&run.messages()[start..end]);
            let bytes = summarised_bytes(run, start..end, &text);
            // A text in place of few messages can be longer than they are.
            if bytes < before {
                found = Some((end, text));
                if run.compaction.tokens(definitions + bytes) <= most {
                    break;
                }
            }
        }
        let (end, text) = found?;
        run.summarise(start..end, text, String::new());
        Some(start..end)
    }

    /// Returns the size of the run's next request, and records it, so that the size of a later one is computed from it.
    pub(super) fn request_size(&self, run: &mut Run, run_cx: &RunContext<'_>) -> RequestSize {
        let bytes = request_bytes(run);
        run.record_bytes(bytes);
        let bytes = self.definition_bytes(run_cx) + bytes;
        RequestSize {
            bytes,
            tokens: run.compaction.tokens(bytes),
        }
    }
}

/// Returns the text in place of messages that are left out, with the last prompt among them, which is the present task.
fn dropped_text(messages: &[Message]) -> String {
    let title = "[The older part of this conversation was left out to save context.]";
    title.to_owned() + &quote_last_prompt(messages, MAX_PROMPT_BYTES)
}

/// Returns a line and the beginning of the user's last message, if there is one.
pub(super) fn quote_last_prompt(messages: &[Message], most: usize) -> String {
    let mut messages = messages.iter().rev();
    let prompt = messages.find(|message| message.role == Role::User);
    let prompt = prompt.map(Message::to_text);
    let quoted =
        prompt.map(|prompt| format!("\n[The user's last message in it]\n{}", head(&prompt, most)));
    quoted.unwrap_or_default()
}

/// Returns the position of the first message that stays as it is: at least the last turn with its results, and else as many turns as fit
/// into their part of the context.
fn newest(run: &Run, room: Room) -> usize {
    let messages = run.messages();
    let mut starts: Vec<_> = turn_starts(messages).collect();
    let mut first = starts.pop().unwrap_or(messages.len());
    let mut bytes = shown_bytes(&messages[first..], &run.compaction);
    while let Some(start) = starts.pop() {
        bytes += shown_bytes(&messages[start..first], &run.compaction);
        if run.compaction.tokens(bytes) > room.percent(NEWEST) {
            break;
        }
        first = start;
    }
    first
}

/// Returns the number of messages that each request begins with, whatever is left out: the system text and the first message of the user.
pub(super) fn stable_prefix(messages: &[Message]) -> usize {
    let mut all = messages.iter();
    let system = all.position(|message| message.role != Role::System);
    let system = system.unwrap_or(messages.len());
    let next = messages.get(system);
    system + usize::from(next.is_some_and(|message| message.role == Role::User))
}

/// Returns the positions after the stable prefix at which the conversation can be cut: no call is there without its result, and no part
/// of a paused turn without the others.
pub(super) fn turn_starts(messages: &[Message]) -> impl Iterator<Item = usize> {
    (stable_prefix(messages)..messages.len()).filter(|position| match messages[*position].role {
        Role::Tool => false,
        Role::Assistant => position
            .checked_sub(1)
            .is_none_or(|before| messages[before].role != Role::Assistant),
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_is_cut_neither_before_results_nor_inside_a_paused_turn() {
        let roles = [
            Role::System,
            Role::User,
            Role::Assistant,
            Role::Tool,
            Role::Assistant,
            Role::Assistant,
            Role::Assistant,
            Role::User,
        ];
        let messages = roles.map(|role| Message::text(role, "…"));
        assert_eq!(turn_starts(&messages).collect::<Vec<_>>(), [2, 4, 7]);
    }
}
