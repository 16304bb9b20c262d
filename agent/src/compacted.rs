//! [`Compacted`]: the report of a compaction.

use std::ops::Range;

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

/// The parts of a conversation that later requests leave out, to fit into the model's context. The conversation itself, and with it the
/// journal, keeps them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compacted {
    /// The reason for the compaction.
    pub cause: CompactionCause,
    /// The ids of the calls whose results are replaced by notices, in order. If the session has the tool `tools.output`, a notice
    /// names the id as the handle by which the model reads the result, also in a resumed session.
    pub replaced: Vec<String>,
    /// The positions of the messages that a summary replaces, those of an earlier summary included. The system text has position 0.
    /// `None` if there is no new summary.
    pub summarised: Option<Range<usize>>,
    /// The positions of the messages that are left out without a summary, those of an earlier summary included, because nothing else made
    /// the request short enough. `None` if there are none.
    pub dropped: Option<Range<usize>>,
    /// The problem with the model's summary. Near the limit, the messages then stay. After a refusal of the service, a list of their calls
    /// takes the place of a missing summary, and if the request for it failed, the oldest turns are left out.
    pub summary_problem: Option<SummaryProblem>,
    /// The size of the next request without the compaction.
    pub before: RequestSize,
    /// The size of the next request.
    pub after: RequestSize,
}

/// The problem with a summary.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SummaryProblem {
    /// The model wrote no text.
    #[error("the model wrote no summary")]
    NoText,
    /// The model or its provider declined to write a summary.
    #[error("the model refused to write a summary")]
    Refused,
    /// The summary would take as much room as the messages that it summarises.
    #[error("the summary was not shorter than its messages")]
    NotShorter,
    /// The output limit cut the summary off.
    #[error("the summary was cut off by the output limit")]
    CutOff,
    /// The service refused the request for a summary as longer than the context.
    #[error("the request for a summary was too long")]
    TooLong,
    /// The request for a summary failed.
    #[error("the request for a summary failed: {message}")]
    Failed {
        /// The error of the provider.
        message: String,
    },
}

/// The reason for a compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CompactionCause {
    /// The next request would nearly fill the context.
    NearLimit,
    /// The service refused the request because it is longer than the context.
    ContextLength,
    /// The host [asked for it](crate::Driver::compact).
    Requested,
}

/// The size of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestSize {
    /// The bytes of the definitions and the messages.
    pub bytes: u64,
    /// The tokens: an estimate from the bytes and the tokens that the service reported for the last request.
    pub tokens: u64,
}

impl Serialize for Compacted {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_map(None)?;
        fields.serialize_entry("cause", &self.cause)?;
        fields.serialize_entry("replaced", &self.replaced)?;
        for (name, messages) in [("summarised", &self.summarised), ("dropped", &self.dropped)] {
            if let Some(Range { start, end }) = messages {
                fields.serialize_entry(name, &[start, end])?;
            }
        }
        if let Some(problem) = &self.summary_problem {
            fields.serialize_entry("summary_problem", &problem.to_string())?;
        }
        fields.serialize_entry("bytes_before", &self.before.bytes)?;
        fields.serialize_entry("bytes_after", &self.after.bytes)?;
        fields.serialize_entry("tokens_before", &self.before.tokens)?;
        fields.serialize_entry("tokens_after", &self.after.tokens)?;
        fields.end()
    }
}
