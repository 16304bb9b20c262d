//! The recorded sessions of jobs.

use serde_json::{Value, json};
use tools_builtin::cron::Work;

use super::{WRITES, add, call, due, log, run_to};
use crate::{Crib, Ended};

/// The first turn of a job that writes a file.
const WRITE: &str =
    r#"{"calls": [{"name": "fs.write", "arguments": {"path": "a.txt", "content": "1"}}]}"#;

/// Runs a job whose session ends before its answer. Returns the ID of the session.
fn interrupted(crib: &Crib) -> String {
    let script = crib.script(&[r#"{"calls": [{"name": "fs.list", "arguments": {"path": "."}}]}"#]);
    add(crib, due(Work::Prompt("go".to_owned()), &WRITES));
    run_to(crib, &["--script", &script], 1);
    log(crib).pop().unwrap()["session"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[track_caller]
fn names_the_job(ended: &Ended) {
    assert!(
        ended.stderr.contains("job 1") && ended.stderr.contains("cron log 1"),
        "{ended:#?}"
    );
}

#[test]
fn a_session_of_a_job_is_neither_resumed_nor_forked_because_its_limits_would_be_lost() {
    let crib = Crib::new();
    let session = interrupted(&crib);
    let script = crib.script(&[r#"{"text": "played"}"#, WRITE, r#"{"text": "Written."}"#]);
    let journal = crib
        .dir
        .path()
        .join(format!("state/toolcrib/sessions/{session}.journal"));
    let in_file = [
        "--journal",
        journal.to_str().unwrap(),
        "--session",
        &session,
        "--resume",
    ];
    let flags = ["--script", &script, "--allow", "fs:write:**"];
    for command in ["run", "chat"] {
        for resume in [&["--resume", &session][..], &in_file] {
            names_the_job(
                &crib
                    .run(&[&[command][..], &flags, resume].concat())
                    .expect(2),
            );
        }
    }
    names_the_job(&crib.run(&["sessions", "fork", &session]).expect(2));
    assert!(!crib.root().join("a.txt").exists());
    assert_eq!(
        crib.run(&["sessions", "--json"])
            .expect(0)
            .documents()
            .len(),
        1,
        "the fork left nothing"
    );
}

#[test]
fn a_run_whose_prompt_is_not_recorded_has_no_session_in_the_log() {
    let crib = Crib::new();
    add(
        &crib,
        due(Work::Prompt("This is no call.".to_owned()), &WRITES),
    );
    add(&crib, due(call("fs.list", json!({})), &WRITES));
    run_to(&crib, &["--provider", "direct"], 1);
    let sessions = crib.run(&["sessions", "--json"]).expect(0).documents();
    let named: Vec<_> = log(&crib)
        .iter()
        .map(|run| run["session"].clone())
        .collect();
    assert_eq!(
        (sessions.len(), named),
        (1, vec![Value::Null, sessions[0]["id"].clone()])
    );
}

#[test]
fn the_newest_session_to_resume_or_fork_is_none_of_a_job() {
    let crib = Crib::new();
    interrupted(&crib);
    for arguments in [&["run", "--resume"][..], &["sessions", "fork"]] {
        let ended = crib.run(arguments).expect(2);
        assert!(ended.stderr.contains("sessions --all"), "{ended:#?}");
    }
    let own = Crib::new();
    let begin = own.script(&[WRITE]);
    own.run(&[
        "run",
        "my own",
        "--script",
        &begin,
        "--grant",
        "fs:write:**",
    ])
    .expect(1);
    interrupted(&own);
    let script = own.script(&[WRITE, r#"{"text": "Mine."}"#]);
    let ended = own.run(&["run", "--resume", "--script", &script]).expect(0);
    assert!(ended.stdout.contains("Mine."), "{ended:#?}");
}
