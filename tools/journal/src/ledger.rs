//! [`Ledger`]: reads and writes a journal within one transaction.

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, RowIndex, params, params_from_iter};
use tools::Digest;
use tools::journal::{CallKey, RecordedCall};

use crate::chain;
use crate::chain::Head;
use crate::open::Fault;
use crate::row::{COLUMNS, OUTCOME, Row, number};

/// A journal inside of an exclusive write transaction.
pub(crate) struct Ledger<'a> {
    pub(crate) connection: &'a Connection,
    head: Head,
}

impl<'a> Ledger<'a> {
    pub(crate) fn new(connection: &'a Connection) -> Result<Self, Fault> {
        // Read for each transaction, because other processes write between two of them.
        let last = "SELECT seq, hash FROM entry ORDER BY seq DESC LIMIT 1";
        let mut statement = connection.prepare_cached(last)?;
        let last = statement.query_row([], |row| Ok((row.get(0)?, row.get(1)?)));
        let head = match last.optional()? {
            None => Head::new(0, chain::genesis()),
            Some((seq, hash)) => Head::new(to_u64(seq, seq, "seq")?, stored_digest(seq, hash)?),
        };
        Ok(Self { connection, head })
    }

    /// Appends a row and returns its number.
    pub(crate) fn append(&mut self, row: &Row) -> Result<u64, Fault> {
        self.append_columns(row.columns(self.next()))
    }

    /// Returns the number of the next row.
    pub(crate) fn next(&self) -> u64 {
        self.head.count + 1
    }

    /// Appends a row of these columns, the first of which is [`next`](Self::next), and returns its number.
    pub(crate) fn append_columns(&mut self, columns: [Value; COLUMNS.len()]) -> Result<u64, Fault> {
        let seq = self.next();
        let mut random = self.connection.prepare_cached("SELECT randomblob(16)")?;
        let salt: Vec<u8> = random.query_row([], |random| random.get(0))?;
        let content = chain::content(&salt, columns.iter().map(ValueRef::from));
        let hash = chain::link(&self.head.hash, &content);
        let names = COLUMNS.join(", ");
        let places = "?, ".repeat(COLUMNS.len());
        let sql =
            format!("INSERT INTO entry ({names}, salt, content, hash) VALUES ({places}?, ?, ?)");
        let [content, digest] =
            [content, hash].map(|digest| Value::Blob(digest.as_bytes().to_vec()));
        let hashed = columns
            .into_iter()
            .chain([Value::Blob(salt), content, digest]);
        let mut insert = self.connection.prepare_cached(&sql)?;
        insert.execute(params_from_iter(hashed))?;
        self.head = Head::new(seq, hash);
        Ok(seq)
    }

    /// Appends the outcome of a call. Session, key, attempt, depth and tool are copied from the intent row.
    pub(crate) fn append_outcome(&mut self, intent: u64, mut row: Row) -> Result<(), Fault> {
        let sql = "SELECT session, turn, place, path, attempt, depth, tool FROM entry WHERE seq = ? AND kind = 'intent'";
        let begun =
            self.connection
                .prepare_cached(sql)?
                .query_row(params![number(intent)], |stored| {
                    row.session = stored.get(0)?;
                    let key: (Option<u64>, Option<u32>, Option<String>) =
                        (stored.get(1)?, stored.get(2)?, stored.get(3)?);
                    if let (Some(session), (Some(turn), Some(index), Some(path))) =
                        (&row.session, key)
                    {
                        let mut key = CallKey::new(session.as_str(), turn, index);
                        key.path = path;
                        row.key = Some(key);
                    }
                    row.attempt = stored.get(4)?;
                    row.depth = stored.get(5)?;
                    row.tool = stored.get(6)?;
                    Ok(())
                });
        begun.optional()?.ok_or(Fault::NotBegun { row: intent })?;
        row.kind = OUTCOME;
        row.intent = Some(intent);
        self.append(&row).map(drop)
    }

    /// Returns the last attempt recorded under the key, or `None` if there is no intent.
    pub(crate) fn last_attempt(&self, key: &CallKey) -> Result<Option<RecordedCall>, Fault> {
        let sql = "
            SELECT began.seq, began.attempt, began.tool_digest, began.arguments_digest, ended.seq, ended.result,
                ended.error
            FROM entry AS began LEFT JOIN entry AS ended ON ended.kind = 'outcome' AND ended.intent = began.seq
            WHERE began.kind = 'intent' AND began.session = ? AND began.turn = ? AND began.place = ? AND began.path = ?
            ORDER BY began.attempt DESC LIMIT 1";
        let key = params![&*key.session, number(key.turn), number(key.index), key.path];
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(key)?;
        let Some(row) = rows.next()? else {
            return Ok(None);
        };
        let seq: i64 = row.get(0)?;
        let outcome = row.get::<_, Option<i64>>(4)?.unwrap_or(seq);
        let result = row
            .get::<_, Option<String>>(5)?
            .map(|text| serde_json::from_str(&text));
        let error = row.get::<_, Option<String>>(6)?.map(|code| code.parse());
        Ok(Some(RecordedCall {
            attempt: row.get(1)?,
            tool_digest: find_digest(row, seq, 2)?,
            arguments_digest: find_digest(row, seq, 3)?,
            result: result
                .transpose()
                .map_err(|_| Fault::damaged(outcome, "result"))?,
            error: error
                .transpose()
                .map_err(|_| Fault::damaged(outcome, "error"))?,
        }))
    }
}

/// Converts a stored digest.
pub(crate) fn stored_digest(row: i64, bytes: Vec<u8>) -> Result<Digest, Fault> {
    let bytes: Result<[u8; 32], _> = bytes.try_into();
    Ok(bytes.map_err(|_| Fault::damaged(row, "digest"))?.into())
}

/// Reads the digest in a column of the row with this number, if there is one.
pub(crate) fn find_digest(
    row: &rusqlite::Row<'_>,
    seq: i64,
    column: impl RowIndex,
) -> Result<Option<Digest>, Fault> {
    let bytes: Option<Vec<u8>> = row.get(column)?;
    bytes.map(|bytes| stored_digest(seq, bytes)).transpose()
}

fn to_u64(row: i64, number: i64, column: &'static str) -> Result<u64, Fault> {
    u64::try_from(number).map_err(|_| Fault::damaged(row, column))
}
