//! Runs on a pseudo-terminal, which is standard input, output and error at once.

use std::process::Command;

use rexpect::process::WaitStatus;
use rexpect::session::{PtySession, spawn_command};

use crate::Crib;

pub(crate) const TIMEOUT_MS: u64 = 20_000;
pub(crate) const QUESTION: &str = "Allow?";

/// Starts the program on a terminal, with the provider without a model unless a flag names another.
pub(crate) fn on_terminal(crib: &Crib, arguments: &[&str]) -> PtySession {
    let mut command = crib.command(arguments);
    command.env("TOOLCRIB_PROVIDER", "direct");
    spawn_command(command, Some(TIMEOUT_MS)).unwrap()
}

/// Starts the program on a terminal with these settings of `stty`.
pub(crate) fn with_stty(crib: &Crib, settings: &str, arguments: &str) -> PtySession {
    let mut command = Command::new("sh");
    let program = env!("CARGO_BIN_EXE_toolcrib");
    command
        .args([
            "-c",
            &format!("stty {settings}; exec {program} {arguments}"),
        ])
        .current_dir(crib.root());
    crate::cleared(&mut command);
    command.env("TOOLCRIB_PROVIDER", "direct");
    command.env("XDG_STATE_HOME", crib.dir.path().join("state"));
    command.env("XDG_CONFIG_HOME", crib.dir.path().join("config"));
    spawn_command(command, Some(TIMEOUT_MS)).unwrap()
}

/// Starts the program and waits for its first question. Returns the text before the answers.
pub(crate) fn asked(crib: &Crib, arguments: &[&str]) -> (PtySession, String) {
    let mut session = on_terminal(crib, arguments);
    let question = session.exp_string(QUESTION).unwrap();
    (session, question)
}

/// Types the last answer. Returns the remaining output and the exit code.
pub(crate) fn end_with(mut session: PtySession, answer: &str) -> (String, i32) {
    session.send_line(answer).unwrap();
    rest(session)
}

/// Types a line and waits for each of the parts. Returns the text before the last one.
pub(crate) fn say(session: &mut PtySession, line: &str, parts: &[&str]) -> String {
    session.send_line(line).unwrap();
    parts
        .iter()
        .map(|part| session.exp_string(part).unwrap())
        .last()
        .unwrap_or_default()
}

/// Returns the remaining output and the exit code.
pub(crate) fn rest(mut session: PtySession) -> (String, i32) {
    let rest = session.exp_eof().unwrap();
    match session.process().wait().unwrap() {
        WaitStatus::Exited(_, code) => (rest, code),
        status => panic!("{status:?}: {rest}"),
    }
}

/// Writes a script that makes a call in each of two turns. Returns its path.
pub(crate) fn twice(crib: &Crib, tool: &str, arguments: &str) -> String {
    let turn = &format!(r#"{{"calls": [{{"name": "{tool}", "arguments": {arguments}}}]}}"#);
    crib.script(&[turn, turn, r#"{"text": "finished"}"#])
}

/// A call that needs approval.
pub(crate) const READ: [&str; 4] = ["call", "fs.read", "path=README.md", "--no-default-grants"];

#[test]
fn a_yes_lets_the_call_run() {
    let crib = Crib::new();
    let (session, question) = asked(&crib, &READ);
    for part in ["fs.read", "fs:read:README.md", r#"{"path":"README.md"}"#] {
        assert!(question.contains(part), "{part} is not in {question}");
    }
    let (rest, code) = end_with(session, "y");
    assert!(rest.contains("# Hello"), "{rest}");
    assert_eq!(code, 0);
}

#[test]
fn a_no_and_silence_deny_the_call() {
    for answer in ["n", "NO", ""] {
        let crib = Crib::new();
        let (session, _) = asked(&crib, &READ);
        let (rest, code) = end_with(session, answer);
        assert!(
            !rest.contains("# Hello") && rest.contains("denied it"),
            "{rest}"
        );
        assert!(!rest.contains("hint: "), "{rest}");
        assert!(
            !rest.contains("ask the user"),
            "no advice for a model: {rest}"
        );
        assert_eq!(code, 5);
    }
}

#[test]
fn the_end_of_the_input_denies_the_call() {
    let crib = Crib::new();
    let (mut session, _) = asked(&crib, &READ);
    session.send_control('d').unwrap();
    let (rest, code) = rest(session);
    assert!(rest.contains("without an answer"), "{rest}");
    assert_eq!(code, 5);
}

#[test]
fn an_unclear_answer_is_asked_about_again() {
    let crib = Crib::new();
    let (mut session, _) = asked(&crib, &READ);
    say(&mut session, "perhaps", &[QUESTION]);
    assert_eq!(end_with(session, "yes").1, 0);
}

#[test]
fn a_second_unclear_answer_denies() {
    let crib = Crib::new();
    let (mut session, _) = asked(&crib, &READ);
    say(&mut session, "perhaps", &[QUESTION]);
    let (rest, code) = end_with(session, "perhaps");
    assert!(
        rest.contains("no clear answer") && !rest.contains("# Hello"),
        "{rest}"
    );
    assert_eq!(code, 5);
}

#[test]
fn calls_that_run_side_by_side_are_asked_about_one_by_one() {
    let crib = Crib::new();
    let prompt = "fs.read path=README.md ; fs.read path=sub/inner.txt";
    let (mut session, first) = asked(&crib, &["run", prompt, "--no-default-grants"]);
    let second = say(&mut session, "y", &[QUESTION]);
    session.send_line("n").unwrap();
    assert_eq!((first + &second).matches("asks for").count(), 2);
    let (rest, code) = rest(session);
    assert_eq!(rest.matches(QUESTION).count(), 0, "{rest}");
    assert_eq!(code, 5);
}

#[test]
fn a_call_allowed_for_the_session_is_asked_about_once() {
    let crib = Crib::new();
    let script = twice(&crib, "fs.read", r#"{"path": "README.md"}"#);
    let arguments = ["run", "x", "--script", &script, "--no-default-grants"];
    for (answer, questions) in [("s", 1), ("y", 2)] {
        let mut session = on_terminal(&crib, &arguments);
        for _ in 0..questions {
            session.exp_string(QUESTION).unwrap();
            session.send_line(answer).unwrap();
        }
        let (rest, code) = rest(session);
        assert!(
            rest.contains("finished") && !rest.contains(QUESTION),
            "{rest}"
        );
        assert_eq!(code, 0);
    }
}

/// Runs these calls in sequence, with everything granted.
fn turns(crib: &Crib, calls: &[(&str, serde_json::Value)]) -> PtySession {
    let turn = |(name, arguments): &(&str, serde_json::Value)| serde_json::json!({"calls": [{"name": name, "arguments": arguments}]});
    let mut turns: Vec<_> = calls.iter().map(turn).collect();
    turns.push(serde_json::json!({"text": "finished"}));
    let script = crib.write("turns.json", &serde_json::Value::from(turns).to_string());
    let arguments = [
        "run",
        "x",
        "--script",
        &script,
        "--grant",
        "fs:read:**",
        "--grant",
        "fs:destroy:**",
    ];
    on_terminal(crib, &arguments)
}

#[test]
fn a_destroy_is_asked_about_each_time_even_if_granted() {
    let crib = Crib::new();
    let remove = |path: &str| ("fs.remove", serde_json::json!({"path": path}));
    let mut session = turns(&crib, &[remove("README.md"), remove("sub/inner.txt")]);
    let question = session.exp_string("no: ").unwrap();
    assert!(
        question.contains("fs:destroy:README.md") && !question.contains("not granted"),
        "{question}"
    );
    assert!(!question.contains("[s]"), "{question}");
    // Not offered, so not accepted.
    say(&mut session, "s", &[QUESTION]);
    let question = say(&mut session, "y", &[QUESTION]);
    assert!(question.contains("fs:destroy:sub/inner.txt"), "{question}");
    let (rest, _) = end_with(session, "n");
    assert!(rest.contains("finished"), "{rest}");
    assert!(!crib.root().join("README.md").exists() && crib.root().join("sub/inner.txt").exists());
}

#[test]
fn an_answer_for_the_session_holds_for_the_targets_and_not_for_the_arguments() {
    let crib = Crib::new();
    let write = |path: &str, text: &str| {
        (
            "fs.write",
            serde_json::json!({"path": path, "content": text}),
        )
    };
    let mut session = turns(
        &crib,
        &[write("a", "one"), write("a", "two"), write("b", "three")],
    );
    let question = session.exp_string(QUESTION).unwrap();
    assert!(
        question.contains("fs:write:a") && question.contains("(not granted)"),
        "{question}"
    );
    let question = say(&mut session, "s", &[QUESTION]);
    assert!(question.contains("fs:write:b"), "{question}");
    assert!(end_with(session, "n").0.contains("finished"));
    assert_eq!(
        std::fs::read_to_string(crib.root().join("a")).unwrap(),
        "two"
    );
    assert!(!crib.root().join("b").exists());
}

#[test]
fn a_call_that_touches_nothing_can_be_asked_about_too() {
    let crib = Crib::new();
    let rules = crib.write(
        "rules.toml",
        "[[policy]]\nverdict = \"ask\"\ntool = \"tools.*\"\n",
    );
    let turn = |handle: &str| {
        format!(
            r#"{{"calls": [{{"name": "tools.output", "arguments": {{"handle": "{handle}"}}}}]}}"#
        )
    };
    let script = crib.write(
        "turns.json",
        &format!(r#"[{}, {}, {{"text": "finished"}}]"#, turn("a"), turn("b")),
    );
    let files = ["--script", &script, "--policy", &rules];
    for (answer, questions) in [("s", 1), ("y", 2)] {
        let mut session = on_terminal(&crib, &[&["run", "x"], &files[..]].concat());
        for _ in 0..questions {
            let question = session.exp_string(QUESTION).unwrap();
            assert!(question.contains("asks to run:"), "{question}");
            session.send_line(answer).unwrap();
        }
        let (rest, _) = rest(session);
        assert!(
            rest.contains("finished") && !rest.contains(QUESTION),
            "{rest}"
        );
    }
}
