//! [`MemoryEntry`] and its row in the store.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tools::{ToolContext, visible_line, visible_text};
use tools_store::rusqlite::{OptionalExtension as _, Row, Transaction, params};

use crate::error::MemoryError;
use crate::limits::{Limits, MAX_TAG_LENGTH, MAX_TAGS, MAX_TEXT_BYTES};

/// The columns of [`read`].
pub(crate) const COLUMNS: &str =
    "memory.id, principal, scope, memory.text, memory.tags, author, session, at_ms, is_confirmed";

/// The number of memories of a scope, and the length of all texts of its principal.
const ROOM: &str = "SELECT coalesce(sum(entries) FILTER (WHERE scope = ?2), 0), coalesce(sum(bytes), 0) FROM room WHERE principal = ?1";

/// The condition of a memory with the same text.
const SAME: &str = "principal = ? AND scope = ? AND text = ?";

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

/// Returns the statement of the first row of a condition.
fn first(condition: &str) -> String {
    format!("SELECT {COLUMNS} FROM memory WHERE {condition} LIMIT 1")
}

/// Returns the first row of a condition, or `None` if there is none.
pub(crate) fn find(
    transaction: &Transaction<'_>,
    condition: &str,
    params: impl tools_store::rusqlite::Params,
) -> Result<Option<MemoryEntry>, MemoryError> {
    let mut statement = transaction.prepare_cached(&first(condition))?;
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

/// Adds a memory, unless its scope has the same text. Returns its number, and true if it is new.
///
/// A repetition from a session that has read nothing from the open world, or from the user, confirms the memory.
pub(crate) fn insert(
    transaction: &Transaction<'_>,
    limits: Limits,
    entry: &MemoryEntry,
) -> Result<(MemoryEntry, bool), MemoryError> {
    entry.check()?;
    let key = params![entry.principal, entry.scope, entry.text];
    if let Some(same) = find(transaction, SAME, key)? {
        if entry.confirmed && !same.confirmed {
            // The tags and the origin of the memory were those of an exposed session.
            remove(transaction, same.id)?;
            return Ok((add(transaction, entry)?, true));
        }
        return Ok((same, false));
    }
    check_room(transaction, limits, entry)?;
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

/// Returns an error if the scope or the principal has too little room for a memory.
fn check_room(
    transaction: &Transaction<'_>,
    limits: Limits,
    entry: &MemoryEntry,
) -> Result<(), MemoryError> {
    let MemoryEntry {
        principal, scope, ..
    } = entry;
    let (count, total): (usize, usize) = transaction
        .prepare_cached(ROOM)?
        .query_row([principal, scope], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if count >= limits.entries {
        let condition = "principal = ? AND scope = ? ORDER BY is_confirmed, id";
        let oldest = find(transaction, condition, [principal, scope])?;
        return Err(MemoryError::Full {
            scope: scope.clone(),
            most: limits.entries,
            oldest: oldest.map_or(0, |entry| entry.id),
        });
    }
    if total + entry.text.len() > limits.bytes {
        let condition = "principal = ? ORDER BY octet_length(text) DESC, id";
        let longest = find(transaction, condition, [principal])?;
        return Err(MemoryError::TooMuch {
            most: limits.bytes,
            longest: longest.map_or(0, |entry| entry.id),
        });
    }
    Ok(())
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

    fn entry(principal: &str, scope: &str, number: usize) -> MemoryEntry {
        MemoryEntry {
            id: 0,
            principal: principal.to_owned(),
            scope: scope.to_owned(),
            text: format!("fact {number}"),
            tags: Vec::new(),
            author: String::new(),
            session: None,
            saved: Timestamp::UNIX_EPOCH,
            confirmed: false,
        }
    }

    #[test]
    fn a_memory_that_is_saved_or_removed_changes_the_room_of_its_scope_alone() {
        let limits = Limits::new(3);
        let store = Store::in_memory(&SCHEMA).unwrap();
        let checked: Result<(), MemoryError> = store.write_blocking(|transaction| {
            let save = |scope, number| insert(transaction, limits, &entry("a", scope, number));
            for number in 0..3 {
                save("user", number)?;
                save("user", number)?;
            }
            let full = |saved: Result<_, MemoryError>| {
                matches!(saved, Err(MemoryError::Full { most: 3, oldest, .. }) if oldest > 0)
            };
            assert!(full(save("user", 3)));
            let (first, _) = save("user", 0)?;
            remove(transaction, first.id)?;
            save("user", 3)?;
            assert!(full(save("user", 4)));
            save("project/b", 4)?;
            let confirmed = MemoryEntry {
                confirmed: true,
                ..entry("a", "user", 3)
            };
            insert(transaction, limits, &confirmed)?;
            let sql = "SELECT entries, confirmed, bytes FROM room WHERE scope = 'user'";
            let room = transaction.query_row(sql, [], |row| {
                Ok([row.get::<_, i64>(0)?, row.get(1)?, row.get(2)?])
            })?;
            assert_eq!(room, [3, 1, 18]);
            Ok(())
        });
        checked.unwrap();
    }

    #[test]
    fn the_steps_of_a_save_do_not_grow_with_the_memories() {
        let store = Store::in_memory(&SCHEMA).unwrap();
        let checked: Result<(), MemoryError> = store.write_blocking(|transaction| {
            let limits = Limits::default();
            let mut steps = Vec::new();
            for number in 0..500 {
                insert(transaction, limits, &entry("a", "user", number))?;
                let room = transaction.prepare_cached(ROOM)?;
                steps.push(room.reset_status(StatementStatus::VmStep));
            }
            assert_eq!(steps[100], steps[499]);
            Ok(())
        });
        checked.unwrap();
    }

    #[test]
    fn a_list_a_digest_and_a_save_find_their_memories_in_an_index() {
        let store = Store::in_memory(&SCHEMA).unwrap();
        let checked: Result<(), MemoryError> = store.read_blocking(|transaction| {
            for (sql, index) in [
                (crate::list::page(), "newest ("),
                (crate::digest::newest(), "newest_confirmed ("),
                (first(SAME), "same ("),
            ] {
                let mut plan = transaction.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
                let rows = plan.raw_query().mapped(|row| row.get::<_, String>(3));
                let plan = rows.collect::<Result<Vec<_>, _>>()?;
                assert!(plan.len() == 1 && plan[0].contains(index), "{plan:?}");
            }
            Ok(())
        });
        checked.unwrap();
    }
}
