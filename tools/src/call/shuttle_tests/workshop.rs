//! The fixture of cancellation tests: one tool with one slot and one path, which counts its calls.

#![allow(clippy::unwrap_used)]

use std::sync::{Arc, Mutex, atomic as counted};
use std::time::Duration;

use protocol::{Effects, Grant, Tool, ToolResult};
use serde_json::{Value, json};
use shuttle::future::{block_on, yield_now};
use shuttle::rand::{Rng as _, thread_rng};
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use tokio::runtime::{Builder, Runtime};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::admission::Admission;
use crate::call::CallPlace;
use crate::catalog::Catalog;
use crate::context::{Host, ToolContext};
use crate::schedule::{Thread, check};
use crate::shared::SharedCatalog;
use crate::tool_error::ToolError;

/// A runtime with a paused clock, which only [`advance`] moves. It is never shut down, because the remaining timers of a failed schedule
/// would then wake threads that no longer exist, and hide the failure.
pub(super) fn clock() -> &'static Runtime {
    Box::leak(Box::new(
        Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap(),
    ))
}

/// Yields a few times, so that the next step can happen at any moment of the other threads.
pub(super) fn after_a_while() {
    for _ in 0..thread_rng().gen_range(0..200) {
        shuttle::thread::yield_now();
    }
}

pub(super) fn writer(name: &str, path: &str) -> Tool {
    let effects: Effects =
        serde_json::from_value(json!({"writes": [format!("fs:{path}")]})).unwrap();
    Tool::new(name, "Writes.", json!({"type": "object"}))
        .unwrap()
        .with_effects(effects)
}

/// A catalog with the tool `write`, which yields while it holds the path `a`. The concurrency limit is 1.
#[derive(Clone)]
pub(super) struct Workshop {
    pub(super) catalog: SharedCatalog,
    admission: Arc<Admission>,
    inside: Arc<AtomicUsize>,
    begun: Arc<AtomicUsize>,
    /// The contexts of the started calls, and the time at which each completed.
    pub(super) contexts: Arc<Mutex<Vec<ToolContext>>>,
    pub(super) finished: Arc<Mutex<Vec<Moment>>>,
}

pub(super) struct Moment {
    pub(super) call_id: String,
    pub(super) at: Instant,
    pub(super) was_cancelled: bool,
}

/// Decrements the count of running calls when a call ends in any way.
pub(super) struct Inside(Arc<AtomicUsize>);

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Workshop {
    pub(super) fn new(token: &CancellationToken) -> Self {
        let admission = Arc::new(Admission::default().with_max_concurrency(1));
        let catalog = SharedCatalog::from(Catalog::new().with_admission(admission.clone()));
        let workshop = Self {
            catalog,
            admission,
            inside: Arc::default(),
            begun: Arc::default(),
            contexts: Arc::default(),
            finished: Arc::default(),
        };
        let Self {
            inside,
            begun,
            contexts,
            finished,
            ..
        } = workshop.clone();
        let token = token.clone();
        let write = move |cx: ToolContext, _: Value| {
            let inside = inside.clone();
            let begun = begun.clone();
            let token = token.clone();
            let contexts = contexts.clone();
            let finished = finished.clone();
            async move {
                assert_eq!(
                    inside.fetch_add(1, Ordering::SeqCst),
                    0,
                    "two are inside at a time"
                );
                let is_inside = Inside(inside);
                begun.fetch_add(1, Ordering::SeqCst);
                contexts.lock().unwrap().push(cx.clone());
                yield_now().await;
                yield_now().await;
                drop(is_inside);
                // There is no scheduling point from here until the pipeline reads the outcome.
                let call_id = cx.call_id().unwrap().to_owned();
                finished.lock().unwrap().push(Moment {
                    call_id,
                    at: Instant::now(),
                    was_cancelled: token.is_cancelled(),
                });
                "written"
            }
        };
        workshop
            .catalog
            .register(writer("write", "a"), write)
            .unwrap();
        workshop
    }

    pub(super) fn cx(call_id: &str) -> Host {
        Host::new()
            .with_grant(Grant::all())
            .with_timeout(Duration::from_secs(3600))
            .with_place(CallPlace::default().with_id(call_id))
    }

    pub(super) fn call(&self, cx: &ToolContext) -> Result<ToolResult, ToolError> {
        block_on(self.catalog.execute(cx, "write", json!({})))
    }

    /// A call that is not cancelled succeeds, regardless of the others.
    pub(super) fn patient(&self) -> Thread {
        let workshop = self.clone();
        Box::new(move || {
            assert_eq!(
                workshop.call(&Self::cx("patient")).unwrap(),
                ToolResult::text("written")
            )
        })
    }

    /// Returns the completion of the call with this id, or `None` if it did not complete.
    pub(super) fn finish(&self, call_id: &str) -> Option<Moment> {
        let mut finished = self.finished.lock().unwrap();
        let index = finished
            .iter()
            .position(|moment| moment.call_id == call_id)?;
        Some(finished.swap_remove(index))
    }

    /// Checks that no call remains in the admission.
    pub(super) fn end(self) {
        assert_eq!((self.admission.running(), self.admission.waiting()), (0, 0));
        assert!(self.admission.is_empty());
        assert_eq!(self.inside.load(Ordering::SeqCst), 0);
        let contexts = std::mem::take(&mut *self.contexts.lock().unwrap());
        assert_eq!(contexts.len(), self.begun.load(Ordering::SeqCst));
        assert!(
            contexts
                .iter()
                .all(|cx| cx.is_cancelled() && cx.cancellation().is_cancelled()),
            "each token is cancelled at the end of its call"
        );
    }
}

/// Repetitions of a check in which an outcome did not occur. The rarest one occurs in about 3 of the 500 schedules.
const REPETITIONS: usize = 20;

/// Counts the outcomes over all schedules, to check that each one occurs.
pub(super) struct Seen<const WAYS: usize>(pub(super) [counted::AtomicUsize; WAYS]);

impl<const WAYS: usize> Seen<WAYS> {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self(std::array::from_fn(|_| counted::AtomicUsize::new(0))))
    }

    pub(super) fn note(&self, way: usize) {
        self.0[way].fetch_add(1, counted::Ordering::Relaxed);
    }

    /// Checks the test under more and more schedules until each outcome has occurred.
    pub(super) fn check(&self, test: impl Fn() + Send + Sync + 'static) {
        let test = Arc::new(test);
        for _ in 0..REPETITIONS {
            let test = test.clone();
            check(move || test());
            if self.all() {
                return;
            }
        }
        panic!("an outcome did not occur: {:?}", self.0);
    }

    fn all(&self) -> bool {
        self.0
            .iter()
            .all(|seen| seen.load(counted::Ordering::Relaxed) > 0)
    }
}
