//! [`Compaction`]: the parts of a conversation that requests leave out.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde::{Deserialize, Serialize};
use tools::protocol::{Message, Part, Role};
use tools::{Content, ToolResult};

use super::Run;
use crate::found;
use crate::provider::Usage;

/// The bytes that make up about one token.
pub(crate) const BYTES_PER_TOKEN: u64 = 4;

/// The parts of a conversation that requests leave out. The conversation keeps them, so positions and ids stay valid.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Compaction {
    /// The texts in place of results, by the ids of their calls.
    notices: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<ConversationSummary>,
    /// The tokens that the service counted. Without them, sizes are estimated from bytes alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) measured: Option<MeasuredRequest>,
    /// The tokens of a request below which the model is not asked for a summary again, after it wrote none.
    #[serde(skip)]
    pub(crate) next_summary: u64,
    /// The number of changes in this process. It changes when requests leave out more.
    #[serde(skip)]
    pub(crate) version: u64,
}

/// A text in place of messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ConversationSummary {
    messages: Range<usize>,
    text: String,
    /// The part of the text that the model wrote.
    written: String,
}

/// The size of a request in bytes, and in tokens as the service counted them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MeasuredRequest {
    bytes: u64,
    pub(crate) tokens: u64,
}

impl Compaction {
    pub(super) fn is_unused(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the compaction for a conversation with more or fewer messages in front, which moves each position.
    pub(crate) fn moved(mut self, moved: impl Fn(usize) -> usize) -> Self {
        if let Some(summary) = &mut self.summary {
            summary.messages = moved(summary.messages.start)..moved(summary.messages.end);
        }
        self
    }

    /// Returns the messages that requests have instead of these.
    pub(crate) fn view<'a>(&self, messages: &'a [Message]) -> Cow<'a, [Message]> {
        if self.notices.is_empty() && self.summary.is_none() {
            return Cow::Borrowed(messages);
        }
        let (before, summary, after) = self.split(messages);
        let summary = summary.map(|text| Message::text(Role::User, text));
        let view = before.iter().cloned().chain(summary);
        let mut view: Vec<_> = view.chain(after.iter().cloned()).collect();
        for part in view.iter_mut().flat_map(|message| &mut message.parts) {
            if let Part::ToolResult { id, name, result } = part
                && let Some(notice) = self.notice(id)
            {
                *result = ToolResult {
                    content: vec![Content::text(notice)],
                    // A search keeps its structure without names: found tools are read from results, and these are forgotten with it.
                    structured: found::left_out(name, result),
                    is_error: result.is_error,
                    ..ToolResult::default()
                };
            }
        }
        view.into()
    }

    /// Returns the messages before the summary, its text, and the messages after it.
    pub(crate) fn split<'a>(
        &'a self,
        messages: &'a [Message],
    ) -> (&'a [Message], Option<&'a str>, &'a [Message]) {
        let Some(summary) = &self.summary else {
            return (messages, None, &[]);
        };
        // A stored run may have fewer messages than its summary says.
        let start = summary.messages.start.min(messages.len());
        let after = &messages[summary.messages.end.clamp(start, messages.len())..];
        (&messages[..start], Some(&summary.text), after)
    }

    /// Returns the end of the messages that the summary replaces. Returns `None` without a summary.
    pub(crate) fn summary_end(&self) -> Option<usize> {
        self.summary.as_ref().map(|summary| summary.messages.end)
    }

    /// Returns the part of the summary that the model wrote. Returns an empty text without one.
    pub(crate) fn written_summary(&self) -> &str {
        self.summary.as_ref().map_or("", |summary| &summary.written)
    }

    /// Returns the text in place of a result. Returns `None` if requests show the result.
    pub(crate) fn notice(&self, id: &str) -> Option<&str> {
        self.notices.get(id).map(String::as_str)
    }

    /// Replaces the result of a call by a notice.
    pub(crate) fn replace(&mut self, id: String, notice: String) {
        self.version += 1;
        self.notices.insert(id, notice);
    }

    /// Records the tokens that the service counted in a request of this many bytes.
    pub(crate) fn measure(&mut self, bytes: u64, tokens: u64) {
        if bytes > 0 && tokens > 0 {
            self.measured = Some(MeasuredRequest { bytes, tokens });
        }
    }

    /// Estimates the tokens of a request.
    pub(crate) fn tokens(&self, bytes: u64) -> u64 {
        match self.measured {
            None => bytes / BYTES_PER_TOKEN,
            Some(measured) => scale(bytes, measured.tokens, measured.bytes),
        }
    }

    /// Estimates the bytes of a request with this many tokens.
    pub(crate) fn bytes(&self, tokens: u64) -> u64 {
        match self.measured {
            None => tokens.saturating_mul(BYTES_PER_TOKEN),
            Some(measured) => scale(tokens, measured.bytes, measured.tokens),
        }
    }
}

impl Run {
    /// Returns the messages for the next request: the [conversation](Self::messages) without the parts that a
    /// [compaction](crate::Event::Compacted) left out.
    pub fn request_messages(&self) -> Cow<'_, [Message]> {
        self.compaction.view(self.messages())
    }

    /// Replaces messages by a text in requests, of which the model wrote a part.
    pub(crate) fn summarise(&mut self, messages: Range<usize>, text: String, written: String) {
        let shown = self.messages.messages[messages.end..].iter();
        let calls = shown.flat_map(Message::calls);
        let ids: BTreeSet<_> = calls.map(|call| &*call.id).collect();
        let compaction = &mut self.compaction;
        // Notices of results that the summary replaces are in no request any more.
        compaction.notices.retain(|id, _| ids.contains(id.as_str()));
        compaction.summary = Some(ConversationSummary {
            messages,
            text,
            written,
        });
        compaction.next_summary = 0;
        compaction.version += 1;
    }

    /// Adds the tokens of a request whose reply is no turn, such as a summary.
    pub(crate) fn record_usage(&mut self, usage: Option<Usage>) {
        if let Some(usage) = usage {
            *self.usage.get_or_insert_default() += usage;
        }
    }
}

/// Returns `amount * numerator / denominator`.
fn scale(amount: u64, numerator: u64, denominator: u64) -> u64 {
    let scaled = u128::from(amount) * u128::from(numerator) / u128::from(denominator.max(1));
    u64::try_from(scaled).unwrap_or(u64::MAX)
}
