//! [`SessionStart`]: how a session began.

use rusqlite::{Connection, OptionalExtension as _, params};
use tools::Grant;
use tools::journal::{Checkpoint, JournalFuture};

use crate::audit::unreadable;
use crate::error::Fault;
use crate::ledger::Ledger;
use crate::open::WITH_SESSIONS;
use crate::row::now_ms;
use crate::{Audit, AuditError, SqliteJournal};

/// The time, workspace and grant with which a session began.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionStart {
    /// The time, in milliseconds since 1970, UTC.
    pub at_ms: i64,
    /// The workspace's path or another name of it. The journal does not interpret it.
    pub workspace: String,
    /// The grant. A host narrows the grant of a resumed session by it.
    pub grant: Grant,
}

impl SessionStart {
    /// Creates the start of a session that begins now.
    pub fn new(workspace: impl Into<String>, grant: Grant) -> Self {
        Self { at_ms: now_ms(), workspace: workspace.into(), grant }
    }
}

impl SqliteJournal {
    /// Records the start of a session, unless the session has a checkpoint. Returns false if it has one.
    ///
    /// A session that ended before its first checkpoint ran no call, so another start replaces its own.
    pub fn start<'a>(&'a self, session: &'a str, start: SessionStart) -> JournalFuture<'a, bool> {
        let session = session.to_owned();
        Box::pin(self.writer.run(move |ledger| ledger.start(&session, &start)))
    }

    /// Returns the recorded start of a session, or `None` if there is none.
    pub fn find_start<'a>(&'a self, session: &'a str) -> JournalFuture<'a, Option<SessionStart>> {
        let session = session.to_owned();
        Box::pin(self.writer.run(move |ledger| find(ledger.connection, &session)))
    }
}

impl Audit {
    /// Returns the recorded start of a session, or `None` if there is none.
    ///
    /// # Errors
    /// Returns [`AuditError::Read`] if the journal cannot be read.
    pub fn find_start(&self, session: &str) -> Result<Option<SessionStart>, AuditError> {
        if self.version < WITH_SESSIONS {
            return Ok(None);
        }
        find(&self.connection, session).map_err(unreadable)
    }

    /// Returns the state and the first `messages` messages of a session's newest checkpoint, or `None` if it has none.
    ///
    /// # Errors
    /// Returns [`AuditError::Read`] if the journal cannot be read.
    pub fn checkpoint(&self, session: &str, messages: u32) -> Result<Option<Checkpoint>, AuditError> {
        let read = || -> Result<_, Fault> {
            let sql = "SELECT state FROM state WHERE session = ?";
            let state: Option<String> = self.connection.query_row(sql, [session], |row| row.get(0)).optional()?;
            let Some(state) = state else { return Ok(None) };
            let sql = "SELECT text FROM message WHERE session = ? ORDER BY place LIMIT ?";
            let mut statement = self.connection.prepare(sql)?;
            let texts = statement.query_map(params![session, messages], |row| row.get(0))?.collect::<Result<_, _>>()?;
            Ok(Some(Checkpoint::new(texts, state)))
        };
        read().map_err(unreadable)
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
        let permitted = serde_json::to_string(&start.grant).map_err(|_| Fault::Unwritable { column: "permitted" })?;
        let sql = "INSERT OR REPLACE INTO session (session, at_ms, workspace, permitted) VALUES (?, ?, ?, ?)";
        let row = params![session, start.at_ms, start.workspace, permitted];
        self.connection.prepare_cached(sql)?.execute(row)?;
        Ok(())
    }
}

/// Reads the start of a session.
pub(crate) fn find(connection: &Connection, session: &str) -> Result<Option<SessionStart>, Fault> {
    let sql = "SELECT at_ms, workspace, permitted FROM session WHERE session = ?";
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?));
    let Some((at_ms, workspace, permitted)) = connection.prepare_cached(sql)?.query_row([session], read).optional()?
    else {
        return Ok(None);
    };
    let grant = serde_json::from_str(&permitted).map_err(|_| Fault::DamagedStart { session: session.to_owned() })?;
    Ok(Some(SessionStart { at_ms, workspace, grant }))
}
