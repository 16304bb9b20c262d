//! A catalog shared by threads. `tools/src/shared/shuttle_tests.rs` tests their interleavings.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::sample::{echo, pure};
use serde_json::json;
use tools::{ErrorCode, Host, SharedCatalog, ToolContext, ToolError};

#[test]
fn ten_thousand_tools_come_and_go_while_others_look() {
    const TOOLS: usize = 10_000;
    const WRITERS: usize = 4;
    let catalog = SharedCatalog::new();
    let done = AtomicBool::new(false);

    thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut looks = 0_usize;
                    while !done.load(Ordering::Acquire) || looks == 0 {
                        let list = catalog.list();
                        assert!(
                            list.is_sorted_by(|a, b| a.name() < b.name()),
                            "sorted, and each name once"
                        );
                        for entry in list.iter().step_by(997) {
                            // `kept` tools stay; `passing` tools may be gone.
                            let found = catalog.get(entry.name());
                            assert!(found.is_ok() || entry.name().starts_with("passing"));
                        }
                        looks += 1;
                    }
                    looks
                })
            })
            .collect();
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let catalog = catalog.clone();
                scope.spawn(move || {
                    for number in (writer..TOOLS).step_by(WRITERS) {
                        catalog
                            .register(pure(&format!("kept.{number:05}")), echo)
                            .unwrap();
                        let passing = format!("passing.{writer}");
                        catalog.register(pure(&passing), echo).unwrap();
                        assert!(catalog.unregister(&passing));
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.join().unwrap();
        }
        done.store(true, Ordering::Release);
        for reader in readers {
            assert!(reader.join().unwrap() > 0);
        }
    });

    let names: Vec<_> = catalog
        .list()
        .iter()
        .map(|entry| entry.name().to_string())
        .collect();
    let expected: Vec<_> = (0..TOOLS)
        .map(|number| format!("kept.{number:05}"))
        .collect();
    assert_eq!(names, expected, "no update was lost");
    assert_eq!(catalog.subscribe().generation(), 3 * TOOLS as u64);
}

#[tokio::test]
async fn a_tool_may_register_another_while_it_runs_and_call_it() {
    let catalog = SharedCatalog::new();
    let inner = catalog.clone();
    let teach = move |cx: ToolContext, _: serde_json::Value| {
        let learned = inner
            .register(pure("learned"), echo)
            .map_err(|error| ToolError::execution_failed(error.to_string()));
        async move { cx.execute(learned?.name(), json!({"x": 1})).await }
    };
    catalog.register(pure("teach"), teach).unwrap();
    let result = catalog
        .execute(&Host::new(), "teach", json!({}))
        .await
        .unwrap();
    assert_eq!(result.to_text(), r#"{"x":1}"#);
    assert!(catalog.contains("learned"));
}

#[tokio::test]
async fn clones_are_one_catalog_and_a_snapshot_is_another() {
    let catalog = SharedCatalog::new();
    let clone = catalog.clone();
    clone.register(pure("a"), echo).unwrap();
    let snapshot = catalog.snapshot();
    catalog.unregister("a");
    assert!(!clone.contains("a"));
    assert!(snapshot.contains("a"));
    let gone = clone.execute(&Host::new(), "a", json!({})).await;
    assert!(matches!(&gone, Err(error) if error.code() == ErrorCode::NotFound));
}
