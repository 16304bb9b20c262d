//! Questions on a pseudo-terminal that are answered with yes only after all of the call was shown.

use std::fs;

use serde_json::{Value, json};

use crate::Crib;
use crate::terminal::{QUESTION, end_with, on_terminal, rest, say};

/// Starts a run whose model makes these calls one by one.
fn turns(crib: &Crib, calls: &[(&str, Value)], flags: &[&str]) -> rexpect::session::PtySession {
    let turn = |(name, arguments): &(&str, Value)| json!({"calls": [{"name": name, "arguments": arguments}]});
    let mut turns: Vec<Value> = calls.iter().map(turn).collect();
    turns.push(json!({"text": "finished"}));
    let script = crib.write("turns.json", &Value::from(turns).to_string());
    on_terminal(crib, &[&["run", "x", "--script", &script], flags].concat())
}

#[test]
fn a_yes_needs_a_view_of_all_that_the_question_cut() {
    let long: String = (0..60).map(|line| format!("echo line {line}\n")).collect();
    let wide = format!("echo {}", "x".repeat(5000));
    for (tool, arguments) in [
        ("exec.run", json!({"program": "sh", "stdin": long})),
        ("exec.run", json!({"program": "sh", "args": ["-c", wide]})),
        (
            "exec.run",
            json!({"program": "python3", "args": ["-c", long]}),
        ),
        ("exec.shell", json!({"script": long})),
        ("exec.shell", json!({"script": "sh", "stdin": long})),
        ("exec.start", json!({"program": "sh", "args": ["-c", wide]})),
        ("fs.write", json!({"path": ".envrc", "content": long})),
        ("fs.write", json!({"path": "Makefile", "content": wide})),
        (
            "fs.edit",
            json!({"path": "README.md", "old": "# Hello", "new": long}),
        ),
        ("cron.add", json!({"every": 60, "prompt": long.repeat(4)})),
        ("memory.save", json!({"text": wide[..3000]})),
    ] {
        let crib = Crib::new();
        let call = (tool, arguments.clone());
        let mut session = turns(&crib, &[call], &[]);
        let question = session.exp_string("no: ").unwrap();
        assert!(
            !question.contains("[y]") && question.contains("[v] view all, which"),
            "{tool} {arguments}: {question}"
        );
        // Not offered, so not accepted.
        say(&mut session, "y", &[QUESTION, "no: "]);
        let whole = say(&mut session, "v", &["no: "]);
        assert!(whole.contains("[y] once"), "{tool} {arguments}: {whole}");
        let (rest, _) = end_with(session, "n");
        assert!(
            rest.contains("finished") && !crib.root().join(".envrc").exists(),
            "{rest}"
        );
    }
}

#[test]
fn a_short_call_is_answered_at_once() {
    for (tool, arguments) in [
        ("exec.run", json!({"program": "sh", "stdin": "echo a\n"})),
        (
            "fs.write",
            json!({"path": "a", "content": "a line\n".repeat(15)}),
        ),
        (
            "fs.edit",
            json!({"path": "README.md", "old": "# Hello", "new": "text ".repeat(30)}),
        ),
    ] {
        let crib = Crib::new();
        let mut session = turns(&crib, &[(tool, arguments)], &[]);
        let question = session.exp_string("no: ").unwrap();
        assert!(question.contains("[y] once"), "{question}");
        end_with(session, "n");
    }
}

#[test]
fn a_move_onto_a_file_that_runs_by_itself_shows_the_content() {
    let crib = Crib::new();
    fs::write(crib.root().join("draft"), "export PATH=evil\n").unwrap();
    fs::write(crib.root().join("long"), "true\n".repeat(2000)).unwrap();
    let to = |from: &str| ("fs.move", json!({"from": from, "to": ".envrc"}));
    let mut session = turns(&crib, &[to("draft"), to("long")], &[]);
    let question = session.exp_string("no: ").unwrap();
    assert!(
        question.contains("+export PATH=evil") && question.contains("[y] once"),
        "{question}"
    );
    session.send_line("n").unwrap();
    // It cannot be shown whole, so there is no yes.
    let question = session.exp_string("no: ").unwrap();
    assert!(
        question.contains("no preview") && !question.contains("[y]"),
        "{question}"
    );
    say(&mut session, "y", &[QUESTION]);
    let (rest, _) = end_with(session, "y");
    assert!(
        rest.contains("finished") && !crib.root().join(".envrc").exists(),
        "{rest}"
    );
}

#[test]
fn an_approval_for_the_session_ends_when_the_script_changes() {
    let crib = Crib::new();
    fs::write(crib.root().join("run.sh"), "echo first\n").unwrap();
    let run = || ("exec.run", json!({"program": "sh", "args": ["run.sh"]}));
    let write = (
        "fs.write",
        json!({"path": "run.sh", "content": "echo second\n"}),
    );
    let flags = ["--allow", "fs:write:**"];
    let mut session = turns(&crib, &[run(), run(), write, run(), run()], &flags);
    let first = session.exp_string("no: ").unwrap();
    assert!(
        first.contains("code: run.sh") && !first.contains("asked again"),
        "{first}"
    );
    let second = say(&mut session, "s", &["no: "]);
    assert!(
        second.contains("asked again") && second.contains("[s] for this session"),
        "{second}"
    );
    assert_eq!(
        fs::read_to_string(crib.root().join("run.sh")).unwrap(),
        "echo second\n"
    );
    session.send_line("s").unwrap();
    let (rest, _) = rest(session);
    assert!(
        rest.contains("finished") && !rest.contains(QUESTION),
        "{rest}"
    );
}
