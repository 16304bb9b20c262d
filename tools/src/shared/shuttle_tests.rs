//! Registration under the scheduler of [`schedule`](crate::schedule).

#![allow(clippy::unwrap_used)]

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use protocol::{ErrorCode, Tool, ToolResult};
use serde_json::{Value, json};
use shuttle::future::block_on;
use shuttle::sync::Mutex;
use shuttle::sync::atomic::{AtomicUsize, Ordering};

use crate::context::{Host, ToolContext};
use crate::entry::Entry;
use crate::handler::{Handler, HandlerFuture};
use crate::input::Input;
use crate::register_error::{DefinitionError, RegisterError};
use crate::schedule::{all, check, nothing, thread, tool};
use crate::shared::SharedCatalog;
use crate::source::Source;
use crate::submission::Submission;

/// Creates a tool whose source line identifies the thread that registers it.
fn entry(name: &str, line: u32) -> Entry {
    Entry::new(tool(name), nothing, Source::new("c", "1", "lib.rs", line)).unwrap()
}

#[test]
fn of_several_that_register_one_name_one_wins_and_the_others_learn_of_both_places() {
    check(|| {
        let catalog = SharedCatalog::new();
        let winner = Arc::new(Mutex::new(None));
        let refusals = Arc::new(Mutex::new(Vec::new()));
        let shared = (catalog.clone(), winner.clone(), refusals.clone());
        let register = |line| {
            thread(&shared, move |(catalog, winner, refusals)| {
                match catalog.insert(entry("t", line)) {
                    Ok(_) => assert_eq!(winner.lock().unwrap().replace(line), None, "two have won"),
                    Err(RegisterError::Exists {
                        existing,
                        refused,
                        free,
                        ..
                    }) => {
                        assert_eq!((refused.line, free.as_str()), (line, "t_v2"));
                        refusals
                            .lock()
                            .unwrap()
                            .extend(existing.iter().map(|source| source.line));
                    }
                    Err(error) => panic!("{error}"),
                }
                assert!(catalog.contains("t") && catalog.get("t").is_ok());
            })
        };
        all((1..=3).map(register));
        let winner = winner.lock().unwrap().unwrap();
        assert_eq!(
            *refusals.lock().unwrap(),
            [winner; 2],
            "each is told of the place of the one that won"
        );
        assert_eq!(catalog.get("t").unwrap().source().line, winner);
        assert_eq!(catalog.subscribe().generation(), 1);
    });
}

#[test]
fn submissions_are_added_all_or_none_of_them() {
    check(|| {
        let catalog = SharedCatalog::new();
        let several = |names: [&'static str; 2], line| {
            thread(&catalog, move |catalog| {
                let entries = names.map(|name| Arc::new(entry(name, line))).to_vec();
                let is_added = catalog
                    .change(|catalog| catalog.add_missing(entries))
                    .is_ok();
                let seen = catalog.snapshot();
                let own = |name: &&str| {
                    seen.get(name)
                        .is_ok_and(|entry| entry.source().line == line)
                };
                assert_eq!(
                    names.iter().filter(|name| own(name)).count(),
                    if is_added { 2 } else { 0 }
                );
            })
        };
        all([
            several(["a", "b"], 1),
            several(["b", "c"], 2),
            several(["c", "a"], 3),
        ]);
        assert_eq!(catalog.names().len(), 2, "any two have a name in common");
    });
}

#[test]
fn a_tool_may_register_another_while_it_runs_and_so_may_its_neighbour() {
    check(|| {
        let catalog = SharedCatalog::new();
        let learned = Arc::new(AtomicUsize::new(0));
        for name in ["one", "two"] {
            let inner = catalog.clone();
            let learned = learned.clone();
            let teach = move |cx: ToolContext, _: Value| {
                let is_new = inner.register(tool("learned"), nothing).is_ok();
                learned.fetch_add(is_new.into(), Ordering::SeqCst);
                async move { cx.execute("learned", json!({})).await }
            };
            catalog.register(tool(name), teach).unwrap();
        }
        let run = |name: &'static str| {
            thread(&catalog, move |catalog| {
                block_on(catalog.execute(&Host::new(), name, json!({}))).unwrap();
            })
        };
        all([run("one"), run("two")]);
        assert_eq!(
            (
                learned.load(Ordering::SeqCst),
                catalog.subscribe().generation()
            ),
            (1, 3)
        );
    });
}

/// The catalog that the builder of `slow` registers a tool in.
static OUTER: std::sync::Mutex<Option<SharedCatalog>> = std::sync::Mutex::new(None);

fn slow() -> Result<Tool, DefinitionError> {
    let catalog = OUTER.lock().unwrap().clone();
    catalog
        .unwrap()
        .register(tool("built_with_it"), nothing)
        .unwrap();
    Ok(tool("slow"))
}

inventory::submit! {
    Submission { name: "slow", was: &[], source: Source::new("c", "1", "lib.rs", 1), definition: slow, handler: &nothing }
}

#[test]
fn a_linked_tool_is_built_without_the_lock() {
    check(|| {
        let catalog = SharedCatalog::linked();
        *OUTER.lock().unwrap() = Some(catalog.clone());
        let look = |look: fn(&SharedCatalog)| thread(&catalog, look);
        all([
            look(|catalog| assert!(catalog.get("slow").is_ok())),
            look(|catalog| {
                assert!(
                    catalog
                        .list()
                        .iter()
                        .any(|entry| entry.name().as_str() == "slow")
                )
            }),
            look(|catalog| assert!(catalog.problems().is_empty())),
            look(|catalog| assert!(catalog.register(tool("other"), nothing).is_ok())),
        ]);
        *OUTER.lock().unwrap() = None;
        assert!(catalog.contains("built_with_it") && catalog.contains("other"));
    });
}

#[test]
fn generations_only_grow_and_no_watcher_misses_the_last_one() {
    check(|| {
        let catalog = SharedCatalog::new();
        let write = |name: &'static str| {
            thread(&catalog, move |catalog| {
                drop(catalog.register(tool(name), nothing).unwrap())
            })
        };
        let watch = || {
            thread(&catalog, |catalog| {
                // Depending on the schedule, this subscribes before, between or after the changes.
                let mut watch = catalog.subscribe();
                let first = watch.generation();
                let mut last = 0;
                while first.max(last) < 3 {
                    let generation = block_on(watch.changed()).unwrap();
                    assert!(
                        generation >= first && generation > last,
                        "{generation} after {last}"
                    );
                    assert!(
                        catalog.list().len() as u64 >= generation,
                        "a published tool is listed"
                    );
                    last = generation;
                }
                assert_eq!(catalog.list().len(), 3);
            })
        };
        all([watch(), write("a"), write("b"), write("c"), watch()]);
        assert_eq!(catalog.subscribe().generation(), 3);
    });
}

#[test]
fn names_that_come_and_go_leave_a_consistent_catalog() {
    check(|| {
        let catalog = SharedCatalog::new();
        let removed = Arc::new(AtomicUsize::new(0));
        let added = Arc::new(AtomicUsize::new(0));
        let shared = (catalog.clone(), removed.clone(), added.clone());
        all((1..=3).map(|line| {
            thread(&shared, move |(catalog, removed, added)| {
                added.fetch_add(
                    catalog.insert(entry("t", line)).is_ok().into(),
                    Ordering::SeqCst,
                );
                removed.fetch_add(catalog.unregister("t").into(), Ordering::SeqCst);
            })
        }));
        let removed = removed.load(Ordering::SeqCst);
        let added = added.load(Ordering::SeqCst);
        // Each refused thread removed the tool that refused it, unless it was already gone.
        assert_eq!((added - removed, catalog.contains("t")), (0, false));
        assert_eq!(catalog.subscribe().generation(), (added + removed) as u64);
    });
}

#[test]
fn a_writer_that_panics_leaves_a_catalog_that_others_go_on_with() {
    check(|| {
        let catalog = SharedCatalog::new();
        let panics = || {
            thread(&catalog, |catalog| {
                let change = || {
                    catalog.change(|catalog| {
                        drop(catalog.put(Arc::new(entry("half", 1))));
                        // Skips the panic hook, which would print each panic.
                        resume_unwind(Box::new("in the middle of a change"))
                    })
                };
                let panicked: Result<(), _> = catch_unwind(AssertUnwindSafe(change));
                assert!(panicked.is_err());
            })
        };
        let writes = |name: &'static str| {
            thread(&catalog, move |catalog| {
                catalog.insert(entry(name, 2)).unwrap();
                assert!(
                    catalog.contains(name)
                        && catalog
                            .list()
                            .iter()
                            .any(|entry| entry.name().as_str() == name)
                );
            })
        };
        all([writes("a"), panics(), writes("b")]);
        assert!(catalog.contains("a") && catalog.contains("b"));
        let mut watch = catalog.subscribe();
        catalog.insert(entry("c", 3)).unwrap();
        assert_eq!(
            block_on(watch.changed()),
            Some(catalog.subscribe().generation())
        );
    });
}

#[test]
fn a_handler_may_change_the_catalog_when_it_is_dropped() {
    /// Unregisters another tool when it is dropped, and panics.
    struct LastWill(SharedCatalog);
    impl Drop for LastWill {
        fn drop(&mut self) {
            self.0.unregister("heir");
            resume_unwind(Box::new("dropped"));
        }
    }
    impl Handler for LastWill {
        fn call<'a>(&'a self, _: ToolContext, _: Input) -> HandlerFuture<'a> {
            HandlerFuture::ready(Ok(ToolResult::text("still here")))
        }
    }
    check(|| {
        let catalog = SharedCatalog::new();
        catalog
            .register(tool("t"), LastWill(catalog.clone()))
            .unwrap();
        catalog.register(tool("heir"), nothing).unwrap();
        let act = |act: fn(&SharedCatalog)| {
            thread(&catalog, move |catalog| {
                drop(catch_unwind(AssertUnwindSafe(|| act(catalog))))
            })
        };
        all([
            act(|catalog| drop(catalog.replace(tool("t"), nothing))),
            act(|catalog| drop(block_on(catalog.execute(&Host::new(), "t", json!({}))))),
            act(|catalog| assert!(catalog.register(tool("other"), nothing).is_ok())),
        ]);
        let heir = catalog.get("heir");
        assert_eq!(heir.unwrap_err().code(), ErrorCode::NotFound);
        assert!(catalog.contains("t") && catalog.contains("other"));
    });
}
