//! [`Row`]: the columns of one journal row.

use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::types::Value;
use tools::journal::{CallArguments, CallKey, CallRecord};
use tools::{Digest, ErrorCode};

/// The columns that a row's hash covers, in hashing order.
pub(crate) const COLUMNS: [&str; 24] = [
    "seq",
    "at_ms",
    "kind",
    "session",
    "turn",
    "place",
    "path",
    "attempt",
    "depth",
    "parent",
    "intent",
    "call_id",
    "principal",
    "correlation_id",
    "tool",
    "tool_digest",
    "arguments_digest",
    "arguments",
    "error",
    "reason",
    "result_digest",
    "result",
    "duration_us",
    RULING,
];

/// The column that a journal has from version [`WITH_SESSIONS`](crate::open::WITH_SESSIONS) on. The hash of a row of an earlier
/// version covers the others.
pub(crate) const RULING: &str = "ruling";

/// The kind of a row written before a call runs.
pub(crate) const INTENT: &str = "intent";
/// The kind of a row written after a call has run.
pub(crate) const OUTCOME: &str = "outcome";
/// The kind of a row for a call that was not run.
pub(crate) const REFUSAL: &str = "refusal";

/// The kind of a row whose content was erased.
pub(crate) const ERASED: &str = "erased";

/// Returns the columns of an erased row: empty except for the number and the kind.
pub(crate) fn erased_columns(seq: i64) -> [Value; COLUMNS.len()] {
    let mut columns = Row {
        kind: ERASED,
        ..Row::default()
    }
    .columns(0);
    columns[0] = Value::Integer(seq);
    columns
}

/// A row without its number and hash.
#[derive(Clone, Default)]
pub(crate) struct Row {
    pub(crate) at_ms: i64,
    pub(crate) kind: &'static str,
    pub(crate) session: Option<String>,
    pub(crate) key: Option<CallKey>,
    pub(crate) attempt: Option<u32>,
    pub(crate) depth: u32,
    pub(crate) parent: Option<u64>,
    pub(crate) intent: Option<u64>,
    pub(crate) call_id: Option<String>,
    pub(crate) principal: Option<String>,
    pub(crate) correlation_id: Option<String>,
    pub(crate) tool: String,
    pub(crate) tool_digest: Option<Digest>,
    pub(crate) arguments_digest: Option<Digest>,
    pub(crate) arguments: Option<String>,
    pub(crate) error: Option<ErrorCode>,
    pub(crate) reason: Option<String>,
    pub(crate) result_digest: Option<Digest>,
    pub(crate) result: Option<String>,
    pub(crate) duration_us: Option<u64>,
    pub(crate) ruling: Option<String>,
}

impl Row {
    /// Creates a row about a call, with the current time.
    pub(crate) fn from_call(
        kind: &'static str,
        call: &CallRecord<'_>,
        with_arguments: bool,
    ) -> Self {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Self {
            at_ms: now_ms(),
            kind,
            session: owned(call.session),
            key: call.key.cloned(),
            depth: call.depth,
            parent: call.parent.map(|intent| intent.0),
            call_id: owned(call.call_id),
            principal: owned(call.principal),
            correlation_id: owned(call.correlation_id),
            tool: call.tool.to_owned(),
            tool_digest: call.tool_digest,
            arguments_digest: call.arguments.map(CallArguments::digest),
            arguments: call
                .arguments
                .filter(|_| with_arguments)
                .map(CallArguments::to_text),
            ruling: owned(call.ruling),
            ..Self::default()
        }
    }

    /// Returns the columns, in the order of [`COLUMNS`].
    pub(crate) fn columns(&self, seq: u64) -> [Value; COLUMNS.len()] {
        let key = self.key.as_ref();
        [
            number(seq),
            Value::Integer(self.at_ms),
            Value::Text(self.kind.to_owned()),
            text(&self.session),
            key.map_or(Value::Null, |key| number(key.turn)),
            key.map_or(Value::Null, |key| number(key.index)),
            key.map(|key| key.path.clone()).into(),
            self.attempt.map_or(Value::Null, number),
            number(self.depth),
            self.parent.map_or(Value::Null, number),
            self.intent.map_or(Value::Null, number),
            text(&self.call_id),
            text(&self.principal),
            text(&self.correlation_id),
            Value::Text(self.tool.clone()),
            digest(self.tool_digest),
            digest(self.arguments_digest),
            text(&self.arguments),
            self.error
                .map_or(Value::Null, |error| Value::Text(error.to_string())),
            text(&self.reason),
            digest(self.result_digest),
            text(&self.result),
            self.duration_us.map_or(Value::Null, number),
            text(&self.ruling),
        ]
    }
}

/// Returns the milliseconds since 1970, UTC, or 0 if the clock is set before that.
pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    i64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(i64::MAX)
}

/// Converts to SQLite's signed integer. Saturates, though no number here gets that large.
pub(crate) fn number(number: impl Into<u64>) -> Value {
    Value::Integer(i64::try_from(number.into()).unwrap_or(i64::MAX))
}

fn text(text: &Option<String>) -> Value {
    text.clone().map_or(Value::Null, Value::Text)
}

fn digest(digest: Option<Digest>) -> Value {
    digest.map_or(Value::Null, |digest| {
        Value::Blob(digest.as_bytes().to_vec())
    })
}
