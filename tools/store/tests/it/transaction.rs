//! Transactions of several connections, each of which another process could have.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tools_store::{Durability, Schema, Store, StoreError};

const COUNTER: Schema = Schema::new(
    "store of a counter",
    3,
    &["CREATE TABLE counter (value INTEGER) STRICT; INSERT INTO counter VALUES (0)"],
);

async fn add(store: &Store) -> Result<i64, StoreError> {
    let add = store.write(|transaction| {
        // Reads first: without the write lock, another connection could write in between, and this write would fail.
        let value: i64 =
            transaction.query_row("SELECT value FROM counter", [], |row| row.get(0))?;
        transaction.execute("UPDATE counter SET value = ?", [value + 1])?;
        Ok::<_, StoreError>(value + 1)
    });
    add.await
}

async fn value(store: &Store) -> i64 {
    let read = store.read(|transaction| {
        Ok::<_, StoreError>(
            transaction.query_row("SELECT value FROM counter", [], |row| row.get(0))?,
        )
    });
    read.await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn transactions_that_read_and_write_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("counter");
    let open = |_| Store::open(&path, &COUNTER, Durability::Process).unwrap();
    let stores: Vec<_> = (0..4).map(open).collect();
    let tasks = (0..16).map(|task| {
        let store = stores[task % 4].clone();
        tokio::spawn(async move {
            for _ in 0..25 {
                add(&store).await.unwrap();
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    assert_eq!(value(&stores[0]).await, 400);
}

#[tokio::test]
async fn an_error_or_a_panic_writes_nothing_and_the_store_stays_usable() {
    let store = Store::in_memory(&COUNTER).unwrap();
    let failed = store.write(|transaction| {
        transaction.execute("UPDATE counter SET value = 7", [])?;
        Err::<(), _>(StoreError::Closed)
    });
    failed.await.unwrap_err();
    let panics = store.clone();
    let panics = tokio::spawn(async move {
        let write = panics.write(|transaction| -> Result<(), StoreError> {
            transaction.execute("UPDATE counter SET value = 8", [])?;
            panic!("on purpose")
        });
        write.await
    });
    assert!(panics.await.unwrap_err().is_panic());
    assert_eq!((value(&store).await, add(&store).await.unwrap()), (0, 1));
}

#[tokio::test]
async fn waiting_for_another_writer_does_not_block_the_async_thread() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("counter");
    let open = || Store::open(&path, &COUNTER, Durability::Process).unwrap();
    let (holder, waiting, reader) = (open(), open(), open());
    let (is_held, may_end) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicBool::new(false)),
    );
    let held = {
        let (is_held, may_end) = (is_held.clone(), may_end.clone());
        holder.write(move |_| {
            is_held.store(true, Ordering::Release);
            // Ends also if the test fails.
            for _ in 0..5000 {
                if may_end.load(Ordering::Acquire) {
                    break;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            Ok::<_, StoreError>(())
        })
    };
    let ends = async {
        while !is_held.load(Ordering::Acquire) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let added = add(&waiting);
        tokio::pin!(added);
        // Readers do not wait at all.
        assert!(
            tokio::time::timeout(Duration::from_millis(20), &mut added)
                .await
                .is_err()
        );
        assert_eq!(value(&reader).await, 0);
        may_end.store(true, Ordering::Release);
        added.await.unwrap()
    };
    let (held, added) = tokio::join!(held, ends);
    held.unwrap();
    assert_eq!(added, 1);
}

#[test]
fn a_file_is_opened_and_read_while_another_connection_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("counter");
    let open = || Store::open(&path, &COUNTER, Durability::Process).unwrap();
    let written = open().write_blocking(|transaction| {
        transaction.execute("UPDATE counter SET value = 7", [])?;
        open().read_blocking(|transaction| {
            Ok::<i64, StoreError>(transaction.query_row(
                "SELECT value FROM counter",
                [],
                |row| row.get(0),
            )?)
        })
    });
    assert_eq!(written.unwrap(), 0);
}

#[test]
fn the_error_of_a_locked_file_says_to_wait() {
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        Store::open(
            &folder.path().join("counter"),
            &COUNTER,
            Durability::Process,
        )
        .unwrap()
    };
    let (late, writer) = (open(), open());
    let refused = late.read_blocking(|transaction| {
        let _: i64 = transaction.query_row("SELECT value FROM counter", [], |row| row.get(0))?;
        writer.write_blocking(|transaction| {
            Ok::<_, StoreError>(transaction.execute("UPDATE counter SET value = 7", [])?)
        })?;
        // SQLite waits for no lock here, because what was read is out of date.
        Ok::<_, StoreError>(transaction.execute("UPDATE counter SET value = 8", [])?)
    });
    let error = refused.unwrap_err();
    assert!(
        matches!(error, StoreError::Busy)
            && error.to_string().ends_with("try again when it has ended"),
        "{error}"
    );
}
