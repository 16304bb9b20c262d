//! Runs on a pseudo-terminal, which is standard input, output and error at once.

use std::os::unix::fs::symlink;
use std::process::Command;

use rexpect::process::WaitStatus;
use rexpect::session::{PtySession, spawn_command};
use serde_json::json;

use crate::Crib;

pub(crate) const TIMEOUT_MS: u64 = 20_000;
pub(crate) const QUESTION: &str = "Allow?";

pub(crate) fn on_terminal(crib: &Crib, arguments: &[&str]) -> PtySession {
    spawn_command(crib.command(arguments), Some(TIMEOUT_MS)).unwrap()
}

/// Starts the program on a terminal with these settings of `stty`.
pub(crate) fn with_stty(crib: &Crib, settings: &str, arguments: &str) -> PtySession {
    let mut command = Command::new("sh");
    let program = env!("CARGO_BIN_EXE_toolcrib");
    command.args(["-c", &format!("stty {settings}; exec {program} {arguments}")]).current_dir(crib.root());
    crate::cleared(&mut command);
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
fn end_with(mut session: PtySession, answer: &str) -> (String, i32) {
    session.send_line(answer).unwrap();
    rest(session)
}

/// Types a line and waits for each of the parts. Returns the text before the last one.
pub(crate) fn say(session: &mut PtySession, line: &str, parts: &[&str]) -> String {
    session.send_line(line).unwrap();
    parts.iter().map(|part| session.exp_string(part).unwrap()).last().unwrap_or_default()
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
const READ: [&str; 4] = ["call", "fs.read", "path=README.md", "--no-default-grants"];

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
        assert!(!rest.contains("# Hello") && rest.contains("denied it"), "{rest}");
        assert!(!rest.contains("hint: "), "{rest}");
        assert!(!rest.contains("ask the user"), "no advice for a model: {rest}");
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
    assert!(rest.contains("no clear answer") && !rest.contains("# Hello"), "{rest}");
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
        assert!(rest.contains("finished") && !rest.contains(QUESTION), "{rest}");
        assert_eq!(code, 0);
    }
}

#[test]
fn the_question_hides_nothing() {
    let crib = Crib::new();
    let path = "a\u{202e}b\u{200b}c";
    let (session, question) = asked(&crib, &["call", "fs.read", &format!("path={path}"), "--no-default-grants"]);
    assert!(question.contains(r"fs:read:a\u{202e}b\u{200b}c"), "{question}");
    assert!(!question.contains(['\u{202e}', '\u{200b}']), "{question}");
    assert_eq!(end_with(session, "n").1, 5);
}

#[test]
fn long_arguments_are_shown_whole_on_demand() {
    let crib = Crib::new();
    let text = format!("{}\u{202e}end", "x".repeat(5000));
    let (mut session, cut) = asked(&crib, &["call", "fs.write", "path=new", &format!("content={text}")]);
    assert!(cut.contains("more characters, [v] to view them") && !cut.contains("}end"), "{cut}");
    let whole = say(&mut session, "v", &[QUESTION]);
    assert!(whole.replace("\r\n  | ", "").contains(&format!(r"{}\u{{202e}}end", "x".repeat(5000))), "{whole}");
    assert_eq!(end_with(session, "y").1, 0);
    assert_eq!(std::fs::read_to_string(crib.root().join("new")).unwrap(), text);
}

#[test]
fn viewing_is_offered_exactly_while_something_is_cut() {
    let crib = Crib::new();
    let lines = "line\n".repeat(50);
    for (content, is_cut) in [("short", false), (&"x".repeat(300), true), (&lines, true)] {
        let (mut session, _) = asked(&crib, &["call", "fs.write", "path=new", &format!("content={content}")]);
        let offers_view = |session: &mut PtySession| session.exp_string("no: ").unwrap().contains("[v] view all");
        assert_eq!(offers_view(&mut session), is_cut);
        // An unclear answer repeats the choices alone.
        session.send_line("perhaps").unwrap();
        assert_eq!(offers_view(&mut session), is_cut);
        session.send_line("v").unwrap();
        assert!(!offers_view(&mut session));
        assert_eq!(end_with(session, "n").1, 5);
    }
}

#[test]
fn the_question_shows_what_will_happen() {
    let crib = Crib::new();
    let edit = ["call", "fs.edit", "path=README.md", "old=Hello", "new=\u{9b}31mBye"];
    let (session, question) = asked(&crib, &edit);
    assert!(question.contains("-# Hello") && question.contains(r"+# \u{9b}31mBye"), "{question:?}");
    assert!(question.contains("\u{1b}[32m+# ") && !question.contains('\u{9b}'), "{question:?}");
    assert_eq!(end_with(session, "y").1, 0);
    assert_eq!(std::fs::read_to_string(crib.root().join("README.md")).unwrap(), "# \u{9b}31mBye\n");

    let (session, question) = asked(&crib, &["call", "fs.remove", "path=sub", "recursive=true"]);
    let question = question.replace("\r\n  | ", "");
    assert!(question.contains("1 entry, of them 1 file with 6 bytes"), "{question:?}");
    assert_eq!(end_with(session, "n").1, 5);

    let (session, question) = asked(&crib, &[&edit[..], &["--no-default-grants"]].concat());
    assert!(question.contains("no preview:") && question.contains("fs:read:README.md"), "{question:?}");
    assert_eq!(end_with(session, "n").1, 5);
}

#[test]
fn no_line_of_a_call_looks_like_one_of_the_question() {
    let crib = Crib::new();
    let padding = " ".repeat(70);
    let content = format!("{QUESTION} fs.read\n{padding}\tfs.read asks for:\n{}", "\n".repeat(12));
    let call = [&format!("path=a{padding}fs.read"), &format!("content={content}")];
    let mut session = on_terminal(&crib, &["call", "fs.write", call[0], call[1]]);
    session.exp_string("no: ").unwrap();
    let question = say(&mut session, "v", &["no: "]);
    let plain = anstream::adapter::strip_str(&question).to_string();
    let lines: Vec<_> = plain.lines().skip_while(|line| !line.ends_with("asks for:")).collect();
    // Each byte is read as a character, and the later ones of a sequence take no column.
    let columns = |line: &str| line.chars().filter(|c| !matches!(c, '\u{80}'..'\u{c0}')).count();
    assert!(lines.iter().all(|line| columns(line) < 80), "{lines:#?}");
    let own: Vec<_> = lines.iter().filter(|line| !line.starts_with("  | ")).collect();
    let [first, with, preview, call, answers] = own[..] else { panic!("{lines:#?}") };
    assert_eq!([*first, *with, *preview], ["fs.write asks for:", "with:", "preview:"]);
    assert!(call.starts_with("Allow? fs.write fs:write:a ") && answers.starts_with("  [y]"), "{lines:#?}");
    assert_eq!(end_with(session, "n").1, 5);
}

#[test]
fn a_preview_on_demand_shows_the_files_of_now() {
    let crib = Crib::new();
    let (mut session, before) = asked(&crib, &["call", "fs.write", "path=README.md", "content=new\n"]);
    assert!(before.contains("-# Hello"), "{before}");
    std::fs::write(crib.root().join("README.md"), "changed\n").unwrap();
    let now = say(&mut session, "v", &[QUESTION]);
    assert!(now.contains("-changed") && !now.contains("-# Hello"), "{now}");
    assert_eq!(end_with(session, "n").1, 5);
}

#[test]
fn a_long_change_is_shown_whole_on_demand() {
    let crib = Crib::new();
    let content: String = (0..50).map(|number| format!("line {number}.\n")).collect();
    let (mut session, cut) = asked(&crib, &["call", "fs.write", "path=new", &format!("content={content}")]);
    assert!(cut.contains("+line 0.") && cut.contains("more lines, [v] to view them"), "{cut:?}");
    assert!(!cut.contains("+line 40."), "{cut:?}");
    let whole = say(&mut session, "v", &[QUESTION]);
    assert!((0..50).all(|number| whole.contains(&format!("+line {number}."))), "{whole:?}");
    assert_eq!(end_with(session, "n").1, 5);
    assert!(!crib.root().join("new").exists());
}

/// Runs these calls in sequence, with everything granted.
fn turns(crib: &Crib, calls: &[(&str, serde_json::Value)]) -> PtySession {
    let turn = |(name, arguments): &(&str, serde_json::Value)| serde_json::json!({"calls": [{"name": name, "arguments": arguments}]});
    let mut turns: Vec<_> = calls.iter().map(turn).collect();
    turns.push(serde_json::json!({"text": "finished"}));
    let script = crib.write("turns.json", &serde_json::Value::from(turns).to_string());
    let arguments = ["run", "x", "--script", &script, "--grant", "fs:read:**", "--grant", "fs:destroy:**"];
    on_terminal(crib, &arguments)
}

#[test]
fn a_destroy_is_asked_about_each_time_even_if_granted() {
    let crib = Crib::new();
    let remove = |path: &str| ("fs.remove", serde_json::json!({"path": path}));
    let mut session = turns(&crib, &[remove("README.md"), remove("sub/inner.txt")]);
    let question = session.exp_string("no: ").unwrap();
    assert!(question.contains("fs:destroy:README.md") && !question.contains("not granted"), "{question}");
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
    let write = |path: &str, text: &str| ("fs.write", serde_json::json!({"path": path, "content": text}));
    let mut session = turns(&crib, &[write("a", "one"), write("a", "two"), write("b", "three")]);
    let question = session.exp_string(QUESTION).unwrap();
    assert!(question.contains("fs:write:a") && question.contains("(not granted)"), "{question}");
    let question = say(&mut session, "s", &[QUESTION]);
    assert!(question.contains("fs:write:b"), "{question}");
    assert!(end_with(session, "n").0.contains("finished"));
    assert_eq!(std::fs::read_to_string(crib.root().join("a")).unwrap(), "two");
    assert!(!crib.root().join("b").exists());
}

#[test]
fn a_call_that_touches_nothing_can_be_asked_about_too() {
    let crib = Crib::new();
    let rules = crib.write("rules.toml", "[[policy]]\nverdict = \"ask\"\ntool = \"tools.*\"\n");
    let turn =
        |handle: &str| format!(r#"{{"calls": [{{"name": "tools.output", "arguments": {{"handle": "{handle}"}}}}]}}"#);
    let script = crib.write("turns.json", &format!(r#"[{}, {}, {{"text": "finished"}}]"#, turn("a"), turn("b")));
    let files = ["--script", &script, "--policy", &rules];
    for (answer, questions) in [("s", 1), ("y", 2)] {
        let mut session = on_terminal(&crib, &[&["run", "x"], &files[..]].concat());
        for _ in 0..questions {
            let question = session.exp_string(QUESTION).unwrap();
            assert!(question.contains("asks to run:"), "{question}");
            session.send_line(answer).unwrap();
        }
        let (rest, _) = rest(session);
        assert!(rest.contains("finished") && !rest.contains(QUESTION), "{rest}");
    }
}

#[test]
fn an_unanswered_question_is_a_refusal() {
    let crib = Crib::new();
    let (shown, code) = rest(on_terminal(&crib, &[&READ[..], &["--approval-timeout", "300ms"]].concat()));
    assert!(shown.contains("no: \r\n") && shown.contains("the approval request timed out after 300ms"), "{shown:?}");
    assert_eq!(code, 5);
}

#[test]
fn an_interrupt_at_a_question_cancels() {
    let crib = Crib::new();
    for arguments in [&READ[..], &["run", "fs.read path=README.md", "--no-default-grants"]] {
        let (mut session, _) = asked(&crib, arguments);
        session.send_control('c').unwrap();
        let (rest, code) = rest(session);
        assert!(rest.contains("cancelled") && !rest.contains("# Hello"), "{rest}");
        assert_eq!(code, 130);
    }
}

#[test]
fn an_interrupted_run_without_a_model_says_why_a_call_failed() {
    let crib = Crib::new();
    let calls = "fs.read path=missing.txt ; fs.write path=a.txt content=x ; fs.write path=b.txt content=x";
    let (mut session, _) = asked(&crib, &["run", calls, "--provider", "direct"]);
    // The other call has ended by the second question.
    say(&mut session, "y", &["failed", QUESTION]);
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
    let (mut session, _) = asked(&crib, &["run", "x", "--script", &script, "--grant", "fs:destroy:**"]);
    paste(&mut session, &["log", "y", "log", "y", "y"]);
    session.exp_string(QUESTION).unwrap();
    // The first line of a text can answer, but the next ones do not answer the next question.
    paste(&mut session, &["n", "y", "y"]);
    session.exp_string(QUESTION).unwrap();
    let (rest, _) = end_with(session, "n");
    assert!(rest.contains("finished"), "{rest}");
    assert!(crib.root().join("README.md").exists() && crib.root().join("sub/inner.txt").exists());
}

#[test]
fn escape_sequences_of_a_file_do_not_reach_the_terminal() {
    let crib = Crib::new();
    std::fs::write(crib.root().join("evil"), "a\u{1b}]0;title\u{7}b\u{9b}2Jc\r\nd\n").unwrap();
    for arguments in [&["call", "fs.read", "path=evil"][..], &["run", "fs.read path=evil"]] {
        let (shown, code) = rest(on_terminal(&crib, arguments));
        assert!(shown.contains(r"a\u{1b}]0;title\u{7}b\u{9b}2Jc"), "{shown:?}");
        assert!(!shown.contains(['\u{7}', '\u{9b}']) && !shown.contains("\u{1b}]"), "{shown:?}");
        assert_eq!(code, 0);
    }
}

#[test]
fn names_in_a_listing_do_not_reach_the_terminal_as_controls() {
    let crib = Crib::new();
    symlink("README.md", crib.root().join("\u{1b}[2Jx")).unwrap();
    for arguments in [&["call", "fs.list"][..], &["call", "fs.list", "--json"], &["call", "fs.read", "path=\u{9b}2J"]] {
        let (shown, _) = rest(on_terminal(&crib, arguments));
        assert!(!shown.contains("\u{1b}[2J") && !shown.contains('\u{9b}'), "{shown:?}");
    }
}

#[test]
fn colours_are_for_terminals_that_want_them() {
    let crib = Crib::new();
    let (shown, _) = rest(on_terminal(&crib, &["list"]));
    assert!(shown.contains("\u{1b}[1m"), "{shown:?}");

    let mut command = crib.command(&["list"]);
    command.env("NO_COLOR", "1");
    let (shown, _) = rest(spawn_command(command, Some(TIMEOUT_MS)).unwrap());
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
}
