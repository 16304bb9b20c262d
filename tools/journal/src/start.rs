//! The rows of the starts of sessions.

use rusqlite::{Connection, OptionalExtension as _, params};
use tools::Grant;
use tools::journal::{Checkpoint, JournalFuture, SessionStart};

use crate::audit::{Audit, AuditError, unreadable};
use crate::ledger::Ledger;
use crate::open::{Fault, VERSION, WITH_JOBS, WITH_MODELS, WITH_SESSIONS};
use crate::sqlite::SqliteJournal;

impl SqliteJournal {
    /// Records the start of a session, unless the session has a checkpoint. Returns false if it has one.
    ///
    /// A session that ended before its first checkpoint ran no call, so another start replaces its own.
    pub fn start<'a>(&'a self, session: &'a str, start: SessionStart) -> JournalFuture<'a, bool> {
        let session = session.to_owned();
        Box::pin(
            self.writer
                .run_durably(move |ledger| ledger.start(&session, &start)),
        )
    }

    /// Returns the recorded start of a session, or `None` if there is none.
    pub fn find_start<'a>(&'a self, session: &'a str) -> JournalFuture<'a, Option<SessionStart>> {
        let session = session.to_owned();
        Box::pin(
            self.writer
                .run(move |ledger| find(ledger.connection, VERSION, &session)),
        )
    }
}

impl Audit {
    /// Returns the recorded start of a session, or `None` if there is none.
    ///
    /// # Errors
    /// Returns [`AuditError::Read`] if the journal cannot be read.
    pub fn find_start(&self, session: &str) -> Result<Option<SessionStart>, AuditError> {
        find(&self.connection, self.version, session).map_err(unreadable)
    }

    /// Returns the state and the first `messages` messages of a session's newest checkpoint, or `None` if it has none.
    ///
    /// # Errors
    /// Returns [`AuditError::Read`] if the journal cannot be read.
    pub fn checkpoint(
        &self,
        session: &str,
        messages: u32,
    ) -> Result<Option<Checkpoint>, AuditError> {
        self.read_checkpoint(session, messages).map_err(unreadable)
    }

    fn read_checkpoint(&self, session: &str, messages: u32) -> Result<Option<Checkpoint>, Fault> {
        let sql = "SELECT state FROM state WHERE session = ?";
        let state = self.connection.query_row(sql, [session], |row| row.get(0));
        let state: Option<String> = state.optional()?;
        let Some(state) = state else { return Ok(None) };
        let sql = "SELECT text FROM message WHERE session = ? ORDER BY place LIMIT ?";
        let mut statement = self.connection.prepare(sql)?;
        let texts = statement.query_map(params![session, messages], |row| row.get(0))?;
        let texts = texts.collect::<Result<_, _>>()?;
        Ok(Some(Checkpoint::new(texts, state)))
    }
}

impl Ledger<'_> {
    /// Records the start of a session without a checkpoint. Returns false if it has one.
    fn start(&self, session: &str, start: &SessionStart) -> Result<bool, Fault> {
        let sql = "SELECT 1 FROM state WHERE session = ?";
        if self.connection.prepare_cached(sql)?.exists([session])? {
            return Ok(false);
        }
        self.write_start(session, start)?;
        Ok(true)
    }

    /// Replaces the recorded start of a session.
    pub(crate) fn write_start(&self, session: &str, start: &SessionStart) -> Result<(), Fault> {
        let permitted = serde_json::to_string(&start.grant).map_err(|_| Fault::Unwritable {
            column: "permitted",
        })?;
        let sql =
            "INSERT OR REPLACE INTO session (session, at_ms, workspace, permitted, provider, model, base_url, job)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
        let row = params![
            session,
            start.at_ms,
            start.workspace,
            permitted,
            start.provider,
            start.model,
            start.base_url,
            start.job,
        ];
        self.connection.prepare_cached(sql)?.execute(row)?;
        Ok(())
    }
}

/// Reads the start of a session in a file of this schema version.
pub(crate) fn find(
    connection: &Connection,
    version: i64,
    session: &str,
) -> Result<Option<SessionStart>, Fault> {
    if version < WITH_SESSIONS {
        return Ok(None);
    }
    let model = if version < WITH_MODELS {
        "NULL, NULL, NULL"
    } else {
        "provider, model, base_url"
    };
    let job = if version < WITH_JOBS { "NULL" } else { "job" };
    let sql = format!(
        "SELECT permitted, at_ms, workspace, {model}, {job} FROM session WHERE session = ?"
    );
    let Some((permitted, mut start)) = connection
        .prepare_cached(&sql)?
        .query_row([session], |row| {
            let mut start = SessionStart::new(row.get::<_, String>(2)?, Grant::none());
            (start.at_ms, start.provider, start.model) = (row.get(1)?, row.get(3)?, row.get(4)?);
            (start.base_url, start.job) = (row.get(5)?, row.get(6)?);
            Ok((row.get::<_, String>(0)?, start))
        })
        .optional()?
    else {
        return Ok(None);
    };
    start.grant = serde_json::from_str(&permitted).map_err(|_| Fault::DamagedStart {
        session: session.to_owned(),
    })?;
    Ok(Some(start))
}
