//! Chats on a pseudo-terminal.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use rexpect::session::{PtySession, spawn_command};

use crate::Crib;
use crate::terminal::{QUESTION, TIMEOUT_MS, on_terminal, rest, say};

/// Written by the line editor once per line, after it has set the terminal to raw mode: bracketed paste is on.
pub(crate) const READS: &str = "\u{1b}[?2004h";
const PROMPT: &str = "toolcrib> ";
const CANCELLED: &str = "cancelled; the conversation continues";
const UP: &str = "\u{1b}[A";

/// Starts a chat and waits for the line editor.
pub(crate) fn chat(crib: &Crib, arguments: &[&str]) -> PtySession {
    let mut session = on_terminal(crib, &[&["chat"], arguments].concat());
    session.exp_string(READS).unwrap();
    session
}

pub(crate) fn type_in(session: &mut PtySession, text: &str) {
    session.send(text).unwrap();
    session.flush().unwrap();
}

/// Waits for the editor and ends the chat with Ctrl-D.
pub(crate) fn leave(mut session: PtySession) -> String {
    session.exp_string(READS).unwrap();
    session.send_control('d').unwrap();
    let (rest, code) = rest(session);
    assert_eq!(code, 0, "{rest}");
    rest
}

#[test]
fn prompts_are_answered_until_the_end_of_the_input() {
    let crib = Crib::new();
    let script = crib.write(
        "turns.json",
        r#"[{"text": "Good morning."}, {"text": "Good night."}]"#,
    );
    let mut session = chat(&crib, &["--script", &script]);
    say(&mut session, "hello", &["Good morning.", "summary", READS]);
    say(&mut session, "bye", &["Good night."]);
    leave(session);
}

#[test]
fn a_prompt_may_have_several_lines() {
    let crib = Crib::new();
    let (alt_enter, pasted) = ("\u{1b}\r", ("\u{1b}[200~", "\u{1b}[201~"));
    let backslash = "fs.read path=README.md ;\\\rtime.now\r".to_owned();
    let newline = format!("fs.read path=README.md ;{alt_enter}time.now\r");
    let paste = format!(
        "{}fs.read path=README.md ;\r\ntime.now{}\r",
        pasted.0, pasted.1
    );
    let mut session = chat(&crib, &[]);
    for text in [backslash, newline, paste] {
        type_in(&mut session, &text);
        session.exp_string("# Hello").unwrap();
        let shown = session.exp_string(READS).unwrap();
        assert!(shown.contains("2 calls"), "{text:?}: {shown}");
    }
    session.send_control('d').unwrap();
    assert_eq!(rest(session).1, 0);
}

#[test]
fn an_interrupt_at_the_prompt_takes_the_line_back() {
    let crib = Crib::new();
    let mut session = chat(&crib, &[]);
    for typed in ["fs.read path=README.md", ""] {
        type_in(&mut session, typed);
        session.send_control('c').unwrap();
        session.exp_string("/quit ends the chat").unwrap();
        session.exp_string(READS).unwrap();
    }
    let shown = say(&mut session, "time.now zone=UTC", &["1 call"]);
    assert!(
        shown.contains("clock:read:now") && !shown.contains("# Hello"),
        "{shown}"
    );
    leave(session);
}

#[test]
fn an_interrupt_of_a_run_leaves_the_session() {
    let crib = Crib::new();
    let mut session = chat(
        &crib,
        &["--max-steps", "100000", "--script", &crib.endless()],
    );
    for _ in 0..2 {
        say(&mut session, "go on", &["fs.read"]);
        session.send_control('c').unwrap();
        session.exp_string(CANCELLED).unwrap();
        session.exp_string(READS).unwrap();
    }
    say(&mut session, "/clear", &["messages removed: "]);
    leave(session);
}

#[test]
fn a_question_is_asked_and_answered_between_prompts() {
    let crib = Crib::new();
    let mut session = chat(&crib, &["--no-default-grants"]);
    for (answer, part) in [("y", "# Hello"), ("n", "denied it")] {
        say(&mut session, "fs.read path=README.md", &[QUESTION]);
        let after = say(&mut session, answer, &[part, READS]);
        assert!(
            !after.contains("denied it"),
            "the reason is shown once: {after}"
        );
    }
    session.send_line("/quit").unwrap();
    assert_eq!(rest(session).1, 0);
}

/// The reader of a cancelled question must leave the keyboard to the editor and to the next question.
#[test]
fn an_interrupt_at_a_question_leaves_the_session() {
    let crib = Crib::new();
    let mut session = chat(&crib, &["--no-default-grants"]);
    for _ in 0..3 {
        say(&mut session, "fs.read path=README.md", &[QUESTION]);
        session.send_control('c').unwrap();
        session.exp_string(CANCELLED).unwrap();
        session.exp_string(READS).unwrap();
    }
    say(&mut session, "fs.read path=README.md", &[QUESTION]);
    say(&mut session, "y", &["# Hello"]);
    leave(session);
}

#[test]
fn the_next_chat_has_the_history() {
    let crib = Crib::new();
    let mut session = chat(&crib, &[]);
    say(&mut session, "fs.read path=README.md", &["# Hello", READS]);
    say(&mut session, " time.now", &["summary"]);
    leave(session);

    let history = crib.dir.path().join("state/toolcrib/history");
    assert_eq!(
        std::fs::metadata(&history).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(
        std::fs::read_to_string(&history).unwrap(),
        "#V2\nfs.read path=README.md\n"
    );

    let mut session = chat(&crib, &[]);
    type_in(&mut session, &format!("{UP}\r"));
    session.exp_string("# Hello").unwrap();
    leave(session);
}

#[test]
fn no_history_is_kept_where_none_is_wanted() {
    let crib = Crib::new();
    let mut session = chat(&crib, &["--no-history"]);
    say(&mut session, "time.now", &["summary"]);
    leave(session);
    assert!(!crib.dir.path().join("state/toolcrib/history").exists());
}

#[test]
fn a_history_that_cannot_be_kept_is_reported_and_the_chat_continues() {
    let crib = Crib::new();
    std::fs::create_dir_all(crib.dir.path().join("state/toolcrib/history")).unwrap();
    let mut session = on_terminal(&crib, &["chat"]);
    session.exp_string("cannot keep the history in").unwrap();
    session.exp_string(READS).unwrap();
    say(&mut session, "time.now", &["summary"]);
    leave(session);
}

#[test]
fn the_text_of_a_model_does_not_control_the_terminal() {
    let crib = Crib::new();
    let script = crib.write(
        "turns.json",
        r#"[{"text": "a\u001b]0;title\u0007b\u009b2Jc"}]"#,
    );
    let mut session = chat(&crib, &["--script", &script]);
    let shown = say(&mut session, "hello", &["summary"]);
    assert!(
        shown.contains(r"a\u{1b}]0;title\u{7}b\u{9b}2Jc"),
        "{shown:?}"
    );
    leave(session);
}

#[test]
fn a_terminal_that_knows_nothing_will_do() {
    let crib = Crib::new();
    let mut command = crib.command(&["chat", "--provider", "direct"]);
    command.env("TERM", "dumb");
    let mut session = spawn_command(command, Some(TIMEOUT_MS)).unwrap();
    session.exp_string(PROMPT).unwrap();
    let shown = say(&mut session, "fs.read path=README.md", &["# Hello", PROMPT]);
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    session.send_control('d').unwrap();
    assert_eq!(rest(session).1, 0);
}

#[test]
fn the_terminal_is_left_as_it_was() {
    let crib = Crib::new();
    let mut command = Command::new("sh");
    let program = env!("CARGO_BIN_EXE_toolcrib");
    command
        .args([
            "-c",
            &format!("{program} chat --provider direct --no-history; stty -a"),
        ])
        .current_dir(crib.root());
    crate::cleared(&mut command);
    let mut session = spawn_command(command, Some(TIMEOUT_MS)).unwrap();
    session.exp_string(READS).unwrap();
    say(&mut session, "time.now", &["summary"]);
    let after = leave(session);
    for mode in ["isig", "icanon", "icrnl"] {
        assert!(
            after.split_whitespace().any(|word| word == mode),
            "{mode} is not in {after}"
        );
    }
}
