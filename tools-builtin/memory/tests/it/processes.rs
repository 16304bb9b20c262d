//! Several processes on one file, and processes that are killed.
//!
//! A process is this test binary, started again with the path of the file in an environment variable.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use tools_memory::{Filter, Memory};
use tools_store::rusqlite::Connection;

use crate::desk::{Desk, host};

const FILE: &str = "TOOLCRIB_MEMORY_FILE";
const WRITER: &str = "TOOLCRIB_MEMORY_WRITER";

/// Saves, searches and forgets until it is killed or its standard input ends. Prints each text after it was saved, and each number
/// after it was forgotten.
#[test]
fn writer() {
    let (Ok(file), Ok(writer)) = (std::env::var(FILE), std::env::var(WRITER)) else {
        return;
    };
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_line(&mut String::new());
        // The saving thread ends between two calls or within one; both are an end of the process.
        std::process::exit(0);
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let host = host(Memory::new(file));
        for number in 0_u64.. {
            let text = format!("fact {writer} {number}");
            let saved = host
                .call("memory.save", json!({"text": text, "scope": "user"}))
                .await;
            let saved = match saved {
                Ok(saved) => saved.to_text(),
                Err(error) => format!("failed: {error}"),
            };
            print(&format!("{saved}: {text}"));
            let id: i64 = saved
                .rsplit_once(' ')
                .and_then(|(_, id)| id.parse().ok())
                .unwrap_or_default();
            // Most are forgotten, so that the scope does not fill up.
            let is_kept = if number < 100 {
                number % 3 != 0
            } else {
                number % 100 == 0
            };
            if !is_kept
                && host
                    .call("memory.forget", json!({"id": id, "scope": "user"}))
                    .await
                    .is_ok()
            {
                print(&format!("forgot: {text}"));
            }
            let found = host
                .call("memory.search", json!({"query": writer, "scope": "user"}))
                .await;
            if let Err(error) = found {
                print(&format!("failed: {error}"));
            }
        }
    });
}

fn print(line: &str) {
    // Past the capture of the test harness.
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n> {line}")
        .and_then(|()| out.flush())
        .unwrap();
}

fn start(desk: &Desk, writer: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "processes::writer", "--nocapture"])
        .env(FILE, desk.path())
        .env(WRITER, writer);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Returns the texts that the process saved, and those of them that it may have forgotten.
fn acknowledged(
    mut child: Child,
    kill_after: Option<usize>,
) -> (BTreeSet<String>, BTreeSet<String>, String) {
    let (mut saved, mut forgotten, mut last) = (BTreeSet::new(), BTreeSet::new(), String::new());
    let mut count = 0;
    for line in BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok)
    {
        let Some((event, text)) = line
            .strip_prefix("> ")
            .and_then(|line| line.split_once(": "))
        else {
            continue;
        };
        assert!(!event.starts_with("failed"), "{line}");
        if event == "forgot" {
            forgotten.insert(text.to_owned())
        } else {
            saved.insert(text.to_owned())
        };
        last = text.to_owned();
        count += 1;
        if kill_after == Some(count) {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    (saved, forgotten, last)
}

fn texts(desk: &Desk) -> BTreeSet<String> {
    let memory = Memory::new(desk.path());
    memory
        .entries(&Filter::default())
        .unwrap()
        .into_iter()
        .map(|entry| entry.text)
        .collect()
}

/// Checks the file and its index of words.
fn check(desk: &Desk) {
    let connection = Connection::open(desk.path()).unwrap();
    let integrity: String = connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(integrity, "ok");
    connection
        .execute(
            "INSERT INTO word (word, rank) VALUES ('integrity-check', 1)",
            [],
        )
        .unwrap();
}

/// Checks that each acknowledged text is there, and each forgotten one is not.
fn check_acknowledged(
    stored: &BTreeSet<String>,
    saved: &BTreeSet<String>,
    forgotten: &BTreeSet<String>,
    last: &str,
) {
    let lost: Vec<_> = saved
        .iter()
        .filter(|text| !stored.contains(*text) && !forgotten.contains(*text))
        .collect();
    // The last one may be forgotten without a word about it.
    assert!(lost.iter().all(|text| *text == last), "{lost:?}");
    assert!(forgotten.iter().all(|text| !stored.contains(text)));
}

fn two_processes(duration: Duration) {
    let desk = Desk::new();
    let mut children = ["ann", "ben"].map(|name| start(&desk, name));
    let inputs = children.each_mut().map(|child| child.stdin.take().unwrap());
    let readers = children.map(|child| std::thread::spawn(|| acknowledged(child, None)));
    let until = Instant::now() + duration;
    // A third process opens the file again and again.
    while Instant::now() < until {
        Memory::new(desk.path()).counts().unwrap();
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(inputs);
    let ended = readers.map(|reader| reader.join().unwrap());
    let stored = texts(&desk);
    for (saved, forgotten, last) in &ended {
        assert!(saved.len() > 1, "{saved:?}");
        check_acknowledged(&stored, saved, forgotten, last);
    }
    check(&desk);
}

#[test]
fn two_processes_lose_nothing() {
    two_processes(Duration::from_secs(3));
}

#[test]
#[ignore = "takes a minute"]
fn two_processes_lose_nothing_in_a_minute() {
    two_processes(Duration::from_secs(60));
}

#[test]
fn a_process_that_is_killed_while_it_saves_loses_nothing_that_it_acknowledged() {
    let desk = Desk::new();
    for round in 0..12 {
        let (saved, forgotten, last) =
            acknowledged(start(&desk, &format!("round{round}")), Some(round * 2 + 1));
        assert!(!saved.is_empty());
        check_acknowledged(&texts(&desk), &saved, &forgotten, &last);
        check(&desk);
    }
}
