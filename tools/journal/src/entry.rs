//! [`AuditEntry`]: one row of a journal, for people and programs that look at it.

use rusqlite::Row;
use serde::Serialize;
use serde_json::Value;
use tools::Digest;

use crate::error::Fault;
use crate::ledger::stored_digest;

/// One row of a journal. As JSON, what does not apply is absent.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AuditEntry {
    /// Its number, from 1.
    pub seq: u64,
    /// When it was written, in milliseconds since 1970, UTC.
    pub at_ms: i64,
    /// `intent`, `outcome` or `refusal`.
    pub kind: String,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The turn of the session, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// Which call of the turn it is, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    /// For a call that a tool made: which of that tool's calls it is, such as `2.0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The how manyth attempt it is, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// How many calls are around it.
    pub depth: u32,
    /// The row in which the call was begun that made this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<u64>,
    /// The row in which the call was begun that ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent: Option<u64>,
    /// The id of the call, as the model named it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// On whose behalf it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    /// The request that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// The tool.
    pub tool: String,
    /// The digest of its definition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_digest: Option<Digest>,
    /// The digest of the arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments_digest: Option<Digest>,
    /// The arguments, where they were kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// The [code](tools::ErrorCode) of the error, as it stands there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Why the call was refused, where that was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The digest of the whole result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_digest: Option<Digest>,
    /// The result, as it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// How long the call took, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_us: Option<u64>,
    /// The hash of the row.
    pub hash: Digest,
}

impl AuditEntry {
    /// Reads a row that has all columns and the hash, by their names.
    pub(crate) fn read(row: &Row<'_>) -> Result<Self, Fault> {
        let seq: i64 = row.get("seq")?;
        let digest = |column| row.get::<_, Option<Vec<u8>>>(column)?.map(|bytes| stored_digest(seq, bytes)).transpose();
        // What is no JSON any more is shown as it is.
        let json = |column| {
            let text: Option<String> = row.get(column)?;
            Ok::<_, Fault>(text.map(|text| serde_json::from_str(&text).unwrap_or(Value::String(text))))
        };
        Ok(Self {
            seq: row.get("seq")?,
            at_ms: row.get("at_ms")?,
            kind: row.get("kind")?,
            session: row.get("session")?,
            turn: row.get("turn")?,
            index: row.get("place")?,
            path: row.get::<_, Option<String>>("path")?.filter(|path| !path.is_empty()),
            attempt: row.get("attempt")?,
            depth: row.get("depth")?,
            parent: row.get("parent")?,
            intent: row.get("intent")?,
            call_id: row.get("call_id")?,
            principal: row.get("principal")?,
            correlation_id: row.get("correlation_id")?,
            tool: row.get("tool")?,
            tool_digest: digest("tool_digest")?,
            arguments_digest: digest("arguments_digest")?,
            arguments: json("arguments")?,
            error: row.get("error")?,
            reason: row.get("reason")?,
            result_digest: digest("result_digest")?,
            result: json("result")?,
            duration_us: row.get("duration_us")?,
            hash: stored_digest(seq, row.get("hash")?)?,
        })
    }
}
