//! A program that still runs can hide the links and settings that name files from a session that begins meanwhile.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::lost_programs::start;
use crate::strangers_files::{Desk, has_walls};

const EVERY_FILE: [&str; 4] = ["--provider", "direct", "--allow", "fs:write:**"];

/// Returns true if a session writes the file without a question.
fn is_written(desk: &Desk, file: &str) -> bool {
    let call = format!("fs.write path={file} content=evil");
    let ended = desk.run(&[&["run", &call], &EVERY_FILE[..]].concat());
    let is_written = fs::read_to_string(desk.root().join(file)).unwrap() == "evil";
    assert_eq!(ended.code == Some(0), is_written, "{ended:#?}");
    is_written
}

/// Hides a name in a loop while sessions write the file that it names, and once more after the program and its session.
#[track_caller]
fn assert_known(desk: &Desk, hide: &str, restore: &str, flags: &[&str], file: &str) {
    let script = format!("until [ -e stop ]; do {hide}; touch done; sleep .02; done; {restore}");
    let program = json!({"program": "sh", "args": ["-c", script]});
    let mut session = start(desk, &program, "exec.start", "chat", flags);
    for _ in 0..3 {
        assert!(!is_written(desk, file), "{hide}");
    }
    assert!(is_written(desk, "free.md"), "an ordinary file");
    desk.write("stop", "");
    drop(session.stdin.take());
    session.wait().unwrap();
    assert!(!is_written(desk, file), "after {hide}");
}

#[test]
fn what_a_link_names_that_a_running_program_removes_is_known_to_a_session_that_begins() {
    let desk = Desk::new();
    if !has_walls(&desk) {
        return;
    }
    for file in ["web/x", "env/dev", "free.md"] {
        desk.write(file, "mine");
    }
    symlink("../env/dev", desk.root().join("web/.envrc")).unwrap();
    let restore = "ln -s ../env/dev web/.envrc";
    assert_known(&desk, "rm -f web/.envrc", restore, &[], "env/dev");
}

#[test]
fn what_settings_name_that_a_running_program_removes_is_known_to_a_session_that_begins() {
    let desk = Desk::new();
    if !has_walls(&desk) {
        return;
    }
    for file in ["tools/githooks/pre-commit", "free.md"] {
        desk.write(file, "mine");
    }
    desk.git(&["config", "core.hooksPath", "tools/githooks"]);
    let (hide, restore) = (
        "mv -f .git/config .git/c9 2>/dev/null",
        "[ -e .git/config ] || mv .git/c9 .git/config; rm -f .git/c9",
    );
    let file = "tools/githooks/pre-commit";
    assert_known(&desk, hide, restore, &["--grant", "fs:write:.git/**"], file);
}
