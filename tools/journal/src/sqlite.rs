//! [`SqliteJournal`]: a journal in a file of SQLite.

use std::path::Path;
use std::sync::Arc;

use tools::journal::{
    Begun, CallKey, CallRecord, Checkpoint, CheckpointId, IntentId, Journal, JournalFuture, OutcomeRecord, Recorded,
};
use tools::protocol::canonical_json;
use tools::{Digest, ErrorCode, JournalError, Json, ToolResult};

use crate::row::{INTENT, REFUSAL, Row, now_ms};
use crate::writer::Writer;
use crate::{JournalOptions, OpenError, open};

/// A journal in one file. Clones write the same one. Several processes may write one file side by side; each row follows
/// that which was written last.
///
/// Whatever a method acknowledges is committed. Calls that come at the same time share a commit, and those for which there is
/// no place in the queue (1,024) wait for one.
#[derive(Clone)]
pub struct SqliteJournal {
    writer: Arc<Writer>,
    options: JournalOptions,
}

impl SqliteJournal {
    /// Opens a file, or makes it, readable by its owner alone. Blocks for as long as that takes.
    ///
    /// # Errors
    /// [`OpenError`], also for a file that is something else and for one that a newer version wrote.
    pub fn open(path: impl AsRef<Path>, options: JournalOptions) -> Result<Self, OpenError> {
        let connection = open::to_write(path.as_ref(), options.durability)?;
        Ok(Self { writer: Arc::new(Writer::start(connection)?), options })
    }
}

impl Journal for SqliteJournal {
    fn find<'a>(&'a self, key: &'a CallKey) -> JournalFuture<'a, Option<Recorded>> {
        let key = key.clone();
        Box::pin(self.writer.run(move |ledger| ledger.last_of(&key)))
    }

    fn begin<'a>(&'a self, call: CallRecord<'a>, attempt: u32) -> JournalFuture<'a, Begun> {
        let row = Row { attempt: Some(attempt), ..Row::of(INTENT, &call, self.options.arguments) };
        Box::pin(self.writer.run(move |ledger| {
            if let Some(key) = &row.key
                && let Some(recorded) = ledger.last_of(key)?
                && recorded.attempt >= attempt
            {
                return Ok(Begun::Before(recorded));
            }
            ledger.append(&row).map(|seq| Begun::Now(IntentId(seq)))
        }))
    }

    fn end<'a>(&'a self, intent: IntentId, outcome: OutcomeRecord<'a>) -> JournalFuture<'a, ()> {
        Box::pin(async move {
            let (result, result_digest) = self.kept(outcome.result)?;
            let row = Row {
                at_ms: now_ms(),
                error: outcome.error,
                result: Some(result),
                result_digest: Some(result_digest),
                duration_us: Some(u64::try_from(outcome.duration.as_micros()).unwrap_or(u64::MAX)),
                ..Row::default()
            };
            self.writer.run(move |ledger| ledger.append_outcome(intent.0, row.clone())).await
        })
    }

    fn refuse<'a>(&'a self, call: CallRecord<'a>, code: ErrorCode, reason: &'a str) -> JournalFuture<'a, ()> {
        let mut row = Row::of(REFUSAL, &call, self.options.arguments);
        row.error = Some(code);
        // It may quote the arguments.
        row.reason = self.options.arguments.then(|| reason.to_owned());
        Box::pin(self.writer.run(move |ledger| ledger.append(&row).map(drop)))
    }

    fn save<'a>(&'a self, session: &'a str, checkpoint: Checkpoint) -> JournalFuture<'a, CheckpointId> {
        let session = session.to_owned();
        Box::pin(self.writer.run(move |ledger| ledger.save(&session, &checkpoint)))
    }

    fn append<'a>(
        &'a self,
        session: &'a str,
        last: CheckpointId,
        added: Checkpoint,
    ) -> JournalFuture<'a, Option<CheckpointId>> {
        let session = session.to_owned();
        Box::pin(self.writer.run(move |ledger| ledger.append_to(&session, last, &added)))
    }

    fn load<'a>(&'a self, session: &'a str) -> JournalFuture<'a, Option<Checkpoint>> {
        let session = session.to_owned();
        Box::pin(self.writer.run(move |ledger| ledger.load(&session)))
    }
}

impl SqliteJournal {
    /// A result as it is kept, and the digest of what it was.
    fn kept(&self, result: &ToolResult) -> Result<(String, Digest), JournalError> {
        let text = canonical(result)?;
        let digest = Digest::hash_bytes(text.as_bytes());
        if text.len() <= self.options.max_result_bytes {
            return Ok((text, digest));
        }
        let note = format!("[the call was made; its result of {} bytes was too large to be kept]", text.len());
        let kept = ToolResult { is_error: result.is_error, ..ToolResult::text(note) };
        Ok((canonical(&kept)?, digest))
    }
}

fn canonical(result: &ToolResult) -> Result<String, JournalError> {
    let json = Json::from_serialize(result).map_err(JournalError::failed)?;
    Ok(canonical_json(&json))
}

impl std::fmt::Debug for SqliteJournal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteJournal").field("options", &self.options).finish_non_exhaustive()
    }
}
