//! The primitives under a scheduler that decides who goes next at each lock and each atomic. A deadlock fails the test.
//!
//! `RUSTFLAGS='--cfg shuttle' cargo test --package toolcrib-tools --lib shuttle_tests`

#![allow(clippy::unwrap_used)]

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use protocol::{Effects, Tool};
use serde_json::{Value, json};
use shuttle::future::block_on;
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::{Config, Runner, thread};
use tokio::time::Instant;

use super::{Admission, Admitted, Key, Request};
use crate::{Line, SharedCatalog, ToolContext};

/// How many schedules each test runs through, half of them with few and far switches between threads, where rare bugs hide.
const SCHEDULES: usize = 2_000;

/// How large the stack of each thread is, in bytes: the default of 32 KiB is too little for a build that is not optimised.
const STACK: usize = 1024 * 1024;

fn check(test: impl Fn() + Send + Sync + 'static) {
    let test = Arc::new(test);
    let same = test.clone();
    let config = || {
        let mut config = Config::new();
        config.stack_size = STACK;
        config
    };
    Runner::new(RandomScheduler::new(SCHEDULES / 2), config()).run(move || same());
    Runner::new(PctScheduler::new(3, SCHEDULES / 2), config()).run(move || test());
}

fn request<'a>(keys: &[&str], around: Option<&'a [u64]>) -> Request<'a> {
    Request {
        keys: keys.iter().map(|key| Key::new(&key.parse().unwrap(), "")).collect(),
        limited: None,
        is_nested: around.is_some(),
        has_foreign: false,
        around: around.unwrap_or_default(),
    }
}

fn far() -> Instant {
    Instant::now() + Duration::from_secs(3600)
}

fn wait(admitted: &Admitted<'_>) {
    block_on(admitted.wait(far())).unwrap();
}

fn all(threads: impl IntoIterator<Item = Box<dyn FnOnce() + Send>>) {
    let threads: Vec<_> = threads.into_iter().map(thread::spawn).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn one_writes_and_several_read() {
    check(|| {
        let (admission, readers, writers) =
            (Arc::new(Admission::new()), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let same = admission.clone();
        let call = move |key: &'static str| -> Box<dyn FnOnce() + Send> {
            let (admission, readers, writers) = (admission.clone(), readers.clone(), writers.clone());
            Box::new(move || {
                let admitted = admission.register(request(&[key], None)).unwrap();
                wait(&admitted);
                if key.contains("write") {
                    assert_eq!(writers.fetch_add(1, Ordering::SeqCst), 0);
                    assert_eq!(readers.load(Ordering::SeqCst), 0);
                    writers.fetch_sub(1, Ordering::SeqCst);
                } else {
                    readers.fetch_add(1, Ordering::SeqCst);
                    assert_eq!(writers.load(Ordering::SeqCst), 0);
                    readers.fetch_sub(1, Ordering::SeqCst);
                }
            })
        };
        all([call("fs:write:a"), call("fs:read:a/b"), call("fs:read:."), call("fs:write:a/b")]);
        assert_eq!((same.running(), same.waiting()), (0, 0));
    });
}

#[test]
fn a_gate_is_never_overfull_and_nobody_is_forgotten() {
    check(|| {
        let (admission, running) = (Arc::new(Admission::new().with_max_concurrency(1)), Arc::new(AtomicUsize::new(0)));
        let same = admission.clone();
        let call = move |_| -> Box<dyn FnOnce() + Send> {
            let (admission, running) = (admission.clone(), running.clone());
            Box::new(move || {
                let admitted = match admission.enter(false) {
                    Some(admitted) => admitted,
                    None => admission.register(request(&[], None)).unwrap(),
                };
                wait(&admitted);
                assert_eq!(running.fetch_add(1, Ordering::SeqCst), 0);
                running.fetch_sub(1, Ordering::SeqCst);
            })
        };
        all((0..4).map(call));
        assert_eq!((same.running(), same.waiting()), (0, 0));
    });
}

#[test]
fn whoever_is_cancelled_while_waiting_is_in_nobodys_way() {
    check(|| {
        let admission = Arc::new(Admission::new());
        let same = admission.clone();
        let call = move |is_patient: bool| -> Box<dyn FnOnce() + Send> {
            let admission = admission.clone();
            Box::new(move || {
                let admitted = admission.register(request(&["fs:write:a"], None)).unwrap();
                if is_patient {
                    wait(&admitted);
                } else {
                    let _ = pin!(admitted.wait(far())).poll(&mut Context::from_waker(Waker::noop()));
                }
            })
        };
        all([call(true), call(false), call(true), call(false)]);
        assert_eq!((same.running(), same.waiting()), (0, 0));
    });
}

#[test]
fn nested_calls_do_not_wait_in_a_circle() {
    check(|| {
        let admission = Arc::new(Admission::new().with_max_concurrency(2));
        let same = admission.clone();
        let composite = move |own: &'static str, other: &'static str| -> Box<dyn FnOnce() + Send> {
            let admission = admission.clone();
            Box::new(move || {
                let outer = admission.register(request(&[own], None)).unwrap();
                wait(&outer);
                let around = [outer.id().unwrap()];
                // What the other one has is refused or free, and what this one has itself is its own.
                if let Ok(nested) = admission.register(request(&[other], Some(&around))) {
                    wait(&nested);
                }
                let inside = admission.register(request(&[own], Some(&around))).unwrap();
                wait(&inside);
            })
        };
        all([
            composite("fs:write:a", "fs:write:b"),
            composite("fs:write:b", "fs:write:a"),
            composite("world:write:t", "fs:write:a"),
        ]);
        assert_eq!((same.running(), same.waiting()), (0, 0));
    });
}

#[test]
fn a_line_keeps_its_order() {
    check(|| {
        let (line, came) = (Line::new(), Arc::new(AtomicUsize::new(0)));
        let spots: Vec<_> = (0..4).map(|_| line.stand()).collect();
        all(spots.into_iter().enumerate().map(|(number, spot)| -> Box<dyn FnOnce() + Send> {
            let came = came.clone();
            Box::new(move || {
                // One goes away without a word.
                if number != 1 {
                    block_on(spot.come());
                    let before = came.fetch_add(1, Ordering::SeqCst);
                    assert_eq!(before, number - usize::from(number > 1));
                }
            })
        }));
    });
}

#[test]
fn of_two_that_register_one_name_one_wins_and_everybody_sees_it() {
    async fn nothing(_: ToolContext, _: Value) {}
    check(|| {
        let (catalog, wins) = (SharedCatalog::new(), Arc::new(AtomicUsize::new(0)));
        let same = (catalog.clone(), wins.clone());
        let register = move || -> Box<dyn FnOnce() + Send> {
            let (catalog, wins) = (catalog.clone(), wins.clone());
            Box::new(move || {
                let tool = Tool::new("t", "A tool.", json!({"type": "object"})).unwrap().with_effects(Effects::Pure);
                wins.fetch_add(catalog.register(tool, nothing).is_ok().into(), Ordering::SeqCst);
                assert!(catalog.contains("t") && catalog.get("t").is_ok());
            })
        };
        all([register(), register(), register()]);
        assert_eq!((same.1.load(Ordering::SeqCst), same.0.subscribe().generation()), (1, 1));
    });
}
