//! Writes checkpoints of a run to the journal, from which another process can resume it.

use std::pin::pin;

use tokio::time::timeout;
use tools::Journal;
use tools::call::{Isolated, Panic};
use tools::context::KnownTexts;
use tools::journal::{CheckpointId, JournalError, JournalFuture};

use super::gated_execution::GRACE;
use super::{Driver, DriverError, RunContext};
use crate::budget::Spending;
use crate::run::Run;
use crate::session::Session;

/// The last checkpoint of a run.
#[derive(Clone, Copy)]
pub(super) struct LastCheckpoint {
    id: CheckpointId,
    /// The number of the run's messages in it.
    messages: usize,
    spent: Spending,
}

impl Driver {
    /// Writes a checkpoint if checkpoints are enabled and the session has a journal and a name. A cancelled or failed run keeps
    /// its last checkpoint, from which it can be resumed. The run keeps the spending of its budget.
    pub(super) async fn checkpoint(
        &self,
        run: &mut Run,
        last: &mut Option<LastCheckpoint>,
        run_cx: &RunContext<'_>,
    ) -> Result<(), DriverError> {
        if run.is_interrupted() {
            return Ok(());
        }
        run.record_spent(run_cx.budget.spent());
        let cx = run_cx.session.context();
        run.exposed |= cx.is_exposed();
        if let Some(known) = cx.service::<KnownTexts>() {
            run.urls = known.count();
        }
        let (true, Some(journal), Some(session)) = (self.checkpoints, cx.journal(), cx.session())
        else {
            return Ok(());
        };
        // A cancelled run does not wait for the disk.
        if let Some(id) = run_cx
            .token
            .run_until_cancelled(save(&**journal, session, run, *last))
            .await
        {
            *last = Some(LastCheckpoint {
                id: id?,
                messages: run.messages().len(),
                spent: run.spent(),
            });
        }
        Ok(())
    }

    /// Adds the spending of a cancelled or failed run to its last checkpoint, so that a resumed run has used it. A request without a turn
    /// is made again, so it counts as no step. Waits up to [`GRACE`] for the disk.
    pub(super) async fn keep_spent(
        &self,
        run: &Run,
        last: Option<LastCheckpoint>,
        run_cx: &RunContext<'_>,
    ) -> Result<(), DriverError> {
        let cx = run_cx.session.context();
        let (Some(last), Some(journal), Some(session)) = (last, cx.journal(), cx.session()) else {
            return Ok(());
        };
        let spent = Spending {
            steps: run.spent().steps,
            ..run_cx.budget.spent()
        };
        if !run.is_interrupted() || spent == last.spent {
            return Ok(());
        }
        let mut saved = pin!(save_spent(&**journal, session, last, spent));
        // tokio panics if the time driver of the runtime is disabled.
        if let Ok(limited) = Panic::catch(|| timeout(GRACE, saved.as_mut())) {
            return limited.await.unwrap_or(Ok(()));
        }
        saved.await
    }
}

/// Replaces the spending in the last checkpoint. Keeps a checkpoint that another driver saved meanwhile.
async fn save_spent(
    journal: &dyn Journal,
    session: &str,
    last: LastCheckpoint,
    spent: Spending,
) -> Result<(), DriverError> {
    let Some(stored) = isolate(|| journal.load(session)).await? else {
        return Ok(());
    };
    let mut run = Run::from_checkpoint(&stored).map_err(invalid_run)?;
    if run.record_spent(spent) {
        let state = run.to_checkpoint(run.messages().len());
        let state = state.map_err(invalid_run)?;
        isolate(|| journal.append(session, last.id, state)).await?;
    }
    Ok(())
}

/// Adds the new messages to the last checkpoint, or saves all of them if there is none.
async fn save(
    journal: &dyn Journal,
    session: &str,
    run: &Run,
    last: Option<LastCheckpoint>,
) -> Result<CheckpointId, DriverError> {
    if let Some(LastCheckpoint { id, messages, .. }) = last {
        let added = run.to_checkpoint(messages).map_err(invalid_run)?;
        // `append` returns `None` if another driver saved the session meanwhile. The last save wins, with all its messages.
        if let Some(id) = isolate(|| journal.append(session, id, added)).await? {
            return Ok(id);
        }
    }
    let whole = run.to_checkpoint(0).map_err(invalid_run)?;
    Ok(isolate(|| journal.save(session, whole)).await?)
}

impl Session {
    /// Loads the last [checkpoint](Driver::with_checkpoints) of this session's name from its journal, for [`Driver::resume`].
    ///
    /// Returns `None` if the session has no journal, no name or no checkpoint.
    ///
    /// # Errors
    /// - Returns [`DriverError::Journal`] if the journal cannot be read.
    /// - Returns [`DriverError::Stored`] if the checkpoint is not a valid run.
    pub async fn stored_run(&self) -> Result<Option<Run>, DriverError> {
        let (Some(journal), Some(session)) = (self.context().journal(), self.context().session())
        else {
            return Ok(None);
        };
        let stored = isolate(|| Journal::load(&**journal, session)).await?;
        let run = stored.as_ref().map(Run::from_checkpoint);
        run.transpose().map_err(invalid_run)
    }
}

fn invalid_run(error: serde_json::Error) -> DriverError {
    let reason = error.to_string();
    DriverError::Stored { reason }
}

/// Awaits a journal operation. A panic becomes a [`JournalError`].
async fn isolate<'a, T>(
    operation: impl FnOnce() -> JournalFuture<'a, T>,
) -> Result<T, JournalError> {
    let outcome = Isolated::new(operation).await;
    outcome.unwrap_or_else(|Panic(message)| {
        Err(JournalError::failed(format!("it panicked: {message}")))
    })
}
