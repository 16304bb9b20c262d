//! [`MemoryEntry`] and its row in the store.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tools::{ToolContext, visible_line, visible_text};
use tools_store::rusqlite::{OptionalExtension as _, Row, Transaction, params};

use crate::error::MemoryError;
use crate::limits::{MAX_ENTRIES, MAX_TAG_LENGTH, MAX_TAGS, MAX_TEXT_BYTES, MAX_TOTAL_BYTES};

/// The columns of [`read`].
pub(crate) const COLUMNS: &str =
    "memory.id, principal, scope, memory.text, memory.tags, author, session, at_ms, is_confirmed";

/// The number of memories of a scope.
const COUNT: &str = "SELECT count(*) FROM memory WHERE principal = ? AND scope = ?";

/// The length of all texts of a principal.
const TOTAL: &str = "SELECT coalesce(sum(octet_length(text)), 0) FROM memory WHERE principal = ?";

/// A memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryEntry {
    /// The number, which no later memory has.
    #[serde(default)]
    pub id: i64,
    /// The principal, or an empty text if the host has none.
    #[serde(default)]
    pub principal: String,
    /// `user`, or `project/` with the name of the project.
    pub scope: String,
    /// The text.
    pub text: String,
    /// The tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The author, such as `the agent`.
    #[serde(default)]
    pub author: String,
    /// The session in which it was saved.
    #[serde(default)]
    pub session: Option<String>,
    /// The time.
    #[serde(default = "Timestamp::now")]
    pub saved: Timestamp,
    /// False if the session had read text from the open world, and the user has not confirmed the memory since. Such a memory is in no
    /// digest.
    #[serde(default)]
    pub confirmed: bool,
}

impl MemoryEntry {
    /// Returns an error if the text or a tag breaks a rule.
    pub(crate) fn check(&self) -> Result<(), MemoryError> {
        if self.text.trim().is_empty() {
            return Err(MemoryError::Empty);
        }
        if self.text.len() > MAX_TEXT_BYTES {
            return Err(MemoryError::TooLong {
                bytes: self.text.len(),
            });
        }
        let is_allowed =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_.-".contains(&byte);
        let is_tag =
            |tag: &str| (1..=MAX_TAG_LENGTH).contains(&tag.len()) && tag.bytes().all(is_allowed);
        let mut tags = self.tags.iter().enumerate();
        match tags.find(|(index, tag)| *index >= MAX_TAGS || !is_tag(tag)) {
            Some((_, tag)) => Err(MemoryError::Tag {
                tag: visible_line(tag, 80),
            }),
            None => Ok(()),
        }
    }
}

/// Reads a row of [`COLUMNS`].
pub(crate) fn read(row: &Row<'_>) -> tools_store::rusqlite::Result<MemoryEntry> {
    let tags: String = row.get(4)?;
    Ok(MemoryEntry {
        id: row.get(0)?,
        principal: row.get(1)?,
        scope: row.get(2)?,
        text: row.get(3)?,
        tags: tags.split_whitespace().map(str::to_owned).collect(),
        author: row.get(5)?,
        session: row.get(6)?,
        saved: Timestamp::from_millisecond(row.get(7)?).unwrap_or_default(),
        confirmed: row.get(8)?,
    })
}

/// Returns the first row of a condition, or `None` if there is none.
pub(crate) fn find(
    transaction: &Transaction<'_>,
    condition: &str,
    params: impl tools_store::rusqlite::Params,
) -> Result<Option<MemoryEntry>, MemoryError> {
    let sql = format!("SELECT {COLUMNS} FROM memory WHERE {condition} LIMIT 1");
    let mut statement = transaction.prepare_cached(&sql)?;
    Ok(statement.query_row(params, read).optional()?)
}

/// Returns all rows of a query.
pub(crate) fn all(
    transaction: &Transaction<'_>,
    sql: &str,
    params: impl tools_store::rusqlite::Params,
) -> Result<Vec<MemoryEntry>, MemoryError> {
    let mut statement = transaction.prepare(sql)?;
    let entries = statement.query_map(params, read)?;
    Ok(entries.collect::<Result<_, _>>()?)
}

/// The room that scopes and principals have left. Each is counted once, so one value is of use for one transaction that only inserts.
#[derive(Default)]
pub(crate) struct Room {
    counts: HashMap<(String, String), usize>,
    totals: HashMap<String, usize>,
}

/// Adds a memory, unless its scope has the same text. Returns its number, and true if it is new.
///
/// A repetition from a session that has read nothing from the open world, or from the user, confirms the memory.
pub(crate) fn insert(
    transaction: &Transaction<'_>,
    room: &mut Room,
    entry: &MemoryEntry,
) -> Result<(MemoryEntry, bool), MemoryError> {
    entry.check()?;
    let key = params![entry.principal, entry.scope, entry.text];
    if let Some(same) = find(transaction, "principal = ? AND scope = ? AND text = ?", key)? {
        if entry.confirmed && !same.confirmed {
            // The tags and the origin of the memory were those of an exposed session.
            remove(transaction, same.id)?;
            return Ok((add(transaction, entry)?, true));
        }
        return Ok((same, false));
    }
    room.take(transaction, entry)?;
    Ok((add(transaction, entry)?, true))
}

fn add(transaction: &Transaction<'_>, entry: &MemoryEntry) -> Result<MemoryEntry, MemoryError> {
    transaction.execute(
        "INSERT INTO memory (principal, scope, text, tags, author, session, at_ms, is_confirmed)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        params![
            entry.principal,
            entry.scope,
            entry.text,
            entry.tags.join(" "),
            entry.author,
            entry.session,
            entry.saved.as_millisecond(),
            entry.confirmed
        ],
    )?;
    Ok(MemoryEntry {
        id: transaction.last_insert_rowid(),
        ..entry.clone()
    })
}

impl Room {
    /// Takes the room of a memory. Returns an error if the scope or the principal has too little.
    fn take(
        &mut self,
        transaction: &Transaction<'_>,
        entry: &MemoryEntry,
    ) -> Result<(), MemoryError> {
        let principal = &entry.principal;
        let scope = &entry.scope;
        let count = match self.counts.entry((principal.clone(), scope.clone())) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let mut statement = transaction.prepare_cached(COUNT)?;
                new.insert(statement.query_row([principal, scope], |row| row.get(0))?)
            }
        };
        if *count >= MAX_ENTRIES {
            let condition = "principal = ? AND scope = ? ORDER BY is_confirmed, id";
            let oldest = find(transaction, condition, [principal, scope])?;
            return Err(MemoryError::Full {
                scope: scope.clone(),
                oldest: oldest.map_or(0, |entry| entry.id),
            });
        }
        let total = match self.totals.entry(principal.clone()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let mut statement = transaction.prepare_cached(TOTAL)?;
                new.insert(statement.query_row([principal], |row| row.get(0))?)
            }
        };
        if *total + entry.text.len() > MAX_TOTAL_BYTES {
            let condition = "principal = ? ORDER BY octet_length(text) DESC, id";
            let longest = find(transaction, condition, [principal])?;
            return Err(MemoryError::TooMuch {
                longest: longest.map_or(0, |entry| entry.id),
            });
        }
        *count += 1;
        *total += entry.text.len();
        Ok(())
    }
}

/// Removes a memory and overwrites its bytes in the file.
pub(crate) fn remove(transaction: &Transaction<'_>, id: i64) -> Result<(), MemoryError> {
    transaction.query_row("PRAGMA secure_delete = ON", [], |_| Ok(()))?;
    transaction.execute("DELETE FROM memory WHERE id = ?", [id])?;
    Ok(())
}

/// A memory as a model reads it. Control characters and invisible ones are visible.
#[derive(Debug, Serialize)]
pub(crate) struct Shown {
    /// The number.
    id: i64,
    /// The text.
    text: String,
    /// The tags.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    /// The day, the author and the session.
    saved: String,
    /// True if a session saved it after it had read text of strangers, and the user has not confirmed it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unconfirmed: bool,
}

impl From<MemoryEntry> for Shown {
    fn from(entry: MemoryEntry) -> Self {
        Self {
            id: entry.id,
            text: visible_text(&entry.text),
            saved: provenance(&entry),
            tags: entry.tags,
            unconfirmed: !entry.confirmed,
        }
    }
}

/// Returns the memories for a model. The session has then read text of strangers if one of them may have it.
pub(crate) fn show(cx: &ToolContext, entries: Vec<MemoryEntry>) -> Vec<Shown> {
    if entries.iter().any(|entry| !entry.confirmed) {
        cx.record_exposure();
    }
    entries.into_iter().map(Shown::from).collect()
}

/// Returns the day, the author and the session of a memory, such as `2026-11-23 by the agent, session 0f3c`.
pub(crate) fn provenance(entry: &MemoryEntry) -> String {
    let author = if entry.author.is_empty() {
        "an unknown author".to_owned()
    } else {
        visible_line(&entry.author, 80)
    };
    let session = entry
        .session
        .as_deref()
        .map(|session| format!(", session {}", visible_line(session, 80)));
    let date = entry.saved.strftime("%Y-%m-%d");
    format!("{date} by {author}{}", session.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use tools_store::Store;
    use tools_store::rusqlite::StatementStatus;

    use super::*;
    use crate::memory::SCHEMA;

    #[test]
    fn a_transaction_counts_a_scope_and_a_principal_once() {
        let entry = |principal: &str, scope: &str, number: usize| MemoryEntry {
            id: 0,
            principal: principal.to_owned(),
            scope: scope.to_owned(),
            text: format!("fact {number}"),
            tags: Vec::new(),
            author: String::new(),
            session: None,
            saved: Timestamp::UNIX_EPOCH,
            confirmed: false,
        };
        let store = Store::in_memory(&SCHEMA).unwrap();
        let checked: Result<(), MemoryError> = store.write_blocking(|transaction| {
            let mut room = Room::default();
            for number in 0..50 {
                for (principal, scope) in [("a", "user"), ("a", "project/b"), ("c", "user")] {
                    insert(transaction, &mut room, &entry(principal, scope, number))?;
                }
            }
            let runs = |sql| {
                transaction
                    .prepare_cached(sql)
                    .map(|sum| sum.get_status(StatementStatus::Run))
            };
            assert_eq!((runs(COUNT)?, runs(TOTAL)?), (3, 2));
            // The memories of the transaction itself count.
            for number in 50..MAX_ENTRIES {
                insert(transaction, &mut room, &entry("a", "user", number))?;
            }
            let error =
                insert(transaction, &mut room, &entry("a", "user", MAX_ENTRIES)).unwrap_err();
            assert!(matches!(error, MemoryError::Full { .. }), "{error}");
            Ok(())
        });
        checked.unwrap();
    }
}
