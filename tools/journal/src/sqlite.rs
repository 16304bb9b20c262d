//! [`SqliteJournal`]: a journal in a SQLite file.

use std::path::Path;
use std::sync::Arc;

use tools::journal::{
    BeginResult, CallKey, CallRecord, Checkpoint, CheckpointId, IntentId, Journal, JournalError,
    JournalFuture, OutcomeRecord, RecordedCall,
};
use tools::protocol::canonical_json;
use tools::{Digest, ErrorCode, Json, ToolResult};
use tools_store::{Durability, StoreError};

use crate::log::Log;
use crate::open;
use crate::open::OpenError;
use crate::row::{INTENT, REFUSAL, Row, now_ms};
use crate::writer::Writer;

/// A journal in a SQLite file. Clones share the file and its writer thread.
///
/// Several processes may write to one file. A method returns after its commit. Concurrent calls share a commit; while the queue
/// of 1,024 entries is full, further calls wait. Dropping the last clone waits until the queue is written and the file is closed.
///
/// With [`Durability::Power`], [`begin`](Journal::begin) and [`start`](Self::start) also wait for the disk, together with all records before
/// them. So an effect never precedes its intent, nor the outcome that led to it. Other records, such as the outcome of the last call, are
/// on the disk after 50 ms. If a loss of power takes an outcome, the call counts as one that was begun.
#[derive(Clone)]
pub struct SqliteJournal {
    pub(crate) writer: Arc<Writer>,
    pub(crate) options: JournalOptions,
}

impl SqliteJournal {
    /// Opens or creates a journal file. A created file has mode 600. Blocks the calling thread.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened or created, is not a journal, or was written by a newer version.
    pub fn open(path: impl AsRef<Path>, options: JournalOptions) -> Result<Self, OpenError> {
        let path = path.as_ref();
        let connection = open::to_write(path, options.durability)?;
        let log = match options.durability {
            Durability::Power => Log::of(&connection, path).map_err(StoreError::from)?,
            _ => Log::default(),
        };
        Ok(Self {
            writer: Arc::new(Writer::start(connection, path.to_owned(), log)?),
            options,
        })
    }

    /// Returns the text to store for a result, and the digest of the complete result.
    fn stored_result(&self, result: &ToolResult) -> Result<(String, Digest), JournalError> {
        let text = canonical(result)?;
        let digest = Digest::hash_bytes(text.as_bytes());
        if text.len() <= self.options.max_result_bytes {
            return Ok((text, digest));
        }
        let length = text.len();
        let note = format!("[the call ran; its result of {length} bytes was too large to store]");
        let kept = ToolResult {
            is_error: result.is_error,
            ..ToolResult::text(note)
        };
        Ok((canonical(&kept)?, digest))
    }
}

impl Journal for SqliteJournal {
    fn find<'a>(&'a self, key: &'a CallKey) -> JournalFuture<'a, Option<RecordedCall>> {
        let key = key.clone();
        Box::pin(self.writer.run(move |ledger| ledger.last_attempt(&key)))
    }

    fn begin<'a>(&'a self, call: CallRecord<'a>, attempt: u32) -> JournalFuture<'a, BeginResult> {
        let row = Row {
            attempt: Some(attempt),
            ..Row::from_call(INTENT, &call, self.options.arguments)
        };
        Box::pin(self.writer.run_durably(move |ledger| {
            // In the transaction of the append, because another process may resume the same session: a call with a key runs
            // at most once.
            if let Some(key) = &row.key
                && let Some(recorded) = ledger.last_attempt(key)?
                && recorded.attempt >= attempt
            {
                return Ok(BeginResult::AlreadyStarted(recorded));
            }
            ledger
                .append(&row)
                .map(|seq| BeginResult::Started(IntentId(seq)))
        }))
    }

    fn end<'a>(&'a self, intent: IntentId, outcome: OutcomeRecord<'a>) -> JournalFuture<'a, ()> {
        Box::pin(async move {
            let (result, result_digest) = self.stored_result(outcome.result)?;
            let row = Row {
                at_ms: now_ms(),
                error: outcome.error,
                result: Some(result),
                result_digest: Some(result_digest),
                duration_us: Some(u64::try_from(outcome.duration.as_micros()).unwrap_or(u64::MAX)),
                ..Row::default()
            };
            self.writer
                // A clone, because the writer runs the work again if its batch fails.
                .run(move |ledger| ledger.append_outcome(intent.0, row.clone()))
                .await
        })
    }

    fn refuse<'a>(
        &'a self,
        call: CallRecord<'a>,
        code: ErrorCode,
        reason: &'a str,
    ) -> JournalFuture<'a, ()> {
        let mut row = Row::from_call(REFUSAL, &call, self.options.arguments);
        row.error = Some(code);
        // The reason may quote the arguments. The ruling does not.
        row.reason = self.options.arguments.then(|| reason.to_owned());
        Box::pin(self.writer.run(move |ledger| ledger.append(&row).map(drop)))
    }

    fn save<'a>(
        &'a self,
        session: &'a str,
        checkpoint: Checkpoint,
    ) -> JournalFuture<'a, CheckpointId> {
        let session = session.to_owned();
        Box::pin(
            self.writer
                .run(move |ledger| ledger.save(&session, &checkpoint)),
        )
    }

    fn append<'a>(
        &'a self,
        session: &'a str,
        last: CheckpointId,
        added: Checkpoint,
    ) -> JournalFuture<'a, Option<CheckpointId>> {
        let session = session.to_owned();
        Box::pin(
            self.writer
                .run(move |ledger| ledger.append_to(&session, last, &added)),
        )
    }

    fn load<'a>(&'a self, session: &'a str) -> JournalFuture<'a, Option<Checkpoint>> {
        let session = session.to_owned();
        Box::pin(self.writer.run(move |ledger| ledger.load(&session)))
    }
}

fn canonical(result: &ToolResult) -> Result<String, JournalError> {
    let json = Json::from_serialize(result).map_err(JournalError::failed)?;
    Ok(canonical_json(&json))
}

tools::debug_fields!(self: SqliteJournal { options });

/// Options for [`SqliteJournal::open`](crate::SqliteJournal::open).
#[derive(Clone, Debug)]
pub struct JournalOptions {
    /// The failures that an acknowledged intent survives. By default a loss of power is one, because a call that may run only
    /// once must not be forgotten. The example `rate` measures how much faster [`Durability::Process`] is.
    pub durability: Durability,
    /// Whether to store arguments, and the messages of refusals, which may quote arguments. Values that a schema marks as
    /// secret are masked; other values may still be confidential. By default only digests of arguments are stored.
    pub arguments: bool,
    /// The size limit of a stored result, in bytes of JSON; by default 1 MiB. Of a larger result only the digest is stored; a
    /// resumed session is given a note instead.
    pub max_result_bytes: usize,
}

impl Default for JournalOptions {
    fn default() -> Self {
        Self {
            durability: Durability::default(),
            arguments: false,
            max_result_bytes: 1024 * 1024,
        }
    }
}
