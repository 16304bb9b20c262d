//! Calls that are taken back, or come too late, at any moment, under the scheduler of [`schedule`](crate::schedule).

#![allow(clippy::unwrap_used)]

use std::future::pending;
use std::sync::{Arc, Mutex, atomic as counted};
use std::time::Duration;

use protocol::{Effects, Grant, Tool, ToolResult};
use serde_json::{Value, json};
use shuttle::future::{block_on, yield_now};
use shuttle::rand::{Rng as _, thread_rng};
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, advance};
use tokio_util::sync::CancellationToken;

use crate::schedule::{Thread, all, check};
use crate::{Admission, Catalog, Line, SharedCatalog, ToolContext, ToolError};

const LIMIT: Duration = Duration::from_secs(5);

/// A clock that stands still but for what [`advance`] says. Calls wait by the runtime that is entered. It is never shut down: the
/// timers that a failed schedule leaves would then wake threads that are no more, and hide why it failed.
fn clock() -> &'static Runtime {
    Box::leak(Box::new(Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()))
}

/// Lets the others take some steps, so that what comes next comes at any moment of theirs.
fn after_a_while() {
    for _ in 0..thread_rng().gen_range(0..200) {
        shuttle::thread::yield_now();
    }
}

fn writer(name: &str, path: &str) -> Tool {
    let effects: Effects = serde_json::from_value(json!({"writes": [format!("fs:{path}")]})).unwrap();
    Tool::new(name, "Writes.", json!({"type": "object"})).unwrap().with_effects(effects)
}

/// A catalog of `write`, which gives way while it has the path `a`. There is one place, which each call needs as well.
#[derive(Clone)]
struct Workshop {
    catalog: SharedCatalog,
    admission: Arc<Admission>,
    inside: Arc<AtomicUsize>,
    begun: Arc<AtomicUsize>,
    /// The contexts of the calls that began, and the moment at which each came to its end by itself.
    contexts: Arc<Mutex<Vec<ToolContext>>>,
    finished: Arc<Mutex<Vec<Moment>>>,
}

struct Moment {
    call_id: String,
    at: Instant,
    was_cancelled: bool,
}

/// Counts a call out however it ends.
struct Inside(Arc<AtomicUsize>);

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Workshop {
    fn new(token: &CancellationToken) -> Self {
        let admission = Arc::new(Admission::new().with_max_concurrency(1));
        let catalog = SharedCatalog::from(Catalog::new().with_admission(admission.clone()));
        let workshop = Self {
            catalog,
            admission,
            inside: Arc::default(),
            begun: Arc::default(),
            contexts: Arc::default(),
            finished: Arc::default(),
        };
        let Self { inside, begun, contexts, finished, .. } = workshop.clone();
        let token = token.clone();
        let write = move |cx: ToolContext, _: Value| {
            let (inside, begun, token) = (inside.clone(), begun.clone(), token.clone());
            let (contexts, finished) = (contexts.clone(), finished.clone());
            async move {
                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two are inside at a time");
                let is_inside = Inside(inside);
                begun.fetch_add(1, Ordering::SeqCst);
                contexts.lock().unwrap().push(cx.clone());
                yield_now().await;
                yield_now().await;
                drop(is_inside);
                // Nothing is modelled from here to the moment at which the counter looks at the outcome.
                let call_id = cx.call_id().unwrap().to_owned();
                finished.lock().unwrap().push(Moment {
                    call_id,
                    at: Instant::now(),
                    was_cancelled: token.is_cancelled(),
                });
                "written"
            }
        };
        workshop.catalog.register(writer("write", "a"), write).unwrap();
        workshop
    }

    fn cx(call_id: &str) -> ToolContext {
        ToolContext::new().with_grant(Grant::all()).with_timeout(Duration::from_secs(3600)).with_call_id(call_id)
    }

    fn call(&self, cx: &ToolContext) -> Result<ToolResult, ToolError> {
        block_on(self.catalog.execute(cx, "write", json!({})))
    }

    /// A call that nobody takes back gets through, whatever happens to others.
    fn patient(&self) -> Thread {
        let workshop = self.clone();
        Box::new(move || assert_eq!(workshop.call(&Self::cx("patient")).unwrap(), ToolResult::text("written")))
    }

    /// Whether the call of that id came to its end by itself, and when.
    fn finish(&self, call_id: &str) -> Option<Moment> {
        let mut finished = self.finished.lock().unwrap();
        let index = finished.iter().position(|moment| moment.call_id == call_id)?;
        Some(finished.swap_remove(index))
    }

    /// Nothing is left of any call.
    fn end(self) {
        assert_eq!((self.admission.running(), self.admission.waiting()), (0, 0));
        assert!(self.admission.is_empty());
        assert_eq!(self.inside.load(Ordering::SeqCst), 0);
        let contexts = std::mem::take(&mut *self.contexts.lock().unwrap());
        assert_eq!(contexts.len(), self.begun.load(Ordering::SeqCst));
        assert!(
            contexts.iter().all(|cx| cx.is_cancelled() && cx.cancellation().is_cancelled()),
            "each has heard of its end"
        );
    }
}

/// How often something happened in all schedules: each of the ways to end has to be among them.
#[derive(Default)]
struct Seen([counted::AtomicUsize; 3]);

impl Seen {
    fn note(&self, way: usize) {
        self.0[way].fetch_add(1, counted::Ordering::Relaxed);
    }

    fn all(&self) -> bool {
        self.0.iter().all(|seen| seen.load(counted::Ordering::Relaxed) > 0)
    }
}

#[test]
fn a_call_that_is_cancelled_at_any_moment_has_one_outcome_and_gives_back_what_it_had() {
    let clock = clock();
    let _inside = clock.enter();
    let seen = Arc::new(Seen::default());
    let noted = seen.clone();
    check(move || {
        let token = CancellationToken::new();
        let workshop = Workshop::new(&token);
        let (same, cx, seen) =
            (workshop.clone(), Workshop::cx("hasty").with_cancellation(token.clone()), noted.clone());
        let hasty: Thread = Box::new(move || {
            let outcome = same.call(&cx);
            let finish = same.finish("hasty");
            match outcome {
                Ok(_) => assert!(!finish.unwrap().was_cancelled, "a late result is dropped"),
                Err(ToolError::Cancelled { .. }) => {
                    assert!(cx.is_cancelled());
                    assert!(finish.as_ref().is_none_or(|finish| finish.was_cancelled), "a result in time is not");
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
    assert!(seen.all(), "in time, late and without a result: {:?}", seen.0);
}

#[test]
fn a_call_that_is_dropped_at_any_moment_gives_back_what_it_had() {
    let clock = clock();
    let _inside = clock.enter();
    let seen = Arc::new(Seen::default());
    let noted = seen.clone();
    check(move || {
        let workshop = Workshop::new(&CancellationToken::new());
        let (same, leave, seen) = (workshop.clone(), CancellationToken::new(), noted.clone());
        let left = leave.clone();
        let hasty: Thread = Box::new(move || {
            let call = same.catalog.execute(&Workshop::cx("hasty"), "write", json!({}));
            let ended = block_on(left.run_until_cancelled_owned(call)).is_some();
            let has_begun = same.contexts.lock().unwrap().iter().any(|cx| cx.call_id() == Some("hasty"));
            seen.note(if ended { 0 } else { 1 + usize::from(has_begun) });
        });
        let leave: Thread = Box::new(move || {
            after_a_while();
            leave.cancel();
        });
        all([workshop.patient(), hasty, leave, workshop.patient()]);
        workshop.end();
    });
    assert!(seen.all(), "ended, dropped while it waits and while it runs: {:?}", seen.0);
}

#[test]
fn a_result_after_the_deadline_is_dropped_and_what_the_call_had_is_given_back() {
    let clock = clock();
    let _inside = clock.enter();
    let seen = Arc::new(Seen::default());
    let noted = seen.clone();
    check(move || {
        let workshop = Workshop::new(&CancellationToken::new());
        let (same, cx, seen) = (workshop.clone(), Workshop::cx("hasty").with_timeout(LIMIT), noted.clone());
        let deadline = Instant::now() + LIMIT;
        let hasty: Thread = Box::new(move || {
            let cx = cx.with_deadline(deadline.into_std());
            let outcome = same.call(&cx);
            let in_time = same.finish("hasty").map(|finish| finish.at < deadline);
            match outcome {
                Ok(_) => assert_eq!(in_time, Some(true), "a late result is dropped"),
                Err(ToolError::Timeout { .. }) => {
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
    assert!(seen.all(), "in time, late and without a result: {:?}", seen.0);
}

#[test]
fn a_call_made_by_one_that_ends_at_any_moment_ends_with_it() {
    let clock = clock();
    let _inside = clock.enter();
    check(|| {
        let token = CancellationToken::new();
        let workshop = Workshop::new(&token);
        let hang = async |_: ToolContext, _: Value| pending::<()>().await;
        workshop.catalog.register(writer("hang", "b/c"), hang).unwrap();
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
        workshop.catalog.register(writer("outer", "b"), outer).unwrap();
        let (catalog, cx) = (workshop.catalog.clone(), Workshop::cx("outer").with_cancellation(token.clone()));
        let call: Thread = Box::new(move || {
            let outcome = block_on(catalog.execute(&cx, "outer", json!({})));
            assert!(matches!(outcome, Ok(_) | Err(ToolError::Cancelled { .. })), "{outcome:?}");
            let threads = std::mem::take(&mut *nested.lock().unwrap());
            for thread in threads {
                let error = thread.join().unwrap();
                assert!(matches!(error, ToolError::Cancelled { .. } | ToolError::Overloaded { .. }), "{error}");
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
fn a_call_that_is_taken_back_holds_up_nobody_in_its_line() {
    let clock = clock();
    let _inside = clock.enter();
    check(|| {
        let token = CancellationToken::new();
        let (workshop, line) = (Workshop::new(&token), Line::new());
        // The spots are taken before anybody runs, and the first of them is that of the one that is taken back.
        let hasty = Workshop::cx("hasty").with_cancellation(token.clone()).with_line(&line);
        let patient = ["second", "third"].map(|call_id| Workshop::cx(call_id).with_line(&line));
        let same = workshop.clone();
        let mut threads: Vec<Thread> = vec![
            Box::new(move || {
                let outcome = same.call(&hasty);
                drop(hasty);
                assert!(matches!(outcome, Ok(_) | Err(ToolError::Cancelled { .. })), "{outcome:?}");
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
        let order: Vec<_> = workshop.finished.lock().unwrap().iter().map(|moment| moment.call_id.clone()).collect();
        let patient: Vec<_> = order.iter().filter(|call_id| *call_id != "hasty").collect();
        assert_eq!(patient, ["second", "third"], "they conflict, so they run in the order of their line");
        workshop.end();
    });
}
