//! [`Witness`].

use std::fs::File;
use std::io::Write as _;

use tools::ErrorCode;
use tools::journal::{
    BeginResult, CallKey, CallRecord, Checkpoint, CheckpointId, IntentId, Journal, JournalFuture,
    OutcomeRecord, RecordedCall,
};
use tools_journal::SqliteJournal;

/// A journal that writes each acknowledged record to a file.
pub(super) struct Witness {
    pub(super) journal: SqliteJournal,
    pub(super) acknowledged: File,
}

impl Witness {
    fn note(&self, line: String) {
        (&self.acknowledged).write_all(line.as_bytes()).unwrap();
    }
}

impl Journal for Witness {
    fn find<'a>(&'a self, key: &'a CallKey) -> JournalFuture<'a, Option<RecordedCall>> {
        self.journal.find(key)
    }

    fn begin<'a>(&'a self, call: CallRecord<'a>, attempt: u32) -> JournalFuture<'a, BeginResult> {
        Box::pin(async move {
            let begun = self.journal.begin(call, attempt).await?;
            if let BeginResult::Started(IntentId(seq)) = begun {
                self.note(format!("intent {seq}\n"));
            }
            Ok(begun)
        })
    }

    fn end<'a>(&'a self, intent: IntentId, outcome: OutcomeRecord<'a>) -> JournalFuture<'a, ()> {
        Box::pin(async move {
            self.journal.end(intent, outcome).await?;
            self.note(format!("outcome {}\n", intent.0));
            Ok(())
        })
    }

    fn refuse<'a>(
        &'a self,
        call: CallRecord<'a>,
        code: ErrorCode,
        reason: &'a str,
    ) -> JournalFuture<'a, ()> {
        self.journal.refuse(call, code, reason)
    }

    fn save<'a>(
        &'a self,
        session: &'a str,
        checkpoint: Checkpoint,
    ) -> JournalFuture<'a, CheckpointId> {
        self.journal.save(session, checkpoint)
    }

    fn append<'a>(
        &'a self,
        session: &'a str,
        last: CheckpointId,
        added: Checkpoint,
    ) -> JournalFuture<'a, Option<CheckpointId>> {
        self.journal.append(session, last, added)
    }

    fn load<'a>(&'a self, session: &'a str) -> JournalFuture<'a, Option<Checkpoint>> {
        self.journal.load(session)
    }
}
