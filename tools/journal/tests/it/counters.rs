//! Counters that several processes share.

use std::path::Path;
use std::thread;

use tools_journal::{CounterKey, SharedCounters};

fn key(name: &str, period: &str) -> CounterKey {
    CounterKey {
        name: name.to_owned(),
        period: period.to_owned(),
    }
}

/// Adds 1, up to the limit. Returns true if there was room.
fn take(counters: &SharedCounters, key: &CounterKey, limit: u64) -> bool {
    let change = |values: &mut [u64]| {
        if values[0] >= limit {
            return Err(());
        }
        values[0] += 1;
        Ok(())
    };
    counters
        .update(std::slice::from_ref(key), change)
        .unwrap()
        .is_ok()
}

fn value(path: &Path, key: &CounterKey) -> u64 {
    let mut found = 0;
    let read = |values: &mut [u64]| {
        found = values[0];
        Err(())
    };
    SharedCounters::open(path)
        .unwrap()
        .update(std::slice::from_ref(key), read)
        .unwrap()
        .unwrap_err();
    found
}

/// Each connection is one that another process could have.
#[test]
fn no_connection_exceeds_a_shared_limit_or_loses_a_count() {
    let folder = tempfile::tempdir().unwrap();
    let (path, day) = (
        folder.path().join("counters"),
        key("day.steps", "2026-11-22"),
    );
    let taken: usize = thread::scope(|scope| {
        let worker = || {
            (0..40)
                .filter(|_| take(&SharedCounters::open(&path).unwrap(), &day, 100))
                .count()
        };
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(worker)).collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .sum()
    });
    assert_eq!((taken, value(&path, &day)), (100, 100));
}

#[test]
fn a_new_period_counts_from_zero_and_a_late_count_of_an_old_one_does_not_reset_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("counters");
    let counters = SharedCounters::open(&path).unwrap();
    let (old, new) = (key("day", "2026-11-22"), key("day", "2026-11-23"));
    assert!(take(&counters, &old, 1) && !take(&counters, &old, 1) && take(&counters, &new, 1));
    assert_eq!(value(&path, &old), 0, "earlier periods are removed");
    assert!(take(&counters, &old, 1) && !take(&counters, &new, 1));
}

#[test]
fn a_refused_change_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("counters");
    let counters = SharedCounters::open(&path).unwrap();
    let keys = [key("a", "1"), key("b", "1")];
    let change = |values: &mut [u64]| {
        values.fill(7);
        Err("no")
    };
    assert_eq!(counters.update(&keys, change).unwrap(), Err("no"));
    assert_eq!((value(&path, &keys[0]), value(&path, &keys[1])), (0, 0));
}

#[test]
fn another_file_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("counters");
    std::fs::write(
        &path,
        "these are notes of a person, and no counters of anything",
    )
    .unwrap();
    let error = SharedCounters::open(&path).unwrap_err();
    assert_eq!(error.path, path);
    assert!(
        std::fs::read_to_string(&path)
            .unwrap()
            .starts_with("these are notes")
    );
}

#[test]
fn only_the_user_can_read_the_file() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("counters");
    take(&SharedCounters::open(&path).unwrap(), &key("a", "1"), 1);
    for file in std::fs::read_dir(folder.path()).unwrap() {
        assert_eq!(
            file.unwrap().metadata().unwrap().permissions().mode() & 0o777,
            0o600
        );
    }
}
