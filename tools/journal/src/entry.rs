//! [`AuditEntry`]: one row of a journal, as an audit reads it.

use rusqlite::Row;
use serde::Serialize;
use serde_json::Value;
use tools::Digest;

use crate::ledger::{find_digest, stored_digest};
use crate::open::Fault;
use crate::row::RULING;

/// One row of a journal. Serialized, columns without a value are left out.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AuditEntry {
    /// The row's number, from 1.
    pub seq: u64,
    /// The time of writing, in milliseconds since 1970, UTC.
    pub at_ms: i64,
    /// `intent`, `outcome`, `refusal` or `erased`.
    pub kind: String,
    /// The session's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The turn of the session, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// The call's index in the turn, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    /// The path of a nested call below the turn's call, such as `2.0`. See [`CallKey::path`](tools::journal::CallKey::path).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The number of the attempt, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// The number of enclosing calls; 0 for a call that no tool made.
    pub depth: u32,
    /// The intent row of the enclosing call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<u64>,
    /// For an outcome: the call's intent row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent: Option<u64>,
    /// The call's id, assigned by the model, such as `call_7`. That of a sub-agent's call has its path in front: `review/call_7`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The principal on whose behalf the call ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    /// The correlation id of the request that caused the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// The tool's name.
    pub tool: String,
    /// The digest of the tool's definition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_digest: Option<Digest>,
    /// The digest of the arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments_digest: Option<Digest>,
    /// The arguments with secrets masked, if the journal stores them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// The stored [error code](tools::ErrorCode).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// For a refusal: its message, if the journal stores arguments, which the message may quote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The digest of the complete result, even if the result itself was too large to store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_digest: Option<Digest>,
    /// The stored result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// The duration of the call, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_us: Option<u64>,
    /// For an intent and a refusal: the decision, with the clauses of the grant and the rules of the policy that decided and the
    /// places that set them. `None` if the call failed before the decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ruling: Option<String>,
    /// The row's hash.
    pub hash: Digest,
}

impl AuditEntry {
    /// Reads a row by column names. The row must have all columns and the hash.
    pub(crate) fn read(row: &Row<'_>) -> Result<Self, Fault> {
        let seq: i64 = row.get("seq")?;
        Ok(Self {
            seq: row.get("seq")?,
            at_ms: row.get("at_ms")?,
            kind: row.get("kind")?,
            session: row.get("session")?,
            turn: row.get("turn")?,
            index: row.get("place")?,
            path: row
                .get::<_, Option<String>>("path")?
                .filter(|path| !path.is_empty()),
            attempt: row.get("attempt")?,
            depth: row.get("depth")?,
            parent: row.get("parent")?,
            intent: row.get("intent")?,
            call_id: row.get("call_id")?,
            principal: row.get("principal")?,
            correlation_id: row.get("correlation_id")?,
            tool: row.get("tool")?,
            tool_digest: find_digest(row, seq, "tool_digest")?,
            arguments_digest: find_digest(row, seq, "arguments_digest")?,
            arguments: find_json(row, "arguments")?,
            error: row.get("error")?,
            reason: row.get("reason")?,
            result_digest: find_digest(row, seq, "result_digest")?,
            result: find_json(row, "result")?,
            duration_us: row.get("duration_us")?,
            ruling: row.get(RULING)?,
            hash: stored_digest(seq, row.get("hash")?)?,
        })
    }
}

/// Reads a column of JSON. An audit must show damaged rows too: a text that is not JSON is returned as a string.
fn find_json(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<Value>> {
    let text: Option<String> = row.get(column)?;
    Ok(text.map(|text| serde_json::from_str(&text).unwrap_or(Value::String(text))))
}
