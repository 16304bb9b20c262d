//! Sessions that are recorded without being asked for.

mod approval;
mod default;
mod erase;
mod fork;
mod goes_on;
mod lock;
#[cfg(feature = "default")]
mod model;
mod privacy;
mod prune;
mod resume;

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::Crib;

/// Returns the folder of the recorded sessions.
fn folder(crib: &Crib) -> PathBuf {
    crib.dir.path().join("state/toolcrib/sessions")
}

/// Returns the sessions of the root's workspace, the newest first.
fn listed(crib: &Crib) -> Vec<Value> {
    crib.run(&["sessions", "--json"]).expect(0).documents()
}

fn ids(crib: &Crib) -> Vec<String> {
    listed(crib)
        .iter()
        .map(|session| session["id"].as_str().unwrap().to_owned())
        .collect()
}

/// Writes a script of one call that writes `a.txt`, without the answer. Playing it ends like a failing service.
fn unfinished(crib: &Crib) -> String {
    let call = json!({"name": "fs.write", "arguments": {"path": "a.txt", "content": "1"}});
    crib.write("unfinished.json", &json!([{"calls": [call]}]).to_string())
}

/// Writes the script with the answer.
fn whole(crib: &Crib) -> String {
    crib.write(
        "whole.json",
        r#"[{"text": "played already"}, {"text": "Written."}]"#,
    )
}

/// Runs a session that writes `a.txt` and ends before its answer. Then changes the file, so that a second call would show.
fn interrupted(crib: &Crib) {
    let script = unfinished(crib);
    crib.run(&[
        "run",
        "write it",
        "--script",
        &script,
        "--grant",
        "fs:write:**",
    ])
    .expect(1);
    std::fs::write(crib.root().join("a.txt"), "changed since").unwrap();
}

#[track_caller]
fn is_unchanged(crib: &Crib) {
    assert_eq!(
        std::fs::read_to_string(crib.root().join("a.txt")).unwrap(),
        "changed since"
    );
}
