//! The commands of the user, who owns all memories.

use std::collections::BTreeSet;

use host::folders;
use tools_store::rusqlite::{Transaction, params};

use crate::error::MemoryError;
use crate::memory::Memory;
use crate::row::{COLUMNS, MemoryEntry, all, find, remove};
use crate::scope::Scope;

/// A choice of memories.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// The scope, as in [`MemoryEntry::scope`]. `None` for all.
    pub scope: Option<String>,
    /// True for those alone that wait for the user's confirmation.
    pub unconfirmed: bool,
}

/// The numbers of memories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All memories.
    pub all: u64,
    /// The memories that wait for the user's confirmation.
    pub unconfirmed: u64,
}

/// These functions are for the user's own commands, which no tool and no model calls. They block the calling thread.
impl Memory {
    /// Returns the memories of the user, in the data folder of the program.
    ///
    /// # Errors
    /// Returns an error if there is no folder for them.
    pub fn own() -> Result<Self, MemoryError> {
        let folder = folders::data().ok_or(MemoryError::NoFolder)?;
        Ok(Self::new(folder.join("memory.sqlite")))
    }

    /// Returns memories of all principals, the oldest first. Does not create a missing file.
    ///
    /// # Errors
    /// Returns [`MemoryError::Scope`] if the filter's scope is none, or an error if the store cannot be read.
    pub fn entries(&self, filter: &Filter) -> Result<Vec<MemoryEntry>, MemoryError> {
        if let Some(scope) = &filter.scope {
            Scope::from_stored(scope)?;
        }
        let Some(store) = self.existing()? else {
            return Ok(Vec::new());
        };
        let sql = format!(
            "SELECT {COLUMNS} FROM memory WHERE (?1 IS NULL OR scope = ?1) AND (?2 = 0 OR is_confirmed = 0) ORDER BY id"
        );
        store.read_blocking(|transaction| {
            all(transaction, &sql, params![filter.scope, filter.unconfirmed])
        })
    }

    /// Returns the numbers of memories. Does not create a missing file.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn counts(&self) -> Result<Counts, MemoryError> {
        let Some(store) = self.existing()? else {
            return Ok(Counts::default());
        };
        store.read_blocking(|transaction| {
            let sql = "SELECT count(*), count(*) FILTER (WHERE is_confirmed = 0) FROM memory";
            Ok(transaction.query_row(sql, [], |row| {
                Ok(Counts {
                    all: row.get(0)?,
                    unconfirmed: row.get(1)?,
                })
            })?)
        })
    }

    /// Confirms memories: the user has read them, and later sessions may begin with them. Returns each of them once.
    ///
    /// # Errors
    /// Returns [`MemoryError::NoEntry`] if there is no memory of a number. None is then confirmed.
    pub fn confirm(&self, ids: &[i64]) -> Result<Vec<MemoryEntry>, MemoryError> {
        self.each(ids, |transaction, id| {
            transaction.execute("UPDATE memory SET is_confirmed = 1 WHERE id = ?", [id])?;
            Ok(())
        })
    }

    /// Removes memories. Returns each of them once.
    ///
    /// # Errors
    /// Returns [`MemoryError::NoEntry`] if there is no memory of a number. None is then removed.
    pub fn forget(&self, ids: &[i64]) -> Result<Vec<MemoryEntry>, MemoryError> {
        self.each(ids, remove)
    }

    fn each(
        &self,
        ids: &[i64],
        change: impl Fn(&Transaction<'_>, i64) -> Result<(), MemoryError>,
    ) -> Result<Vec<MemoryEntry>, MemoryError> {
        let Some(store) = self.existing()? else {
            let missing = ids.first().map(|id| MemoryError::NoEntry { id: *id });
            return missing.map_or(Ok(Vec::new()), Err);
        };
        store.write_blocking(|transaction| {
            let mut seen = BTreeSet::new();
            let changed = ids.iter().filter(|id| seen.insert(**id)).map(|id| {
                let entry = find(transaction, "id = ?", [id])?;
                let entry = entry.ok_or(MemoryError::NoEntry { id: *id })?;
                change(transaction, *id)?;
                Ok(entry)
            });
            changed.collect()
        })
    }
}
