//! [`Log`]: makes the commits of a journal durable, many at a time.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::task::{Context, Poll, Wake};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::mpsc::Receiver;

/// The time after which commits are made durable that no job has waited for.
const MAX_UNSYNCED: Duration = Duration::from_millis(50);

/// The write-ahead log of a journal. The default one is never synchronised.
///
/// SQLite appends commits to the log, and ignores an end that a loss of power has damaged. So a synchronisation makes all earlier commits
/// durable, and a record that is lost takes all later ones with it.
#[derive(Default)]
pub(crate) struct Log {
    /// Waits until the log is on the disk as it is.
    disk: Option<Box<dyn FnMut() -> io::Result<()> + Send>>,
    /// The time of the first commit after the last synchronisation.
    unsynced: Option<Instant>,
    /// True once a synchronisation has failed. The kernel may drop what it could not write, so a later success would say nothing of it.
    has_failed: bool,
}

/// The file of a log, opened on first use. It exists after the first commit, and until the connection is closed.
struct LogFile {
    journal: PathBuf,
    file: Option<File>,
}

impl Log {
    /// Returns the log of the journal at `path`, whose connection no longer waits for the disk itself.
    pub(crate) fn of(connection: &Connection, path: &Path) -> rusqlite::Result<Self> {
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        let journal = path.to_owned();
        let mut log = LogFile {
            journal,
            file: None,
        };
        Ok(Self::on(move || log.sync()))
    }

    fn on(disk: impl FnMut() -> io::Result<()> + Send + 'static) -> Self {
        Self {
            disk: Some(Box::new(disk)),
            unsynced: None,
            has_failed: false,
        }
    }

    /// Notes a commit.
    pub(crate) fn grow(&mut self) {
        if self.disk.is_some() {
            self.unsynced.get_or_insert_with(Instant::now);
        }
    }

    /// Makes all commits durable.
    ///
    /// # Errors
    /// Returns the error of the disk, and an error ever after: commits of then may be lost.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        if self.has_failed {
            return Err(io::Error::other(
                "the disk failed to keep earlier records; begin a new journal on a sound disk",
            ));
        }
        if let (Some(disk), Some(_)) = (&mut self.disk, self.unsynced) {
            disk().inspect_err(|_| self.has_failed = true)?;
            self.unsynced = None;
        }
        Ok(())
    }

    /// Waits for the next job, and makes the commits before it durable in time. Returns `None` once the queue is closed and empty.
    pub(crate) fn next_job<J>(&mut self, queue: &mut Receiver<J>) -> Option<J> {
        if let Some(since) = self.unsynced {
            let due = since + MAX_UNSYNCED;
            if Instant::now() < due
                && let Poll::Ready(job) = receive_until(queue, due)
            {
                return job;
            }
            // Nobody waits for this one. If it fails, so does the next job that waits.
            let _ = self.sync();
        }
        queue.blocking_recv()
    }
}

impl LogFile {
    fn sync(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                // SQLite names the log after the file behind all links.
                let mut path = self.journal.canonicalize()?.into_os_string();
                path.push("-wal");
                self.file.insert(OpenOptions::new().write(true).open(path)?)
            }
        };
        file.sync_data()
    }
}

/// Wakes the writer thread.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for a job. Returns `Pending` if none has come by then.
fn receive_until<J>(queue: &mut Receiver<J>, at: Instant) -> Poll<Option<J>> {
    let waker = Arc::new(Unpark(thread::current())).into();
    let mut task = Context::from_waker(&waker);
    loop {
        let received = queue.poll_recv(&mut task);
        let left = at.saturating_duration_since(Instant::now());
        if received.is_ready() || left.is_zero() {
            return received;
        }
        thread::park_timeout(left);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::ops::ControlFlow;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use serde_json::{Value, json};
    use tempfile::TempDir;
    use tools::call::CallPlace;
    use tools::{Catalog, Effects, Host, Tool, ToolContext};
    use tools_store::Durability;

    use super::*;
    use crate::writer::Writer;
    use crate::{Audit, JournalOptions, SqliteJournal, open};

    /// A disk that loses the part of the log that was not synchronised, in the folder of a journal.
    struct LossyDisk {
        folder: TempDir,
        /// The length of the log that is safe.
        safe: AtomicUsize,
        syncs: AtomicUsize,
    }

    impl LossyDisk {
        fn new() -> Arc<Self> {
            Arc::new(Self {
                folder: tempfile::tempdir().unwrap(),
                safe: AtomicUsize::new(0),
                syncs: AtomicUsize::new(0),
            })
        }

        fn journal(self: &Arc<Self>) -> SqliteJournal {
            let path = self.path("journal");
            let connection = open::to_write(&path, Durability::Process).unwrap();
            let disk = self.clone();
            let log = Log::on(move || disk.sync());
            SqliteJournal {
                writer: Arc::new(Writer::start(connection, path, log).unwrap()),
                options: JournalOptions::default(),
            }
        }

        fn sync(&self) -> io::Result<()> {
            let length = fs::metadata(self.path("journal-wal"))?.len() as usize;
            self.safe.store(length, Ordering::SeqCst);
            self.syncs.fetch_add(1, Ordering::SeqCst);
            Ok(())
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        /// Returns the kinds and turns of the rows after a loss of power, which leaves `torn` percent of the unsafe part.
        fn rows_after_loss(&self, torn: usize) -> Vec<(String, Option<u64>)> {
            let after = tempfile::tempdir().unwrap();
            let copy = |name: &str, length: usize| {
                let bytes = fs::read(self.path(name)).unwrap();
                fs::write(after.path().join(name), &bytes[..length.min(bytes.len())]).unwrap();
            };
            copy("journal", usize::MAX);
            let safe = self.safe.load(Ordering::SeqCst);
            let length = fs::metadata(self.path("journal-wal")).unwrap().len() as usize;
            copy("journal-wal", safe + (length - safe) * torn / 100);
            rows(&after.path().join("journal"))
        }
    }

    fn rows(path: &Path) -> Vec<(String, Option<u64>)> {
        let audit = Audit::open(path).unwrap();
        audit.verify(None).unwrap();
        let mut rows = Vec::new();
        let visit = |entry: crate::AuditEntry| {
            rows.push((entry.kind, entry.turn));
            ControlFlow::Continue(())
        };
        audit.visit(None, visit).unwrap();
        rows
    }

    /// Makes calls of a tool whose effect is a look at the rows that a loss of power would leave. Each has its own turn.
    async fn calls(disk: &Arc<LossyDisk>, journal: &SqliteJournal, together: u64, rounds: u64) {
        let mut catalog = Catalog::new();
        let effects: Effects = serde_json::from_value(json!({"writes": ["bank:{turn}"]})).unwrap();
        let properties = json!({"turn": {"type": "integer"}});
        let schema = json!({"type": "object", "properties": properties, "required": ["turn"]});
        let tool = Tool::new("pay", "Pays.", schema)
            .unwrap()
            .with_effects(effects);
        let disk = disk.clone();
        let pay = move |_: ToolContext, arguments: Value| {
            let turn = arguments["turn"].as_u64().unwrap();
            let rows = disk.rows_after_loss((turn as usize * 37) % 100);
            async move {
                assert!(
                    rows.contains(&("intent".to_owned(), Some(turn))),
                    "{turn}: {rows:?}"
                );
                for earlier in 1..=(turn - 1) / together * together {
                    // The results of earlier rounds are the reason for this one.
                    assert!(
                        rows.contains(&("outcome".to_owned(), Some(earlier))),
                        "{turn}: {rows:?}"
                    );
                }
                "paid"
            }
        };
        catalog.register(tool, pay).unwrap();
        let grant = tools::Grant::parse(["bank:write:**"]).unwrap();
        let host = Host::new().with_grant(grant).with_session("s");
        let host = host.with_journal(Arc::new(journal.clone()));
        for round in 0..rounds {
            let call = |number: u64| {
                let turn = round * together + number;
                let cx = CallPlace::new(turn, 0).enter(host.clone().into());
                tokio::spawn(catalog.execute(&cx, "pay", json!({"turn": turn})))
            };
            let calls: Vec<_> = (1..=together).map(call).collect();
            for call in calls {
                call.await.unwrap().unwrap();
            }
        }
    }

    #[tokio::test]
    async fn an_effect_precedes_neither_its_intent_nor_the_outcomes_before_it() {
        let disk = LossyDisk::new();
        let journal = disk.journal();
        calls(&disk, &journal, 1, 20).await;
        // One for each intent, and those of a slow machine.
        let syncs = disk.syncs.load(Ordering::SeqCst);
        assert!((20..30).contains(&syncs), "{syncs}");
    }

    #[test]
    fn a_disk_that_failed_once_is_not_believed_again() {
        let mut failures = vec![io::Error::other("worn out")];
        let mut log = Log::on(move || failures.pop().map_or(Ok(()), Err));
        log.grow();
        assert!(log.sync().is_err());
        log.grow();
        assert!(log.sync().is_err());
    }

    #[tokio::test]
    async fn calls_that_run_together_share_a_synchronisation() {
        let disk = LossyDisk::new();
        let journal = disk.journal();
        calls(&disk, &journal, 32, 4).await;
        let syncs = disk.syncs.load(Ordering::SeqCst);
        assert!(syncs < 4 * 32 / 2, "{syncs}");
    }

    #[tokio::test]
    async fn the_last_outcome_is_durable_soon() {
        let disk = LossyDisk::new();
        let journal = disk.journal();
        calls(&disk, &journal, 1, 1).await;
        let until = Instant::now() + Duration::from_secs(20);
        while disk.rows_after_loss(0).len() < 2 {
            assert!(Instant::now() < until, "the outcome is not on the disk");
            thread::sleep(Duration::from_millis(5));
        }
        drop(journal);
    }
}
