//! The queue and the concurrency limit under the scheduler of [`schedule`](crate::schedule).

#![allow(clippy::unwrap_used)]

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use shuttle::future::block_on;
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use tokio::time::Instant;

use super::{Admission, Key, Permit, Request};
use crate::call::CallOrder;
use crate::schedule::{Thread, all, check};

fn request<'a>(keys: &[&str], outer_calls: Option<&'a [u64]>) -> Request<'a> {
    Request {
        keys: keys
            .iter()
            .map(|key| Key::new(&key.parse().unwrap(), ""))
            .collect(),
        limiter: None,
        is_nested: outer_calls.is_some(),
        has_foreign: false,
        outer_calls: outer_calls.unwrap_or_default(),
    }
}

fn far() -> Instant {
    Instant::now() + Duration::from_secs(3600)
}

fn wait(permit: &Permit<'_>) {
    block_on(permit.wait(far())).unwrap();
}

#[test]
fn one_writes_and_several_read() {
    check(|| {
        let admission = Arc::new(Admission::default());
        let readers = Arc::new(AtomicUsize::new(0));
        let writers = Arc::new(AtomicUsize::new(0));
        let same = admission.clone();
        let call = move |key: &'static str| -> Thread {
            let admission = admission.clone();
            let readers = readers.clone();
            let writers = writers.clone();
            Box::new(move || {
                let permit = admission.register(request(&[key], None)).unwrap();
                wait(&permit);
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
        all([
            call("fs:write:a"),
            call("fs:read:a/b"),
            call("fs:read:."),
            call("fs:write:a/b"),
        ]);
        assert_eq!((same.running(), same.waiting()), (0, 0));
    });
}

#[test]
fn the_concurrency_limit_holds_and_every_waiting_call_runs() {
    check(|| {
        let admission = Arc::new(Admission::default().with_max_concurrency(1));
        let running = Arc::new(AtomicUsize::new(0));
        let same = admission.clone();
        let call = move |_| -> Thread {
            let admission = admission.clone();
            let running = running.clone();
            Box::new(move || {
                let permit = match admission.enter(false) {
                    Some(permit) => permit,
                    None => admission.register(request(&[], None)).unwrap(),
                };
                wait(&permit);
                assert_eq!(running.fetch_add(1, Ordering::SeqCst), 0);
                running.fetch_sub(1, Ordering::SeqCst);
            })
        };
        all((0..4).map(call));
        assert_eq!((same.running(), same.waiting()), (0, 0));
    });
}

#[test]
fn a_call_cancelled_while_waiting_blocks_no_other() {
    check(|| {
        let admission = Arc::new(Admission::default());
        let same = admission.clone();
        let call = move |is_patient: bool| -> Thread {
            let admission = admission.clone();
            Box::new(move || {
                let permit = admission.register(request(&["fs:write:a"], None)).unwrap();
                if is_patient {
                    wait(&permit);
                } else {
                    let _ = pin!(permit.wait(far())).poll(&mut Context::from_waker(Waker::noop()));
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
        let admission = Arc::new(Admission::default().with_max_concurrency(2));
        let same = admission.clone();
        let composite = move |own: &'static str, other: &'static str| -> Thread {
            let admission = admission.clone();
            Box::new(move || {
                let outer = admission.register(request(&[own], None)).unwrap();
                wait(&outer);
                let outer_calls = [outer.id().unwrap()];
                // A key of the other call is refused or free, and a key of this call is covered.
                if let Ok(nested) = admission.register(request(&[other], Some(&outer_calls))) {
                    wait(&nested);
                }
                let inside = admission
                    .register(request(&[own], Some(&outer_calls)))
                    .unwrap();
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
fn a_call_order_is_kept() {
    check(|| {
        let order = CallOrder::new();
        let arrived = Arc::new(AtomicUsize::new(0));
        let tickets: Vec<_> = (0..4).map(|_| order.enqueue()).collect();
        all(tickets
            .into_iter()
            .enumerate()
            .map(|(number, ticket)| -> Thread {
                let arrived = arrived.clone();
                Box::new(move || {
                    // One ticket is dropped without waiting.
                    if number != 1 {
                        block_on(ticket.wait_turn());
                        let before = arrived.fetch_add(1, Ordering::SeqCst);
                        assert_eq!(before, number - usize::from(number > 1));
                    }
                })
            }));
    });
}
