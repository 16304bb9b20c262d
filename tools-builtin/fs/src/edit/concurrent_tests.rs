//! Edits while other calls and programs change the file.

use std::sync::{Arc, Barrier};
use std::time::Duration;

use tools::{ErrorCode, Host};

use super::*;
use crate::files::Files;
use crate::fixture::Fixture;

fn once(old: &str, new: &str) -> EditArguments {
    EditArguments {
        path: "a".to_owned().try_into().unwrap(),
        old: old.to_owned(),
        new: new.to_owned(),
        all: false,
        encoding: None,
    }
}

#[test]
fn writers_at_the_same_time_lose_no_update() {
    const WRITERS: usize = 4;
    const EDITS: usize = 50;
    let fixture = Fixture::new();
    fixture.write(
        "a",
        &(0..WRITERS)
            .map(|writer| format!("w{writer}=0;\n"))
            .collect::<String>(),
    );
    let shared = Workspace::open(fixture.root()).unwrap();
    let start = Barrier::new(WRITERS);
    let write = |writer: usize| {
        start.wait();
        for edit in 0..EDITS {
            let old = format!("w{writer}={edit};");
            let new = format!("w{writer}={};", edit + 1);
            apply_edit(Files::new(&Host::new(), &shared), &once(&old, &new)).unwrap();
        }
    };
    std::thread::scope(|scope| {
        (0..WRITERS).for_each(|writer| drop(scope.spawn(move || write(writer))))
    });
    let expected: String = (0..WRITERS)
        .map(|writer| format!("w{writer}={EDITS};\n"))
        .collect();
    assert_eq!(fixture.read("a"), expected);
}

/// Edits `a`, and runs `meanwhile` between the preparation of the edit and the replacement of the file.
fn edited_while(
    fixture: &Fixture,
    old: &str,
    meanwhile: impl FnOnce(&ToolContext),
) -> Result<String, FsError> {
    let workspace = Workspace::open(fixture.root()).unwrap();
    let cx = Host::new();
    std::thread::scope(|scope| {
        let changing = workspace.lock_changes();
        let editing = scope.spawn(|| apply_edit(Files::new(&cx, &workspace), &once(old, "new")));
        fixture.wait_for_draft(".");
        meanwhile(&cx);
        drop(changing);
        editing.join().unwrap()
    })
}

#[test]
fn concurrent_changes_are_edited_and_not_lost() {
    let fixture = Fixture::with_files(&[("a", "old\nours\n")]);
    let diff = edited_while(&fixture, "old", |_| fixture.write("a", "theirs\nold\n")).unwrap();
    assert_eq!(diff, "--- a\n+++ a\n@@ -1,2 +1,2 @@\n theirs\n-old\n+new\n");
    assert_eq!(
        (fixture.read("a"), fixture.names(".")),
        ("theirs\nnew\n".to_owned(), vec!["a".to_owned()])
    );
}

#[test]
fn a_file_from_which_another_program_removed_the_text_is_unchanged() {
    let fixture = Fixture::with_files(&[("a", "old")]);
    let outcome = edited_while(&fixture, "old", |_| fixture.write("a", "theirs"));
    assert!(
        matches!(outcome, Err(FsError::NoMatch { .. })),
        "{outcome:?}"
    );
    assert_eq!(
        (fixture.read("a"), fixture.names(".")),
        ("theirs".to_owned(), vec!["a".to_owned()])
    );
}

#[test]
fn a_call_that_is_cancelled_before_the_file_is_replaced_leaves_it() {
    let fixture = Fixture::with_files(&[("a", "old")]);
    let outcome = edited_while(&fixture, "old", |cx| cx.cancellation().cancel());
    assert!(
        matches!(&outcome, Err(FsError::Pipeline(error)) if error.code() == ErrorCode::Cancelled),
        "{outcome:?}"
    );
    assert_eq!(
        (fixture.read("a"), fixture.names(".")),
        ("old".to_owned(), vec!["a".to_owned()])
    );
}

#[test]
fn other_calls_do_not_wait_for_the_search_for_the_nearest_place() {
    let fixture = Fixture::with_files(&[("a", "text")]);
    let workspace = Arc::new(Workspace::open(fixture.root()).unwrap());
    let _changing = workspace.lock_changes();
    let (sender, outcome) = std::sync::mpsc::channel();
    let editing = workspace.clone();
    // Not joined: the thread would hang if the edit took the lock.
    std::thread::spawn(move || {
        let call = once("tixt", "new");
        let edited = apply_edit(Files::new(&Host::new(), &editing), &call);
        sender.send(edited).unwrap();
    });
    let outcome = outcome
        .recv_timeout(Duration::from_secs(60))
        .expect("the edit waits for the lock");
    assert!(
        matches!(outcome, Err(FsError::NoMatch { .. })),
        "{outcome:?}"
    );
}
