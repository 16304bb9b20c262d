//! [`Store`]: transactions off the async threads.
//!
//! A write that depends on what is there belongs in the transaction that reads it:
//!
//! ```text
//! right: store.write(|rows| take(rows, free(rows)?)).await
//! wrong: let place = store.read(free).await?;
//!        store.write(move |rows| take(rows, place)).await
//! ```
//!
//! Between the two of the wrong one, another call or process can take the place.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};
use tokio::sync::Semaphore;

use crate::error::StoreError;
use crate::file;
use crate::open::{Durability, Schema, begin};

/// An open store. Clones share its connection.
///
/// Several processes may use one file. A transaction that writes takes the write lock at once and waits for those of other processes;
/// one that reads sees a single moment and waits for nobody.
#[derive(Clone, Debug)]
pub struct Store {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    connection: Mutex<Connection>,
    /// The version and the path of the file. `None` for a store in memory.
    file: Option<(Schema, PathBuf)>,
    /// Async callers wait here, so that one thread at most blocks on the mutex for them.
    turn: Arc<Semaphore>,
}

impl Store {
    /// Opens the program's own file, and migrates it. A missing one is created for the user alone, with its folders. Blocks the
    /// calling thread.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened or created, is something else, was written by a newer version, or if another user
    /// could have planted it: it is a link, belongs to another user, or lies in a folder that others may write.
    pub fn open(path: &Path, schema: &Schema, durability: Durability) -> Result<Self, StoreError> {
        let file = file::create_private(schema.kind, path)?;
        let connection =
            schema.open_existing(&file, durability, OpenFlags::SQLITE_OPEN_NOFOLLOW)?;
        Ok(Self::from_connection(connection, Some((*schema, file))))
    }

    /// Creates a store in memory, which ends with its last clone.
    ///
    /// # Errors
    /// Returns an error if a migration fails.
    pub fn in_memory(schema: &Schema) -> Result<Self, StoreError> {
        Ok(Self::from_connection(schema.open_in_memory()?, None))
    }

    fn from_connection(connection: Connection, file: Option<(Schema, PathBuf)>) -> Self {
        Self {
            shared: Arc::new(Shared {
                connection: Mutex::new(connection),
                file,
                turn: Arc::new(Semaphore::new(1)),
            }),
        }
    }

    /// Runs `work` in a transaction that writes, on a thread for blocking work. Commits if it returns `Ok`, and returns after the
    /// commit. Dropping the future does not stop a transaction that has begun.
    ///
    /// # Errors
    /// Returns the error of `work`, after which nothing is written, or that of the commit. Returns [`StoreError::Newer`] if a newer program
    /// has migrated the file meanwhile.
    pub async fn write<T, E>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.run(|store| store.write_blocking(work)).await
    }

    /// Runs `work` in a transaction that reads, on a thread for blocking work.
    ///
    /// # Errors
    /// Returns the error of `work`, or an error if the transaction cannot begin. Returns [`StoreError::Newer`] if a newer program has
    /// migrated the file meanwhile.
    pub async fn read<T, E>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.run(|store| store.read_blocking(work)).await
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A transaction that a panic drops is rolled back, so the connection is good after it.
        let connection = self.shared.connection.lock();
        connection.unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` as [`write`](Self::write) does, on this thread.
    ///
    /// # Errors
    /// Returns the errors of [`write`](Self::write).
    pub fn write_blocking<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut connection = self.connection();
        let transaction = match &self.shared.file {
            Some((schema, path)) => schema.begin(&mut connection, path)?,
            None => begin(&mut connection).map_err(StoreError::from)?,
        };
        let done = work(&transaction)?;
        transaction.commit().map_err(StoreError::from)?;
        Ok(done)
    }

    /// Runs `work` as [`read`](Self::read) does, on this thread.
    ///
    /// # Errors
    /// Returns the errors of [`read`](Self::read).
    pub fn read_blocking<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut connection = self.connection();
        let begun = connection.transaction_with_behavior(TransactionBehavior::Deferred);
        let transaction = begun.map_err(StoreError::from)?;
        if let Some((schema, path)) = &self.shared.file {
            schema.check(&transaction, path)?;
        }
        work(&transaction)
    }

    async fn run<T, E>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let turn = self.shared.turn.clone().acquire_owned().await;
        let turn = turn.map_err(|_| StoreError::Closed)?;
        let store = self.clone();
        let blocking = tokio::task::spawn_blocking(move || {
            let done = work(&store);
            // The permit belongs to the work and not to the future: a dropped future does not stop the transaction.
            drop(turn);
            done
        });
        match blocking.await {
            Ok(done) => done,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(StoreError::Closed.into()),
            },
        }
    }
}
