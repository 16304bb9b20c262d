//! Checkpoints: a run is written down where another process can go on with it.

use tools::call::{Isolated, Panic};
use tools::journal::{CheckpointId, JournalFuture};
use tools::{Journal, JournalError};

use super::{Driver, DriverError, Setting};
use crate::{Run, Session};

/// The last checkpoint of a run.
#[derive(Clone, Copy)]
pub(super) struct Saved {
    id: CheckpointId,
    /// How many of the run's messages are in it.
    messages: usize,
}

impl Driver {
    /// Writes the run down, where there is a journal and that is wanted. One that was taken back or failed is not: what was
    /// written before is where to go on from.
    pub(super) async fn checkpoint(
        &self,
        run: &Run,
        saved: &mut Option<Saved>,
        setting: &Setting<'_>,
    ) -> Result<(), DriverError> {
        let cx = setting.session.context();
        let (true, Some(journal), Some(session)) = (self.checkpoints, cx.journal(), cx.session()) else {
            return Ok(());
        };
        if run.is_broken_off() {
            return Ok(());
        }
        // Where the run is cancelled, nobody waits for a disk.
        if let Some(id) = setting.token.run_until_cancelled(save(&**journal, session, run, *saved)).await {
            *saved = Some(Saved { id: id?, messages: run.messages().len() });
        }
        Ok(())
    }
}

/// Adds the new messages to the last checkpoint, or saves all of them if there is none.
async fn save(
    journal: &dyn Journal,
    session: &str,
    run: &Run,
    last: Option<Saved>,
) -> Result<CheckpointId, DriverError> {
    if let Some(Saved { id, messages }) = last {
        let added = run.to_checkpoint(messages).map_err(no_run)?;
        // Where another driver has saved the session since, the last one to save wins, with all of its messages.
        if let Some(id) = told(|| journal.append(session, id, added)).await? {
            return Ok(id);
        }
    }
    let whole = run.to_checkpoint(0).map_err(no_run)?;
    Ok(told(|| journal.save(session, whole)).await?)
}

impl Session {
    /// The run that the journal of its context has for a session of its name: how far one with
    /// [checkpoints](Driver::with_checkpoints) had come. [`Driver::resume`] goes on with it.
    ///
    /// # Errors
    /// [`DriverError::Journal`] when that cannot be read, [`DriverError::Stored`] when it is no run.
    pub async fn stored_run(&self) -> Result<Option<Run>, DriverError> {
        let (Some(journal), Some(session)) = (self.context().journal(), self.context().session()) else {
            return Ok(None);
        };
        let stored = told(|| Journal::load(&**journal, session)).await?;
        stored.as_ref().map(Run::from_checkpoint).transpose().map_err(no_run)
    }
}

fn no_run(error: serde_json::Error) -> DriverError {
    DriverError::Stored { reason: error.to_string() }
}

/// What the journal says. Its panic goes no further.
async fn told<'a, T>(ask: impl FnOnce() -> JournalFuture<'a, T>) -> Result<T, JournalError> {
    let told = Isolated::new(ask).await;
    told.unwrap_or_else(|Panic(message)| Err(JournalError::failed(format!("it panicked: {message}"))))
}
