//! The repositories that a program wrote are known to later sessions, whatever ends its session.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::cleared;
use crate::strangers_files::{Desk, ME, has_walls};

const FLAGS: [&str; 4] = ["--allow", "exec:write:sh **", "--grant", "fs:write:**"];

/// Makes a repository with a forged commit in a subfolder, and goes on.
fn forge() -> Value {
    let script = format!(
        "git init -q sub && cd sub && echo EVIL > E.md && git add E.md &&
        git -c user.name=Me -c user.email={ME} commit -qm x && touch ../done && sleep 60"
    );
    json!({"program": "sh", "args": ["-c", script]})
}

/// Starts a session that runs a program by this tool, and waits until the program has made the file `done`.
pub(crate) fn start(
    desk: &Desk,
    program: &Value,
    tool: &str,
    command: &str,
    flags: &[&str],
) -> Child {
    let call = json!({"calls": [{"name": tool, "arguments": program}]}).to_string();
    let script = desk.crib.script(&[&call, r#"{"text": "x"}"#]);
    let prompt: &[&str] = if command == "run" { &["x"] } else { &[] };
    let args = [&[command], prompt, &["--script", &script], &FLAGS, flags].concat();
    let mut session = desk.crib.command(&args);
    session
        .env("HOME", desk.crib.dir.path().join("home"))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut session = session.spawn().unwrap();
    if command == "chat" {
        writeln!(session.stdin.as_mut().unwrap(), "x").unwrap();
    }
    let started = Instant::now();
    while !desk.root().join("done").exists() {
        assert!(
            started.elapsed() < Duration::from_secs(60),
            "the program does not run"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    session
}

pub(crate) fn send(session: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(session.id()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

fn programs(desk: &Desk) -> PathBuf {
    desk.crib.dir.path().join("state/toolcrib/programs")
}

/// Returns true if the end of a program was left to later sessions.
fn is_lost(desk: &Desk) -> bool {
    let records = fs::read_dir(programs(desk)).unwrap().flatten();
    records.into_iter().any(|record| {
        let name = record.file_name().into_string().unwrap();
        name.starts_with("program-") || name.starts_with("lost-")
    })
}

/// Moves the folder with the repository away, as a person may do.
fn moved(desk: &Desk) -> PathBuf {
    let moved = desk.crib.dir.path().join("moved");
    fs::rename(desk.root().join("sub"), &moved).unwrap();
    moved
}

/// Returns true if a memory is confirmed that a session in this root saves after it has read the file.
pub(crate) fn reads_clean(desk: &Desk, root: &Path, file: &str) -> bool {
    let root = ["--root", root.to_str().unwrap()];
    let calls = [
        ("fs.read", json!({"path": file})),
        ("memory.save", json!({"text": "a fact"})),
    ];
    let flags = [&["--grant", "memory:write:**"], &root[..]].concat();
    let ended = desk.session(&calls, &flags);
    assert!(ended.stdout.contains("saved as memory 1"), "{ended:#?}");
    let saved = desk.run(&["memory", "list", "--json"]).expect(0).document();
    fs::remove_dir_all(desk.crib.dir.path().join("data")).unwrap();
    saved["confirmed"] == true
}

#[test]
fn whatever_ends_a_session_a_repository_that_its_program_made_is_a_strangers_also_after_a_move() {
    type Way = (
        &'static str,
        &'static str,
        &'static [&'static str],
        fn(&mut Child),
    );
    let ways: [Way; 8] = [
        ("exec.start", "run", &[], |_| {}),
        ("exec.start", "chat", &[], |session| {
            drop(session.stdin.take())
        }),
        ("exec.start", "chat", &[], |session| {
            writeln!(session.stdin.as_mut().unwrap(), "/quit").unwrap();
        }),
        // The chat waits for a line.
        ("exec.start", "chat", &[], |session| {
            send(session, Signal::TERM)
        }),
        ("exec.start", "chat", &[], |session| {
            send(session, Signal::INT)
        }),
        ("exec.run", "run", &[], |session| {
            send(session, Signal::TERM)
        }),
        ("exec.run", "run", &[], |session| send(session, Signal::HUP)),
        ("exec.run", "run", &["--deadline", "8s"], |_| {}),
    ];
    for (number, (tool, command, flags, end)) in ways.into_iter().enumerate() {
        let desk = Desk::new();
        if !has_walls(&desk) {
            return;
        }
        let mut session = start(&desk, &forge(), tool, command, flags);
        std::thread::sleep(Duration::from_millis(300));
        end(&mut session);
        session.wait().unwrap();
        assert!(!is_lost(&desk), "{number}");
        let moved = moved(&desk);
        assert!(!reads_clean(&desk, &moved, "E.md"), "{number}");
        assert!(reads_clean(&desk, &desk.root(), "notes.md"), "{number}");
    }
}

#[test]
fn a_repository_that_a_program_of_a_killed_session_made_is_a_strangers_also_after_a_move() {
    for has_later_session in [false, true] {
        let desk = Desk::new();
        if !has_walls(&desk) {
            return;
        }
        let mut session = start(&desk, &forge(), "exec.run", "run", &[]);
        send(&session, Signal::KILL);
        session.wait().unwrap();
        let moved = moved(&desk);
        assert!(is_lost(&desk));
        if has_later_session {
            assert!(reads_clean(&desk, &desk.root(), "notes.md"));
        }
        assert!(!reads_clean(&desk, &moved, "E.md"));
        assert!(reads_clean(&desk, &desk.root(), "notes.md"));
    }
}

#[test]
fn a_repository_whose_mark_could_not_be_written_is_a_strangers_also_after_a_move() {
    let desk = Desk::new();
    if !has_walls(&desk) {
        return;
    }
    let mut session = start(&desk, &forge(), "exec.start", "chat", &[]);
    // As on a full disk, no more marks can be written.
    let marks = programs(&desk).with_file_name("authorship");
    let away = marks.with_file_name("away");
    fs::rename(&marks, &away).unwrap();
    fs::write(&marks, "").unwrap();
    drop(session.stdin.take());
    session.wait().unwrap();
    fs::remove_file(&marks).unwrap();
    fs::rename(&away, &marks).unwrap();
    assert!(is_lost(&desk));
    let moved = moved(&desk);
    assert!(!reads_clean(&desk, &moved, "E.md"));
}

#[test]
fn a_repository_is_not_trusted_while_a_program_can_write_it() {
    let desk = Desk::new();
    if !has_walls(&desk) {
        return;
    }
    let mut session = start(&desk, &forge(), "exec.start", "chat", &[]);
    let sub = desk.root().join("sub");
    let trust = |flags: &[&str]| {
        let root = ["trust", "--root", sub.to_str().unwrap()];
        desk.run(&[&root, flags].concat())
    };
    let refused = trust(&[]).expect(5);
    let process = format!("process {}", session.id());
    assert!(refused.stderr.contains(&process), "{refused:#?}");
    assert!(!refused.stdout.contains("digest"), "{refused:#?}");
    drop(session.stdin.take());
    session.wait().unwrap();
    let shown = trust(&[]).expect(5).stdout;
    let mut lines = shown.lines();
    let digest = lines.find_map(|line| line.trim().strip_prefix("digest: "));
    trust(&["--digest", digest.unwrap()]).expect(0);
    assert!(reads_clean(&desk, &sub, "E.md"));
}

#[test]
fn a_program_that_was_started_to_survive_its_terminal_does() {
    let desk = Desk::new();
    let mut chat = Command::new("sh");
    let line = r#"trap "" HUP; exec "$0" chat"#;
    cleared(&mut chat).args(["-c", line, env!("CARGO_BIN_EXE_toolcrib")]);
    chat.current_dir(desk.root()).stdin(Stdio::piped());
    let mut chat = chat.spawn().unwrap();
    std::thread::sleep(Duration::from_secs(1));
    send(&chat, Signal::HUP);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(chat.try_wait().unwrap(), None);
    drop(chat.stdin.take());
    assert!(chat.wait().unwrap().success());
}
