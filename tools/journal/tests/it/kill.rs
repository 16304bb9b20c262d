//! Kills journalled sessions with SIGKILL at random moments. The test process counts the calls that ran.
//!
//! The session runs in a child: this test binary, started again with the path of its folder in an environment variable.

mod witness;

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, read_to_string};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use self::witness::Witness;
use crate::crib::entries;
use agent::{
    Driver, Outcome, Provider, ProviderInfo, Request, Selection, Session, Turn, TurnFuture,
};
use serde_json::{Value, json};
use tools::protocol::{Part, Role};
use tools::{Catalog, Effects, Grant, Host, Tool, ToolCall, ToolContext, ToolResult};
use tools_journal::{Audit, Durability, JournalOptions, SqliteJournal};

const TURNS: usize = 25;
const FOLDER: &str = "TOOLCRIB_KILL_FOLDER";
const SESSION: &str = "TOOLCRIB_KILL_SESSION";

/// A model whose turns follow from the conversation. Each turn makes two calls that may run only once, one that may be repeated
/// and one that changes nothing.
struct Model;

impl Provider for Model {
    fn about(&self) -> &ProviderInfo {
        static MODEL: ProviderInfo = ProviderInfo::new("model");
        &MODEL
    }

    fn complete<'a>(&'a self, request: Request<'a>) -> TurnFuture<'a> {
        let turn = request
            .messages
            .iter()
            .filter(|message| message.role == Role::Assistant)
            .count();
        let calls = ["send", "send", "put", "look"].into_iter().enumerate();
        let call =
            |(index, name)| ToolCall::new("", name, json!({"mark": format!("{turn}.{index}")}));
        let next = if turn < TURNS {
            Turn::calls(calls.map(call))
        } else {
            Turn::answer("done")
        };
        Box::pin(async { Ok(next) })
    }
}

fn appended(folder: &Path, name: &str) -> File {
    OpenOptions::new()
        .append(true)
        .create(true)
        .open(folder.join(name))
        .unwrap()
}

/// Tools that append a line to a file. They sleep before and after it, so that a kill can hit either moment.
fn catalog(folder: &Path, session: &str) -> Catalog {
    let mut catalog = Catalog::new();
    let effects = [
        ("send", json!({"writes": ["mail:{mark}"]})),
        (
            "put",
            json!({"writes": ["store:{mark}"], "idempotent": true}),
        ),
        ("look", json!({"reads": ["store:{mark}"]})),
    ];
    for (name, effects) in effects {
        let parameters = json!({"type": "object", "properties": {"mark": {"type": "string"}}, "required": ["mark"]});
        let effects: Effects = serde_json::from_value(effects).unwrap();
        let (file, session) = (Arc::new(appended(folder, "done")), session.to_owned());
        let work = move |_: ToolContext, arguments: Value| {
            let line = format!("{session} {name} {}\n", arguments["mark"].as_str().unwrap());
            let file = file.clone();
            async move {
                tokio::time::sleep(Duration::from_millis(1)).await;
                (&*file).write_all(line.as_bytes()).unwrap();
                tokio::time::sleep(Duration::from_millis(1)).await;
                "done".to_owned()
            }
        };
        let tool = Tool::new(name, "Writes a line.", parameters)
            .unwrap()
            .with_effects(effects);
        catalog.register(tool, work).unwrap();
    }
    catalog
}

fn journal(folder: &Path, session: &str) -> SqliteJournal {
    let odd = session.ends_with(['1', '3', '5', '7', '9']);
    let durability = if odd {
        Durability::Power
    } else {
        Durability::Process
    };
    SqliteJournal::open(
        folder.join("calls.journal"),
        JournalOptions {
            durability,
            ..JournalOptions::default()
        },
    )
    .unwrap()
}

/// Starts or resumes the session in the child process.
#[tokio::main]
async fn run_session(folder: &Path, name: &str, is_journalled: bool) {
    let mut cx = Host::new().with_grant(Grant::all()).with_session(name);
    if is_journalled {
        cx = cx.with_journal(Arc::new(Witness {
            journal: journal(folder, name),
            acknowledged: appended(folder, "acknowledged"),
        }));
    }
    let mut session = Session::new(catalog(folder, name).list(), Selection::new(), cx);
    let driver = Driver::new(Arc::new(Model)).with_checkpoints(true);
    let stored = session.stored_run().await.unwrap();
    println!("begun");
    let summary = match stored {
        Some(run) => driver.resume(&mut session, run).await.unwrap(),
        None => driver.run(&mut session, "go").await.unwrap(),
    };
    assert!(
        matches!(summary.outcome, Outcome::Answer { .. }),
        "{summary:?}"
    );
}

/// Starts the child and waits until its session runs. Returns its standard output too, which its test harness needs open.
fn child(test: &str, folder: &Path, session: &str) -> (Child, BufReader<ChildStdout>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--include-ignored", "--nocapture"])
        .envs([(FOLDER, folder.as_os_str()), (SESSION, session.as_ref())])
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    // The harness writes to the same line first.
    assert!(
        output
            .by_ref()
            .lines()
            .any(|line| line.unwrap().ends_with("begun")),
        "the child ended before it began"
    );
    (child, output)
}

/// Returns the folder and the session in the child, and `None` in the test process.
fn as_child() -> Option<(PathBuf, String)> {
    Some((
        std::env::var_os(FOLDER)?.into(),
        std::env::var(SESSION).ok()?,
    ))
}

/// Returns how often each line occurs in the file of finished work.
fn done(folder: &Path) -> BTreeMap<String, u32> {
    let mut done = BTreeMap::new();
    let text = read_to_string(folder.join("done")).unwrap_or_default();
    text.lines()
        .for_each(|line| *done.entry(line.to_owned()).or_default() += 1);
    done
}

/// Returns pauses that differ from run to run. Prints their seed, so that a failure can be repeated.
fn pauses(up_to_ms: u64) -> impl Iterator<Item = Duration> {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap();
    let mut state = since.as_nanos() as u64 | 1;
    println!("seed {state}");
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        Duration::from_micros(state % (up_to_ms * 1000))
    })
}

#[test]
fn killed_200_times_a_session_loses_no_record_and_repeats_no_call() {
    kill(
        "kill::killed_200_times_a_session_loses_no_record_and_repeats_no_call",
        200,
    );
}

#[test]
#[ignore = "takes a minute: cargo test -p toolcrib-journal --test it -- --ignored --nocapture killed_1000_times"]
fn killed_1000_times_a_session_loses_no_record_and_repeats_no_call() {
    kill(
        "kill::killed_1000_times_a_session_loses_no_record_and_repeats_no_call",
        1000,
    );
}

/// Kills the child that runs `test`, and compares its journal with the calls that ran.
fn kill(test: &str, least: usize) {
    if let Some((folder, session)) = as_child() {
        return run_session(&folder, &session, true);
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (mut kills, mut sessions) = (0, 1);
    let mut pauses = pauses(60);
    let outcomes = || {
        let lines = read_to_string(folder.join("acknowledged")).unwrap_or_default();
        lines
            .lines()
            .filter(|line| line.starts_with("outcome "))
            .count()
    };
    // On a busy machine, few calls end before a kill.
    while kills < least || (outcomes() <= least && kills < 20 * least) {
        let (mut child, _output) = child(test, folder, &format!("s{sessions}"));
        std::thread::sleep(pauses.next().unwrap());
        child.kill().unwrap();
        let status = child.wait().unwrap();
        match status.signal() {
            Some(_) => kills += 1,
            None => {
                assert!(status.success(), "{status}");
                sessions += 1;
            }
        }
    }
    let last = format!("s{sessions}");
    run_session(folder, &last, true);

    let audit = Audit::open(folder.join("calls.journal")).unwrap();
    audit.verify(None).unwrap();
    let entries = entries(&audit);

    // No acknowledged record is lost.
    let acknowledged = read_to_string(folder.join("acknowledged")).unwrap();
    let (intents, outcomes): (Vec<_>, Vec<_>) = acknowledged
        .lines()
        .partition(|line| line.starts_with("intent "));
    assert!(
        intents.len() > outcomes.len() && outcomes.len() > least,
        "{} and {}",
        intents.len(),
        outcomes.len()
    );
    for line in acknowledged.lines() {
        let (kind, seq) = line.split_once(' ').unwrap();
        let seq: u64 = seq.parse().unwrap();
        let is_there = entries.iter().any(|entry| match kind {
            "intent" => entry.kind == "intent" && entry.seq == seq,
            _ => entry.kind == "outcome" && entry.intent == Some(seq),
        });
        assert!(is_there, "{line} was acknowledged and is lost");
    }

    // No call that may run only once ran twice, and its result agrees with the file of finished work.
    let done = done(folder);
    let (mut finished, mut unknown) = (0, 0);
    for number in 1..=sessions {
        for (mark, result) in sends(folder, &format!("s{number}")) {
            let times = done
                .get(&format!("s{number} send {mark}"))
                .copied()
                .unwrap_or_default();
            if result.is_error {
                assert!(
                    result.to_text().contains("no recorded outcome") && times <= 1,
                    "{mark}: {times} times, {result:?}"
                );
                unknown += 1;
            } else {
                assert_eq!(times, 1, "{mark} of s{number}");
                finished += 1;
            }
        }
    }
    assert_eq!(finished + unknown, sessions * TURNS * 2);
    let repeated = done
        .iter()
        .filter(|(line, times)| line.contains(" put ") && **times > 1)
        .count();
    let again = entries
        .iter()
        .filter(|entry| entry.attempt > Some(1) && entry.kind == "intent")
        .count();
    println!(
        "{kills} kills, {sessions} sessions, {} records acknowledged; {finished} calls finished, {unknown} unknown, {again} begun \
         again, {repeated} that may be repeated were done more than once",
        acknowledged.lines().count()
    );
    // The kills hit running calls; otherwise the test shows nothing.
    assert!(unknown > 0 && again > 0);
}

/// Returns the results of the calls that may run only once, with their marks, from the finished session.
#[tokio::main(flavor = "current_thread")]
async fn sends(folder: &Path, name: &str) -> Vec<(String, ToolResult)> {
    let cx = Host::new()
        .with_session(name)
        .with_journal(Arc::new(journal(folder, name)));
    let run = Session::new([], Selection::new(), cx)
        .stored_run()
        .await
        .unwrap()
        .unwrap();
    let parts: Vec<_> = run
        .into_messages()
        .into_iter()
        .flat_map(|message| message.parts)
        .collect();
    let calls = parts.iter().filter_map(|part| match part {
        Part::ToolCall(call) if call.name == "send" => Some(call),
        _ => None,
    });
    let result_of = |call: &ToolCall| {
        let result = parts.iter().find_map(|part| match part {
            Part::ToolResult { id, result, .. } if *id == call.id => Some(result.clone()),
            _ => None,
        });
        (
            call.arguments.value()["mark"].as_str().unwrap().to_owned(),
            result.unwrap(),
        )
    };
    calls.map(result_of).collect()
}

#[test]
fn two_processes_that_run_one_session_at_once_repeat_no_call() {
    let test = "kill::two_processes_that_run_one_session_at_once_repeat_no_call";
    if let Some((folder, session)) = as_child() {
        return run_session(&folder, &session, true);
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let both = [(); 2].map(|()| child(test, folder, "s0"));
    for (mut child, mut output) in both {
        // An unread pipe could fill up and block the child.
        std::io::copy(&mut output, &mut std::io::sink()).unwrap();
        assert!(child.wait().unwrap().success());
    }
    Audit::open(folder.join("calls.journal"))
        .unwrap()
        .verify(None)
        .unwrap();
    let done = done(folder);
    let sends: Vec<_> = done
        .iter()
        .filter(|(line, _)| line.contains(" send "))
        .collect();
    assert_eq!(sends.len(), TURNS * 2, "every call was made by one of them");
    assert!(sends.iter().all(|(_, times)| **times == 1), "{sends:?}");
}

#[test]
fn without_a_journal_the_same_session_repeats_its_calls() {
    if let Some((folder, session)) = as_child() {
        return run_session(&folder, &session, false);
    }
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let (mut child, _output) = child(
            "kill::without_a_journal_the_same_session_repeats_its_calls",
            folder.path(),
            "s0",
        );
        let before: u32 = done(folder.path()).values().sum();
        while done(folder.path()).values().sum::<u32>() < before + 2 * 4 {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(
        done(folder.path())
            .iter()
            .any(|(line, times)| line.contains(" send ") && *times > 1)
    );
}
