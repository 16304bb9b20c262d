//! Checkpoints: a run is written down where another process can go on with it.

use tools::call::{Isolated, Panic};
use tools::journal::JournalFuture;
use tools::{Journal, JournalError};

use super::{Driver, DriverError, Setting};
use crate::{Outcome, Run, Session, Step};

impl Driver {
    /// Writes the run down, where there is a journal and that is wanted. One that was taken back or failed is not: what was
    /// written before is where to go on from.
    pub(super) async fn checkpoint(&self, run: &Run, setting: &Setting<'_>) -> Result<(), DriverError> {
        let cx = setting.session.context();
        let (true, Some(journal), Some(session)) = (self.checkpoints, cx.journal(), cx.session()) else {
            return Ok(());
        };
        if let Step::Done(summary) = run.step()
            && !matches!(summary.outcome, Outcome::Answer { .. } | Outcome::StepBudget { .. })
        {
            return Ok(());
        }
        let state = serde_json::to_string(run).map_err(|error| DriverError::Stored { reason: error.to_string() })?;
        // Where the run is cancelled, nobody waits for a disk.
        let saved = setting.token.run_until_cancelled(told(|| journal.save(session, &state))).await;
        Ok(saved.unwrap_or(Ok(()))?)
    }
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
        let Some(state) = told(|| Journal::load(&**journal, session)).await? else { return Ok(None) };
        serde_json::from_str(&state).map(Some).map_err(|error| DriverError::Stored { reason: error.to_string() })
    }
}

/// What the journal says. Its panic goes no further.
async fn told<'a, T>(ask: impl FnOnce() -> JournalFuture<'a, T>) -> Result<T, JournalError> {
    let told = Isolated::new(ask).await;
    told.unwrap_or_else(|Panic(message)| Err(JournalError::failed(format!("it panicked: {message}"))))
}
