//! [`Writer`]: the thread that writes a journal and groups jobs into commits.

use std::path::{Path, PathBuf};
use std::slice;
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};
use tools::journal::JournalError;

use crate::ledger::Ledger;
use crate::log::Log;
use crate::open::{Fault, OpenError, SCHEMA};

/// The capacity of the queue. Senders wait while it is full.
const QUEUE: usize = 1024;

/// The most jobs in one commit. Bounds the time the first of them waits.
const BATCH: usize = 256;

/// A handle to the writer thread. Dropping it waits until all jobs are done and the connection is closed, which merges the log
/// into the file.
pub(crate) struct Writer {
    /// `None` only while the handle is dropped.
    jobs: Option<mpsc::Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread that writes to the journal at `path`, which the connection has open. The connection does not wait for the disk:
    /// the log does.
    pub(crate) fn start(
        connection: Connection,
        path: PathBuf,
        log: Log,
    ) -> Result<Self, OpenError> {
        let (jobs, queue) = mpsc::channel(QUEUE);
        let thread = thread::Builder::new()
            .name("toolcrib-journal".to_owned())
            .spawn(move || write(connection, &path, log, queue))
            .map_err(OpenError::Thread)?;
        Ok(Self {
            jobs: Some(jobs),
            thread: Some(thread),
        })
    }

    /// Runs `work` in a transaction and returns its result after the commit. `work` may run more than once; the last run counts. A loss of
    /// power may take the commit back until the log is [synchronised](Log).
    ///
    /// # Errors
    /// Returns an error if the transaction fails or the writer thread has ended.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut Ledger<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, JournalError> {
        self.enqueue(work, false).await
    }

    /// Runs `work` as [`run`](Self::run) does, and returns its result once it survives a loss of power, with all commits before it.
    ///
    /// # Errors
    /// Returns the errors of [`run`](Self::run).
    pub(crate) async fn run_durably<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut Ledger<'_>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, JournalError> {
        self.enqueue(work, true).await
    }

    async fn enqueue<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut Ledger<'_>) -> Result<T, Fault> + Send + 'static,
        is_durable: bool,
    ) -> Result<T, JournalError> {
        let (answer, answered) = oneshot::channel();
        let task = Task {
            work,
            done: None,
            is_durable,
            answer,
        };
        let jobs = self.jobs.as_ref().ok_or(JournalError::Closed)?;
        jobs.send(Box::new(task))
            .await
            .map_err(|_| JournalError::Closed)?;
        answered.await.unwrap_or(Err(JournalError::Closed))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported to the callers whose jobs it dropped.
            let _ = thread.join();
        }
    }
}

trait Job: Send {
    fn work(&mut self, ledger: &mut Ledger<'_>) -> Result<(), Fault>;

    fn answer(self: Box<Self>, committed: Result<(), JournalError>);

    /// Returns true if the caller dropped its future. The job is then skipped.
    fn is_cancelled(&self) -> bool;

    /// Returns true if the job is answered once it survives a loss of power.
    fn is_durable(&self) -> bool;
}

struct Task<T, W> {
    work: W,
    done: Option<T>,
    is_durable: bool,
    answer: oneshot::Sender<Result<T, JournalError>>,
}

impl<T: Send, W: FnMut(&mut Ledger<'_>) -> Result<T, Fault> + Send> Job for Task<T, W> {
    fn work(&mut self, ledger: &mut Ledger<'_>) -> Result<(), Fault> {
        self.done = Some((self.work)(ledger)?);
        Ok(())
    }

    fn answer(self: Box<Self>, committed: Result<(), JournalError>) {
        let Self { done, answer, .. } = *self;
        // Sending fails if the caller has dropped its future. The record is committed all the same.
        let _ = answer.send(committed.and_then(|()| done.ok_or(JournalError::Closed)));
    }

    fn is_cancelled(&self) -> bool {
        self.answer.is_closed()
    }

    fn is_durable(&self) -> bool {
        self.is_durable
    }
}

fn write(
    mut connection: Connection,
    path: &Path,
    mut log: Log,
    mut queue: mpsc::Receiver<Box<dyn Job>>,
) {
    while let Some(first) = log.next_job(&mut queue) {
        let mut batch = vec![first];
        // Jobs that arrived during the last commit share the next one.
        while batch.len() < BATCH
            && let Ok(next) = queue.try_recv()
        {
            batch.push(next);
        }
        let committed = commit(&mut connection, path, &mut log, &mut batch);
        let is_shared = batch.len() > 1;
        for mut job in batch {
            let committed = match &committed {
                // A failed job must not fail the others of its batch.
                Err(_) if is_shared => {
                    commit(&mut connection, path, &mut log, slice::from_mut(&mut job))
                }
                committed => committed.clone(),
            };
            job.answer(committed);
        }
    }
}

/// Writes the jobs in one transaction, which one synchronisation makes durable if one of them asks for it.
fn commit(
    connection: &mut Connection,
    path: &Path,
    log: &mut Log,
    jobs: &mut [Box<dyn Job>],
) -> Result<(), JournalError> {
    transact(connection, path, jobs)?;
    log.grow();
    if jobs.iter().any(|job| job.is_durable()) {
        log.sync().map_err(JournalError::failed)?;
    }
    Ok(())
}

fn transact(
    connection: &mut Connection,
    path: &Path,
    jobs: &mut [Box<dyn Job>],
) -> Result<(), Fault> {
    let transaction = SCHEMA.begin(connection, path)?;
    let mut ledger = Ledger::new(&transaction)?;
    // Checked after taking the lock, because waiting for it may have taken long.
    jobs.iter_mut()
        .filter(|job| !job.is_cancelled())
        .try_for_each(|job| job.work(&mut ledger))?;
    Ok(transaction.commit()?)
}

#[cfg(test)]
mod tests {
    use tools_store::Durability;

    use super::*;
    use crate::open::to_write;

    #[tokio::test]
    async fn a_writer_that_is_gone_is_an_error_for_each_job() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.journal");
        let empty = Connection::open_in_memory().unwrap();
        let writer = Writer::start(empty, path.clone(), Log::default()).unwrap();
        // Without tables every job fails.
        let failed = writer.run(|_| Ok(())).await;
        assert!(
            matches!(failed, Err(JournalError::Failed { .. })),
            "{failed:?}"
        );
        let connection = to_write(&path, Durability::Process).unwrap();
        let writer = Writer::start(connection, path, Log::default()).unwrap();
        assert_eq!(writer.run(|_| Ok(1)).await, Ok(1));
        let panics = |_: &mut Ledger<'_>| -> Result<(), Fault> { panic!("on purpose") };
        assert_eq!(writer.run(panics).await, Err(JournalError::Closed));
        assert_eq!(writer.run(|_| Ok(1)).await, Err(JournalError::Closed));
    }
}
