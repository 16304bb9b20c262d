//! What a journal is told, and what it tells.

use std::sync::OnceLock;
use std::time::Duration;

use protocol::{Digest, ErrorCode, Json, ToolResult, canonical_json};

use super::CallKey;

/// A call, as its journal is told of it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CallRecord<'a> {
    /// The session. A call that a tool makes has that of the call around it, whatever the tool says.
    pub session: Option<&'a str>,
    /// On whose behalf it runs; as for the session, a tool does not choose it.
    pub principal: Option<&'a str>,
    /// The request that it belongs to, across systems; as for the session, a tool does not choose it.
    pub correlation_id: Option<&'a str>,
    /// The id of the call, as the model named it.
    pub call_id: Option<&'a str>,
    /// Its place in the conversation, where it has one.
    pub key: Option<&'a CallKey>,
    /// The intent of the call that made this one.
    pub parent: Option<IntentId>,
    /// How many calls are around it.
    pub depth: u32,
    /// The name asked for; a tool of that name need not exist.
    pub tool: &'a str,
    /// The tool's definition. Absent where the call did not get so far.
    pub tool_digest: Option<Digest>,
    /// The arguments. Absent where the call did not get so far.
    pub arguments: Option<&'a CallArguments>,
}

/// The arguments of a call, with [secrets masked](crate::Entry::masked). What their schema does not call a secret may be confidential
/// all the same: a journal keeps them only if its host said so.
#[derive(Debug)]
pub struct CallArguments {
    json: Json,
    digest: OnceLock<Digest>,
}

impl CallArguments {
    pub(crate) fn new(masked: Json) -> Self {
        Self { json: masked, digest: OnceLock::new() }
    }

    /// Returns the arguments as [canonical JSON](canonical_json).
    pub fn to_text(&self) -> String {
        canonical_json(&self.json)
    }

    /// Returns the SHA-256 of [`to_text`](Self::to_text), computed once.
    pub fn digest(&self) -> Digest {
        *self.digest.get_or_init(|| Digest::hash_json(&self.json))
    }
}

/// How a call ended that was run.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct OutcomeRecord<'a> {
    /// What the model was given: the result, or the one that tells the error.
    pub result: &'a ToolResult,
    /// Why it failed, if it did.
    pub error: Option<ErrorCode>,
    /// How long it took, from the intent on.
    pub duration: Duration,
}

impl<'a> OutcomeRecord<'a> {
    /// How a call ended.
    pub fn new(result: &'a ToolResult, error: Option<ErrorCode>, duration: Duration) -> Self {
        Self { result, error, duration }
    }
}

/// The name that a journal gives an intent, to tell it from all others that it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IntentId(pub u64);

/// What came of wanting to begin a call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Begun {
    /// It is written down, and may be run.
    Now(IntentId),
    /// It was begun before, so nothing was written.
    Before(Recorded),
}

/// A call that was begun, as it stands in a journal.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Recorded {
    /// Which attempt under its key it was, from 1.
    pub attempt: u32,
    /// The definition of the tool.
    pub tool_digest: Option<Digest>,
    /// The digest of the arguments.
    pub arguments_digest: Option<Digest>,
    /// What the model was given; `None` where nobody knows how it ended.
    pub result: Option<ToolResult>,
    /// Why it failed, if it did.
    pub error: Option<ErrorCode>,
}

impl Recorded {
    /// A call that was begun.
    pub fn new(attempt: u32, tool_digest: Option<Digest>, arguments_digest: Option<Digest>) -> Self {
        Self { attempt, tool_digest, arguments_digest, result: None, error: None }
    }

    /// And that ended.
    #[must_use]
    pub fn with_result(mut self, result: ToolResult) -> Self {
        self.result = Some(result);
        self
    }

    /// Adds why it failed.
    #[must_use]
    pub fn with_error(mut self, code: ErrorCode) -> Self {
        self.error = Some(code);
        self
    }
}
