//! Storage of checkpoints: one row of state for each session, and one row for each message.

use rusqlite::{OptionalExtension as _, params};
use tools::journal::{Checkpoint, CheckpointId};

use crate::ledger::Ledger;
use crate::open::Fault;
use crate::row::{now_ms, number};

impl Ledger<'_> {
    /// Replaces the session's stored messages and state.
    pub(crate) fn save(
        &self,
        session: &str,
        checkpoint: &Checkpoint,
    ) -> Result<CheckpointId, Fault> {
        self.connection
            .prepare_cached("DELETE FROM message WHERE session = ?")?
            .execute([session])?;
        self.write(session, self.newest(session)?, 0, checkpoint)
    }

    /// Appends to the session's newest checkpoint. Returns `None` if that is not `last`.
    pub(crate) fn append_to(
        &self,
        session: &str,
        last: CheckpointId,
        added: &Checkpoint,
    ) -> Result<Option<CheckpointId>, Fault> {
        let newest = self.newest(session)?;
        if newest != Some(last) {
            return Ok(None);
        }
        let sql = "SELECT ifnull(max(place) + 1, 0) FROM message WHERE session = ?";
        let mut statement = self.connection.prepare_cached(sql)?;
        let place = statement.query_row([session], |row| row.get(0))?;
        self.write(session, newest, place, added).map(Some)
    }

    /// Returns the session's state and messages, or `None` if the session has no checkpoint.
    pub(crate) fn load(&self, session: &str) -> Result<Option<Checkpoint>, Fault> {
        let sql = "SELECT state, checkpoint FROM state WHERE session = ?";
        let mut statement = self.connection.prepare_cached(sql)?;
        let row = statement.query_row([session], |row| <(String, i64)>::try_from(row));
        let Some((state, checkpoint)) = row.optional()? else {
            return Ok(None);
        };
        // A process that opened the file at version 1 stores the whole conversation in the state. Any message rows then belong
        // to an earlier checkpoint.
        if checkpoint == 0 {
            return Ok(Some(Checkpoint::new(Vec::new(), state)));
        }
        let sql = "SELECT text FROM message WHERE session = ? ORDER BY place";
        let mut statement = self.connection.prepare_cached(sql)?;
        let messages = statement.query_map([session], |row| row.get(0))?;
        let messages = messages.collect::<Result<_, _>>()?;
        Ok(Some(Checkpoint::new(messages, state)))
    }

    fn newest(&self, session: &str) -> Result<Option<CheckpointId>, Fault> {
        let sql = "SELECT checkpoint FROM state WHERE session = ?";
        let mut statement = self.connection.prepare_cached(sql)?;
        let newest = statement.query_row([session], |row| row.get(0).map(CheckpointId));
        Ok(newest.optional()?)
    }

    /// Inserts the messages, numbered from `place` on, and replaces the state.
    fn write(
        &self,
        session: &str,
        newest: Option<CheckpointId>,
        place: u64,
        checkpoint: &Checkpoint,
    ) -> Result<CheckpointId, Fault> {
        let sql = "INSERT INTO message (session, place, text) VALUES (?, ?, ?)";
        let mut insert = self.connection.prepare_cached(sql)?;
        for (place, text) in (place..).zip(&checkpoint.messages) {
            insert.execute(params![session, number(place), text])?;
        }
        // From 1 on: 0 is the mark of a process of version 1, see `load`.
        let id = CheckpointId(newest.map_or(0, |CheckpointId(number)| number) + 1);
        let sql =
            "INSERT OR REPLACE INTO state (session, at_ms, state, checkpoint) VALUES (?, ?, ?, ?)";
        let state = params![session, now_ms(), checkpoint.state, number(id.0)];
        self.connection.prepare_cached(sql)?.execute(state)?;
        Ok(id)
    }
}
