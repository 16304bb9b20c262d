//! The limits that a job keeps from the session that made it.

use serde_json::json;
use tools_builtin::cron::{JobSpec, Jobs};

use super::{ALL, WRITES, add, call, due, is_refused, jobs, log, run_to, write};
use crate::Crib;
#[cfg(feature = "default")]
use crate::config::write_user;

/// Takes the only job out of the store.
#[tokio::main(flavor = "current_thread")]
async fn taken(jobs: &Jobs) -> JobSpec {
    let job = jobs.list().await.unwrap().remove(0).unwrap();
    jobs.remove(job.id).await.unwrap();
    job.spec
}

/// Makes a job by a typed call with these flags, and another one of it that is due. Returns the id of the latter.
fn made_due(crib: &Crib, flags: &[&str]) -> i64 {
    let arguments = json!({"every": 60, "prompt": "write a.txt"}).to_string();
    let call = [
        "call",
        "cron.add",
        "--args",
        &arguments,
        "--grant",
        "cron:write:prompt",
        "--grant",
        "fs:write:**",
    ];
    crib.run(&[&call, flags].concat()).expect(0);
    let spec = taken(&jobs(crib));
    let schedule = due(spec.work.clone(), &[]).schedule;
    add(crib, JobSpec { schedule, ..spec })
}

#[test]
fn a_rule_of_the_session_that_made_a_job_holds_for_its_runs() {
    for verdict in ["deny", "ask"] {
        let crib = Crib::new();
        let rules = format!("[[policy]]\nverdict = '{verdict}'\ntarget = 'fs:write:a.txt'\n");
        let file = crib.write("rules.toml", &rules);
        let script = crib.script(&[
            r#"{"calls": [{"name": "fs.write", "arguments": {"path": "b.txt", "content": "1"}},
                {"name": "fs.write", "arguments": {"path": "a.txt", "content": "1"}}]}"#,
            r#"{"text": "Tried."}"#,
        ]);
        let job = made_due(&crib, &["--policy", &file]);
        let ended = run_to(&crib, &[&ALL[..], &["--script", &script]].concat(), 5);
        is_refused(
            &crib,
            &ended,
            &format!("at the session that made job {job}"),
        );
        assert!(crib.root().join("b.txt").exists(), "{ended:#?}");
    }
}

#[test]
fn nobody_is_asked_about_the_calls_of_a_job_also_at_a_terminal() {
    let crib = Crib::new();
    add(&crib, due(write("a.txt"), &WRITES));
    let session = crate::terminal::on_terminal(&crib, &["cron", "run", "--once"]);
    let (rest, code) = crate::terminal::rest(session);
    assert_eq!(code, 5, "{rest}");
}

#[test]
fn a_file_that_decided_what_the_session_may_do_is_not_written_by_its_job() {
    let crib = Crib::new();
    std::fs::write(crib.root().join("rules.toml"), "").unwrap();
    let write =
        r#"{"calls": [{"name": "fs.write", "arguments": {"path": "rules.toml", "content": "1"}}]}"#;
    let script = crib.script(&[write, r#"{"text": "Tried."}"#]);
    made_due(&crib, &["--policy", "rules.toml"]);
    let ended = run_to(&crib, &[&ALL[..], &["--script", &script]].concat(), 5);
    is_refused(
        &crib,
        &ended,
        "fs:write:rules.toml, because it decides what tools may do",
    );
    assert_eq!(
        std::fs::read_to_string(crib.root().join("rules.toml")).unwrap(),
        ""
    );
}

#[test]
fn the_log_has_the_error_of_a_run_and_what_was_refused_before_it() {
    let crib = Crib::new();
    // The script ends before the answer.
    let script = crib.script(&[
        r#"{"calls": [{"name": "fs.write", "arguments": {"path": "a.txt", "content": "1"}}]}"#,
    ]);
    made_due(&crib, &[]);
    let ended = run_to(&crib, &["--script", &script], 1);
    let [run] = &log(&crib)[..] else {
        panic!("{ended:#?}")
    };
    assert_eq!(run["outcome"], "failed", "{run}");
    let note = run["note"].as_str().unwrap();
    assert!(ended.stderr.contains(": failed; "), "{ended:#?}");
    assert!(
        note.contains("script") && note.contains("add --grant fs:write:a.txt to `cron run`"),
        "{note}"
    );
}

#[cfg(feature = "default")]
#[test]
fn the_log_says_that_a_message_whose_call_ended_before_the_answer_may_have_been_sent() {
    let crib = Crib::new();
    // It takes the message and never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = crib.write(
        "url.txt",
        &format!("http://{}/hook", silent.local_addr().unwrap()),
    );
    write_user(
        &crib,
        &format!(
            "limits.call_timeout = '1s'\n[channels.team]\ntype = 'webhook'\nurl_file = '{url}'\n"
        ),
    );
    let send = call("message.send", json!({"channel": "team", "text": "hello"}));
    let tools = vec!["message.send".to_owned()];
    add(
        &crib,
        JobSpec {
            tools,
            ..due(send, &["message:write:team", "net:write:**"])
        },
    );
    run_to(&crib, &["--grant", "message:write:team"], 1);
    let [run] = &log(&crib)[..] else {
        panic!("one run")
    };
    let note = run["note"].as_str().unwrap();
    assert!(
        note.contains("message.send") && note.contains("may have taken effect"),
        "{note}"
    );
}

#[test]
fn the_log_has_the_error_of_a_failed_call_on_one_short_line() {
    let crib = Crib::new();
    let path = format!("a\n{}", "b".repeat(2000));
    add(&crib, due(call("fs.read", json!({"path": path})), &WRITES));
    run_to(&crib, &[], 1);
    let [run] = &log(&crib)[..] else {
        panic!("one run")
    };
    let note = run["note"].as_str().unwrap();
    assert!(
        note.contains("bbb") && !note.contains('\n') && note.len() < 1000,
        "{note}"
    );
}
