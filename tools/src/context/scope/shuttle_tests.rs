//! The end of a call and its waiters, under the scheduler of [`schedule`](crate::schedule).

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use protocol::{Effects, Tool};
use serde_json::{Value, json};
use shuttle::future::block_on;

use crate::context::{Host, ToolContext};
use crate::entry::Entry;
use crate::schedule::{Thread, all, check};
use crate::shared::SharedCatalog;

async fn nothing(_: ToolContext, _: Value) {}

/// A call and two nested calls.
fn calls() -> [ToolContext; 3] {
    let tool = Tool::new("t", "A tool.", json!({"type": "object"}))
        .unwrap()
        .with_effects(Effects::Pure);
    let entry = Arc::new(Entry::new(tool, nothing, crate::source!()).unwrap());
    let scope = || crate::resolve::Scope::from(Arc::new(SharedCatalog::new()));
    let entered = |caller: ToolContext| {
        let time_limit = caller.deadline_for(&entry);
        caller
            .enter(
                &entry,
                scope(),
                Vec::new(),
                time_limit,
                crate::context::ScopeSpan::default(),
            )
            .unwrap()
    };
    let outer = entered(Host::new().into());
    let inner = || entered(outer.clone());
    let (inner, other) = (inner(), inner());
    [outer, inner, other]
}

#[test]
fn every_waiter_is_notified_of_the_end_of_a_call() {
    check(|| {
        let [outer, inner, silent] = calls();
        let wait = |cx: &ToolContext| -> Thread {
            let cx = cx.clone();
            Box::new(move || {
                block_on(cx.cancellation().cancelled());
                assert!(cx.is_cancelled() && cx.check_cancelled().is_err());
            })
        };
        let ending = outer.clone();
        let end: Thread = Box::new(move || ending.call().unwrap().end());
        all([wait(&outer), wait(&inner), end, wait(&inner)]);
        assert!(outer.is_cancelled() && inner.is_cancelled());
        assert!(
            silent.is_cancelled(),
            "also if the token was never requested"
        );
    });
}

#[test]
fn the_end_of_a_call_is_not_that_of_the_one_around_it() {
    check(|| {
        let [outer, inner, other] = calls();
        let ending = inner.clone();
        let asking = inner.clone();
        all([
            Box::new(move || ending.call().unwrap().end()) as Thread,
            Box::new(move || {
                // All ways to query the end agree once the call is over.
                let was_over = asking.is_cancelled();
                let is_over = asking.cancellation().is_cancelled();
                assert!(is_over || !was_over);
                assert!(asking.is_cancelled() || !is_over);
            }),
        ]);
        assert!(inner.is_cancelled() && inner.cancellation().is_cancelled());
        for cx in [outer, other] {
            assert!(!cx.is_cancelled() && !cx.cancellation().is_cancelled());
        }
    });
}
