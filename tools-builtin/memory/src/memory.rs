//! [`Memory`]: the service of the tools.

use std::path::{Path, PathBuf};

use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;
use tools::ToolContext;
use tools_store::rusqlite::Transaction;
use tools_store::{Durability, Schema, Store, StoreError};

use crate::error::MemoryError;
use crate::limits::Limits;
use crate::scope::{Scope, project_name};

/// The memories of a user: a service of the tools of this crate.
///
/// The file is opened, and created if it is missing, when it is first needed. Several processes may use it.
#[derive(Debug)]
pub struct Memory {
    /// `None` for memories that end with this value.
    path: Option<PathBuf>,
    store: OnceCell<Store>,
    project: Option<String>,
    limits: Limits,
}

impl Memory {
    /// Creates the service of a file. Missing folders are created for the user alone.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: Some(path.into()),
            store: OnceCell::new(),
            project: None,
            limits: Limits::default(),
        }
    }

    /// Creates memories that end with this value.
    ///
    /// # Errors
    /// Returns an error if the tables cannot be made.
    pub fn in_memory() -> Result<Self, MemoryError> {
        let store = OnceCell::from(Store::in_memory(&SCHEMA)?);
        Ok(Self {
            path: None,
            store,
            ..Self::new("")
        })
    }

    /// Sets the project of the sessions: the one in this folder, which should be the root of the workspace. Links in the path are
    /// resolved.
    #[must_use]
    pub fn with_project(mut self, folder: &Path) -> Self {
        self.project = Some(project_name(folder));
        self
    }

    /// Sets the maximum number of memories of a scope. The texts of a principal have a KiB together for each of them, and at least 1 MiB.
    #[must_use]
    pub fn with_max_entries(mut self, entries: usize) -> Self {
        self.limits = Limits::new(entries);
        self
    }

    /// Returns the limits of the store.
    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    /// Returns the name of the project in grants and lists, such as `my-app-0f3c2a9b71de`. Returns `None` without a project.
    pub fn project(&self) -> Option<&str> {
        self.project.as_deref()
    }

    /// Returns the scope that an argument names.
    pub(crate) fn scope(&self, argument: &str) -> Result<Scope, MemoryError> {
        Scope::from_argument(argument, self.project())
    }

    /// Runs a transaction that reads.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, MemoryError> + Send + 'static,
    ) -> Result<T, MemoryError> {
        self.store().await?.read(work).await
    }

    /// Runs a transaction that writes.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, MemoryError> + Send + 'static,
    ) -> Result<T, MemoryError> {
        self.store().await?.write(work).await
    }

    async fn store(&self) -> Result<&Store, MemoryError> {
        let store = self.store.get_or_try_init(|| async {
            let path = self.path.clone().ok_or(StoreError::Closed)?;
            let opened =
                spawn_blocking(move || Store::open(&path, &SCHEMA, Durability::Power)).await;
            opened.map_err(|_| StoreError::Closed)?
        });
        Ok(store.await?)
    }

    /// Returns the store, opened on this thread. Returns `None` if there is no file yet.
    pub(crate) fn existing(&self) -> Result<Option<Store>, MemoryError> {
        match (self.store.get(), &self.path) {
            (None, Some(path)) if path.try_exists().is_ok_and(|exists| !exists) => Ok(None),
            _ => self.open_store().map(Some),
        }
    }

    /// Returns the store, opened on this thread. Creates a missing file.
    pub(crate) fn open_store(&self) -> Result<Store, MemoryError> {
        if let Some(store) = self.store.get() {
            return Ok(store.clone());
        }
        let path = self.path.as_deref().ok_or(StoreError::Closed)?;
        let store = Store::open(path, &SCHEMA, Durability::Power)?;
        // If another thread was faster, both connections are of the same file.
        let _ = self.store.set(store.clone());
        Ok(store)
    }
}

/// Returns the principal of a call.
pub(crate) fn principal(cx: &ToolContext) -> String {
    cx.principal().unwrap_or_default().to_owned()
}

/// The schema, with SQLite's application id `tCrM`.
pub(crate) const SCHEMA: Schema =
    Schema::new("store of memories", 0x7443_724d, &[TABLES, SEARCH, ROOM]);

/// The entries. An entry that is not confirmed stays out of digests.
const TABLES: &str = "
    CREATE TABLE memory (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        principal TEXT NOT NULL,
        scope TEXT NOT NULL,
        text TEXT NOT NULL,
        tags TEXT NOT NULL,
        author TEXT NOT NULL,
        session TEXT,
        at_ms INTEGER NOT NULL,
        is_confirmed INTEGER NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX same ON memory (principal, scope, text);
";

/// The index of words. It removes deleted words at once, so that forgotten text does not stay in it.
const SEARCH: &str = "
    CREATE VIRTUAL TABLE word USING fts5(
        text, tags, content = 'memory', content_rowid = 'id', tokenize = 'porter unicode61 remove_diacritics 2'
    );
    INSERT INTO word (word, rank) VALUES ('secure-delete', 1);
    CREATE TRIGGER memory_added AFTER INSERT ON memory BEGIN
        INSERT INTO word (rowid, text, tags) VALUES (new.id, new.text, new.tags);
    END;
    CREATE TRIGGER memory_removed AFTER DELETE ON memory BEGIN
        INSERT INTO word (word, rowid, text, tags) VALUES ('delete', old.id, old.text, old.tags);
    END;
    CREATE TRIGGER memory_changed AFTER UPDATE OF text, tags ON memory BEGIN
        INSERT INTO word (word, rowid, text, tags) VALUES ('delete', old.id, old.text, old.tags);
        INSERT INTO word (rowid, text, tags) VALUES (new.id, new.text, new.tags);
    END;
    INSERT INTO word (word) VALUES ('rebuild');
";

/// The room that each scope takes, so that a save counts no rows, and the indices that a list and a digest read from their end.
const ROOM: &str = "
    CREATE TABLE room (
        principal TEXT NOT NULL,
        scope TEXT NOT NULL,
        entries INTEGER NOT NULL,
        confirmed INTEGER NOT NULL,
        bytes INTEGER NOT NULL,
        PRIMARY KEY (principal, scope)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO room SELECT principal, scope, count(*), sum(is_confirmed), sum(octet_length(text)) FROM memory GROUP BY 1, 2;
    CREATE TRIGGER room_taken AFTER INSERT ON memory BEGIN
        INSERT INTO room VALUES (new.principal, new.scope, 1, new.is_confirmed, octet_length(new.text))
            ON CONFLICT DO UPDATE SET entries = entries + 1, confirmed = confirmed + excluded.confirmed, bytes = bytes + excluded.bytes;
    END;
    CREATE TRIGGER room_left AFTER DELETE ON memory BEGIN
        UPDATE room SET entries = entries - 1, confirmed = confirmed - old.is_confirmed, bytes = bytes - octet_length(old.text)
            WHERE principal = old.principal AND scope = old.scope;
    END;
    CREATE TRIGGER room_confirmed AFTER UPDATE OF is_confirmed ON memory BEGIN
        UPDATE room SET confirmed = confirmed + new.is_confirmed - old.is_confirmed
            WHERE principal = new.principal AND scope = new.scope;
    END;
    CREATE INDEX newest ON memory (principal, scope);
    CREATE INDEX newest_confirmed ON memory (principal, scope) WHERE is_confirmed = 1;
";
