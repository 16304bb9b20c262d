//! Silence, interrupts and input that was not meant for a question on a pseudo-terminal.

use rexpect::session::PtySession;
use serde_json::json;

use crate::Crib;
use crate::terminal::{QUESTION, READ, asked, end_with, on_terminal, rest, say, twice};

#[test]
fn an_unanswered_question_is_a_refusal() {
    let crib = Crib::new();
    let (shown, code) = rest(on_terminal(
        &crib,
        &[&READ[..], &["--approval-timeout", "300ms"]].concat(),
    ));
    assert!(
        shown.contains("no: \r\n") && shown.contains("the approval request timed out after 300ms"),
        "{shown:?}"
    );
    assert_eq!(code, 5);
}

#[test]
fn an_interrupt_at_a_question_cancels() {
    let crib = Crib::new();
    for arguments in [
        &READ[..],
        &["run", "fs.read path=README.md", "--no-default-grants"],
    ] {
        let (mut session, _) = asked(&crib, arguments);
        session.send_control('c').unwrap();
        let (rest, code) = rest(session);
        assert!(
            rest.contains("cancelled") && !rest.contains("# Hello"),
            "{rest}"
        );
        assert_eq!(code, 130);
    }
}

#[test]
fn an_interrupted_run_without_a_model_says_why_a_call_failed() {
    let crib = Crib::new();
    let calls =
        "fs.read path=missing.txt ; fs.write path=a.txt content=x ; fs.write path=b.txt content=x";
    let (mut session, first) = asked(&crib, &["run", calls, "--provider", "direct"]);
    let second = say(&mut session, "y", &[QUESTION]);
    // The other call has ended before one of them.
    assert!(
        first.contains("failed") || second.contains("failed"),
        "{first}{second}"
    );
    session.send_control('c').unwrap();
    let (shown, code) = rest(session);
    assert!(shown.contains("there is no `missing.txt`"), "{shown}");
    assert_eq!(code, 130, "{shown}");
}

#[test]
fn input_typed_ahead_answers_nothing() {
    let crib = Crib::new();
    let script = twice(&crib, "fs.read", r#"{"path": "README.md"}"#);
    let arguments = ["run", "x", "--script", &script, "--no-default-grants"];
    let (mut session, _) = asked(&crib, &arguments);
    // Both lines are typed before the second question appears.
    session.send("y\ny\n").unwrap();
    session.flush().unwrap();
    session.exp_string(QUESTION).unwrap();
    let (rest, _) = end_with(session, "n");
    assert!(rest.contains("failed") && rest.contains("denied"), "{rest}");
}

/// Sends lines as a terminal over a network does: one after the other.
fn paste(session: &mut PtySession, lines: &[&str]) {
    for line in lines {
        session.send_line(line).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[test]
fn pasted_lines_approve_nothing() {
    let crib = Crib::new();
    let remove = |path: &str| json!({"name": "fs.remove", "arguments": {"path": path}});
    let turn = json!({"calls": [remove("README.md"), remove("sub/inner.txt")]});
    let script = crib.script(&[&turn.to_string(), r#"{"text": "finished"}"#]);
    let (mut session, _) = asked(
        &crib,
        &["run", "x", "--script", &script, "--grant", "fs:destroy:**"],
    );
    paste(&mut session, &["log", "y", "log", "y", "y"]);
    session.exp_string(QUESTION).unwrap();
    // The first line of a text can answer, but the next ones do not answer the next question.
    paste(&mut session, &["n", "y", "y"]);
    session.exp_string(QUESTION).unwrap();
    let (rest, _) = end_with(session, "n");
    assert!(rest.contains("finished"), "{rest}");
    assert!(crib.root().join("README.md").exists() && crib.root().join("sub/inner.txt").exists());
}
