//! [`Schema`]: the kind of a store and its tables.

use crate::StoreError;

/// The kind of a store, and the migrations that make its tables.
///
/// The schema version of a file is the number of migrations that it has. Opening a file to write runs the missing ones in one
/// transaction. Append migrations and never change one: files that have it are not migrated again.
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    pub(crate) kind: &'static str,
    pub(crate) application_id: i32,
    pub(crate) migrations: &'static [&'static str],
}

impl Schema {
    /// Creates a schema. `kind` names it in errors, such as `journal`. `application_id` tells its files from all others.
    pub const fn new(
        kind: &'static str,
        application_id: i32,
        migrations: &'static [&'static str],
    ) -> Self {
        Self {
            kind,
            application_id,
            migrations,
        }
    }

    /// Returns the current version, which is the number of migrations.
    pub const fn version(&self) -> i64 {
        self.migrations.len() as i64
    }

    /// Creates a store in memory, which ends with the connection.
    ///
    /// # Errors
    /// Returns an error if a migration fails.
    pub fn open_in_memory(&self) -> Result<rusqlite::Connection, StoreError> {
        let connection = rusqlite::Connection::open_in_memory()?;
        self.migrations
            .iter()
            .try_for_each(|migration| connection.execute_batch(migration))?;
        Ok(connection)
    }
}
