//! Calls that are cancelled or exceed their deadline at any moment, under the scheduler of [`schedule`](crate::schedule).

#![allow(clippy::unwrap_used)]

mod workshop;

use protocol::ErrorCode;
use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use shuttle::future::{block_on, yield_now};
use tokio::time::{Instant, advance};
use tokio_util::sync::CancellationToken;

use self::workshop::{Seen, Workshop, after_a_while, clock, writer};
use crate::call::{CallOrder, CallPlace};
use crate::context::ToolContext;
use crate::schedule::{Thread, all, check};

const LIMIT: Duration = Duration::from_secs(5);

#[test]
fn a_call_that_is_cancelled_at_any_moment_has_one_outcome_and_releases_its_permit() {
    let clock = clock();
    let _inside = clock.enter();
    let seen = Seen::<3>::new();
    let noted = seen.clone();
    // In time, late and without a result.
    seen.check(move || {
        let token = CancellationToken::new();
        let workshop = Workshop::new(&token);
        let same = workshop.clone();
        let cx = Workshop::cx("hasty").with_cancellation(token.clone());
        let seen = noted.clone();
        let hasty: Thread = Box::new(move || {
            let outcome = same.call(&cx);
            let finish = same.finish("hasty");
            match outcome {
                Ok(_) => assert!(!finish.unwrap().was_cancelled, "a late result is dropped"),
                Err(error) if error.code() == ErrorCode::Cancelled => {
                    assert!(cx.is_cancelled());
                    assert!(
                        finish.as_ref().is_none_or(|finish| finish.was_cancelled),
                        "a result in time is not"
                    );
                    seen.note(if finish.is_some() { 1 } else { 2 });
                    return;
                }
                Err(error) => panic!("{error}"),
            }
            seen.note(0);
        });
        let cancel: Thread = Box::new(move || {
            after_a_while();
            token.cancel();
        });
        all([workshop.patient(), hasty, cancel, workshop.patient()]);
        workshop.end();
    });
}

#[test]
fn a_call_that_is_dropped_at_any_moment_releases_its_permit() {
    let clock = clock();
    let _inside = clock.enter();
    let seen = Seen::<3>::new();
    let noted = seen.clone();
    // Ended, dropped while it waits and while it runs.
    seen.check(move || {
        let workshop = Workshop::new(&CancellationToken::new());
        let same = workshop.clone();
        let leave = CancellationToken::new();
        let seen = noted.clone();
        let left = leave.clone();
        let hasty: Thread = Box::new(move || {
            let call = same
                .catalog
                .execute(&Workshop::cx("hasty"), "write", json!({}));
            let ended = block_on(left.run_until_cancelled_owned(call)).is_some();
            let has_begun = same
                .contexts
                .lock()
                .unwrap()
                .iter()
                .any(|cx| cx.call_id() == Some("hasty"));
            seen.note(if ended { 0 } else { 1 + usize::from(has_begun) });
        });
        let leave: Thread = Box::new(move || {
            after_a_while();
            leave.cancel();
        });
        all([workshop.patient(), hasty, leave, workshop.patient()]);
        workshop.end();
    });
}

#[test]
fn a_result_after_the_deadline_is_dropped_and_the_permit_is_released() {
    let clock = clock();
    let _inside = clock.enter();
    let seen = Seen::<3>::new();
    let noted = seen.clone();
    // In time, late and without a result.
    seen.check(move || {
        let workshop = Workshop::new(&CancellationToken::new());
        let same = workshop.clone();
        let seen = noted.clone();
        let deadline = Instant::now() + LIMIT;
        let hasty: Thread = Box::new(move || {
            let cx = Workshop::cx("hasty").with_deadline(deadline.into_std());
            let outcome = same.call(&cx);
            let in_time = same.finish("hasty").map(|finish| finish.at < deadline);
            match outcome {
                Ok(_) => assert_eq!(in_time, Some(true), "a late result is dropped"),
                Err(error) if error.code() == ErrorCode::Timeout => {
                    assert!(Instant::now() >= deadline);
                    assert_ne!(in_time, Some(true), "a result in time is not");
                    seen.note(if in_time.is_some() { 1 } else { 2 });
                    return;
                }
                Err(error) => panic!("{error}"),
            }
            seen.note(0);
        });
        let ring: Thread = Box::new(move || {
            after_a_while();
            clock.block_on(advance(2 * LIMIT));
        });
        all([workshop.patient(), hasty, ring, workshop.patient()]);
        workshop.end();
    });
}

#[test]
fn a_waiting_call_that_is_cancelled_ends_before_its_turn() {
    let clock = clock();
    let _inside = clock.enter();
    for is_late in [false, true] {
        let seen = Seen::<2>::new();
        let noted = seen.clone();
        // Before the other one and not at all.
        seen.check(move || {
            let token = CancellationToken::new();
            let release = CancellationToken::new();
            let workshop = Workshop::new(&token);
            let until = release.clone();
            let hold = move |_: ToolContext, _: Value| until.clone().cancelled_owned();
            workshop
                .catalog
                .register(writer("hold", "a"), hold)
                .unwrap();
            let catalog = workshop.catalog.clone();
            let same = workshop.clone();
            let seen = noted.clone();
            let hold: Thread = Box::new(move || {
                block_on(catalog.execute(&Workshop::cx("hold"), "hold", json!({}))).unwrap();
            });
            let by = (Instant::now() + LIMIT).into_std();
            let cx = Workshop::cx("hasty")
                .with_deadline(by)
                .with_cancellation(token.clone());
            let hasty: Thread = Box::new(move || {
                match same.call(&cx) {
                    Ok(_) => seen.note(0),
                    Err(error) if error.code() == ErrorCode::Cancelled && !is_late => seen.note(1),
                    Err(error) if error.code() == ErrorCode::Timeout && is_late => seen.note(1),
                    Err(error) => panic!("{error}"),
                }
                // Until here, the other call may hold the key.
                release.cancel();
            });
            let take_back: Thread = Box::new(move || {
                after_a_while();
                if is_late {
                    clock.block_on(advance(2 * LIMIT))
                } else {
                    token.cancel()
                }
            });
            all([hold, hasty, take_back]);
            workshop.end();
        });
    }
}

#[test]
fn a_call_made_by_one_that_ends_at_any_moment_ends_with_it() {
    let clock = clock();
    let _inside = clock.enter();
    check(|| {
        let token = CancellationToken::new();
        let workshop = Workshop::new(&token);
        let hang = async |_: ToolContext, _: Value| pending::<()>().await;
        workshop
            .catalog
            .register(writer("hang", "b/c"), hang)
            .unwrap();
        let nested = Arc::new(Mutex::new(Vec::new()));
        let threads = nested.clone();
        let outer = move |cx: ToolContext, _: Value| {
            let own = cx.clone();
            let call = move || block_on(own.execute("hang", json!({}))).unwrap_err();
            threads.lock().unwrap().push(shuttle::thread::spawn(call));
            async move {
                yield_now().await;
                "left"
            }
        };
        workshop
            .catalog
            .register(writer("outer", "b"), outer)
            .unwrap();
        let catalog = workshop.catalog.clone();
        let cx = Workshop::cx("outer").with_cancellation(token.clone());
        let call: Thread = Box::new(move || {
            let outcome = block_on(catalog.execute(&cx, "outer", json!({})));
            assert!(
                outcome
                    .as_ref()
                    .err()
                    .is_none_or(|error| error.code() == ErrorCode::Cancelled),
                "{outcome:?}"
            );
            let threads = std::mem::take(&mut *nested.lock().unwrap());
            for thread in threads {
                let error = thread.join().unwrap();
                assert!(
                    matches!(error.code(), ErrorCode::Cancelled | ErrorCode::Overloaded),
                    "{error}"
                );
            }
        });
        let cancel: Thread = Box::new(move || {
            after_a_while();
            token.cancel();
        });
        all([call, cancel, workshop.patient()]);
        workshop.end();
    });
}

#[test]
fn a_cancelled_call_does_not_block_its_call_order() {
    let clock = clock();
    let _inside = clock.enter();
    check(|| {
        let token = CancellationToken::new();
        let workshop = Workshop::new(&token);
        let order = CallOrder::new();
        // The tickets are issued before any call runs, and the first one belongs to the call that is cancelled.
        let hasty = Workshop::cx("hasty")
            .with_cancellation(token.clone())
            .with_place(CallPlace::default().with_id("hasty").with_order(&order));
        let patient = ["second", "third"].map(|call_id| {
            Workshop::cx(call_id)
                .with_place(CallPlace::default().with_id(call_id).with_order(&order))
        });
        let same = workshop.clone();
        let mut threads: Vec<Thread> = vec![
            Box::new(move || {
                let outcome = same.call(&hasty);
                drop(hasty);
                assert!(
                    outcome
                        .as_ref()
                        .err()
                        .is_none_or(|error| error.code() == ErrorCode::Cancelled),
                    "{outcome:?}"
                );
            }),
            Box::new(move || {
                after_a_while();
                token.cancel();
            }),
        ];
        for cx in patient {
            let workshop = workshop.clone();
            threads.push(Box::new(move || {
                let outcome = workshop.call(&cx);
                drop(cx);
                outcome.unwrap();
            }));
        }
        all(threads);
        let order: Vec<_> = workshop
            .finished
            .lock()
            .unwrap()
            .iter()
            .map(|moment| moment.call_id.clone())
            .collect();
        let patient: Vec<_> = order.iter().filter(|call_id| *call_id != "hasty").collect();
        assert_eq!(
            patient,
            ["second", "third"],
            "they conflict, so they run in their call order"
        );
        workshop.end();
    });
}
