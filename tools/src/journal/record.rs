//! The records that a journal takes and returns.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use protocol::{Digest, ErrorCode, Json, ToolResult, canonical_json};

/// The description of a call that its records contain.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CallRecord<'a> {
    /// The session's name. A nested call has that of the enclosing call; a tool cannot change it.
    pub session: Option<&'a str>,
    /// The principal on whose behalf the call runs. A tool cannot change it.
    pub principal: Option<&'a str>,
    /// The correlation id of the request that caused the call, across systems. A tool cannot change it.
    pub correlation_id: Option<&'a str>,
    /// The call's id, assigned by the model. A driver puts the path of a [sub-agent](crate::ToolContext::agent) in front of it.
    pub call_id: Option<&'a str>,
    /// The call's position in the session, or `None` if it has none.
    pub key: Option<&'a CallKey>,
    /// The intent of the enclosing call, for a nested call.
    pub parent: Option<IntentId>,
    /// The number of enclosing calls.
    pub depth: u32,
    /// The requested name. No tool of that name need exist.
    pub tool: &'a str,
    /// The digest of the tool's definition, or `None` if the call failed before the tool was found.
    pub tool_digest: Option<Digest>,
    /// The arguments, or `None` if the call failed before they were read.
    pub arguments: Option<&'a CallArguments>,
    /// The [decisions](crate::policy::Ruling) about the call with their reasons and [origins](protocol::Origins), as text. Contains no
    /// arguments. `None` if the call failed before the decision.
    pub ruling: Option<&'a str>,
}

/// The arguments of a call, with [secrets masked](crate::Entry::masked_in).
///
/// Values that the schema does not mark as secret may still be confidential. A journal stores arguments only if its host opted in.
#[derive(Debug)]
pub struct CallArguments {
    json: Json,
    /// The arguments for the digest, which depends on no other tool.
    own: Json,
    digest: OnceLock<Digest>,
}

impl CallArguments {
    /// `own` are the arguments as the tool [masks](crate::Entry::mask) them, `json` those with the arguments of a kept call.
    pub(crate) fn new(own: Json, json: Json) -> Self {
        Self {
            json,
            own,
            digest: OnceLock::new(),
        }
    }

    /// Returns the arguments as [canonical JSON](canonical_json).
    pub fn to_text(&self) -> String {
        canonical_json(&self.json)
    }

    /// Returns the SHA-256 of the [masked](crate::Entry::mask) arguments as canonical JSON, computed once. These are the arguments of
    /// [`to_text`](Self::to_text), unless they have a [kept call](crate::Handler::kept_call): its arguments are wholly masked here, so
    /// that the digest does not depend on its tool.
    pub fn digest(&self) -> Digest {
        *self.digest.get_or_init(|| Digest::hash_json(&self.own))
    }
}

/// The outcome of a call that was run.
#[derive(Clone, Copy, Debug)]
pub struct OutcomeRecord<'a> {
    /// The result that the model was given. For a failed call it contains the error's text.
    pub result: &'a ToolResult,
    /// The error code of a failed call.
    pub error: Option<ErrorCode>,
    /// The time since the intent was recorded.
    pub duration: Duration,
}

/// An identifier that a journal assigns to an intent, unique within the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IntentId(pub u64);

/// The result of [`Journal::begin`](super::Journal::begin).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum BeginResult {
    /// The intent was recorded. The call may run.
    Started(IntentId),
    /// This attempt or a later one was recorded before. Nothing was written.
    AlreadyStarted(RecordedCall),
}

/// A call with an intent in the journal.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedCall {
    /// The number of the attempt under the call's key, from 1.
    pub attempt: u32,
    /// The digest of the tool's definition.
    pub tool_digest: Option<Digest>,
    /// The digest of the arguments.
    pub arguments_digest: Option<Digest>,
    /// The result that the model was given, or `None` if no outcome was recorded.
    pub result: Option<ToolResult>,
    /// The error code of a failed call.
    pub error: Option<ErrorCode>,
}

/// The position of a call in a session. Repeating a conversation gives each call the same key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct CallKey {
    /// The session's name.
    pub session: Arc<str>,
    /// The number of the turn, counted from 1 over the whole session.
    pub turn: u64,
    /// The index of the call in the turn, from 0.
    pub index: u32,
    /// For a nested call: the indexes on the way to it, from 0, joined by dots. Empty for a call made by the turn itself.
    ///
    /// `2.0` is the first call made by the third call that the turn's tool made.
    pub path: String,
}

impl CallKey {
    /// Creates the key of a call made by a turn.
    pub fn new(session: impl Into<Arc<str>>, turn: u64, index: u32) -> Self {
        Self {
            session: session.into(),
            turn,
            index,
            path: String::new(),
        }
    }

    /// Returns the key of a nested call. `number` counts the calls made by this one, from 0.
    #[must_use]
    pub fn nest(&self, number: u32) -> Self {
        let path = match &*self.path {
            "" => number.to_string(),
            path => format!("{path}.{number}"),
        };
        Self {
            path,
            ..self.clone()
        }
    }
}

/// Formats the key for people: `turn 3, call 0.2 of session "a"`.
impl fmt::Display for CallKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            session,
            turn,
            index,
            path,
        } = self;
        let dot = if path.is_empty() { "" } else { "." };
        write!(
            f,
            "turn {turn}, call {index}{dot}{path} of session {session:?}"
        )
    }
}
