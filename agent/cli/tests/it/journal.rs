use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Crib;

/// Returns the path of a journal outside the root.
fn journal(crib: &Crib) -> String {
    crib.dir
        .path()
        .join("calls.journal")
        .to_str()
        .unwrap()
        .to_owned()
}

fn rows(crib: &Crib) -> Vec<Value> {
    crib.run(&["audit", "show", &journal(crib), "--json"])
        .expect(0)
        .documents()
}

#[test]
fn a_run_with_a_journal_writes_its_calls_down() {
    let crib = Crib::new();
    let prompt = "fs.read path=README.md ; fs.write path=new.txt content=x";
    crib.run(&["run", prompt, "--journal", &journal(&crib)])
        .expect(5);
    let rows = rows(&crib);
    let mut told: Vec<_> = rows
        .iter()
        .map(|row| (row["tool"].as_str().unwrap(), row["kind"].as_str().unwrap()))
        .collect();
    told.sort_unstable();
    assert_eq!(
        told,
        [
            ("fs.read", "intent"),
            ("fs.read", "outcome"),
            ("fs.write", "refusal")
        ]
    );
    assert!(rows.iter().all(|row| row.get("arguments").is_none()
        && row["arguments_digest"].is_string()
        || row["kind"] == "outcome"));
    let shown = crib
        .run(&["audit", "show", &journal(&crib)])
        .expect(0)
        .stdout;
    assert!(
        shown.contains("fs.write") && shown.contains("permission_denied"),
        "{shown}"
    );
    for row in rows.iter().filter(|row| row["kind"] != "outcome") {
        assert!(
            shown.contains(row["ruling"].as_str().unwrap()),
            "{row}: {shown}"
        );
    }
    let kept = crib
        .dir
        .path()
        .join("kept.journal")
        .to_str()
        .unwrap()
        .to_owned();
    crib.run(&["run", prompt, "--journal", &kept, "--journal-arguments"])
        .expect(5);
    let kept_rows = crib
        .run(&["audit", "show", &kept, "--json"])
        .expect(0)
        .documents();
    let refusal = kept_rows
        .iter()
        .find(|row| row["kind"] == "refusal")
        .unwrap();
    let shown = crib.run(&["audit", "show", &kept]).expect(0).stdout;
    assert!(
        refusal["reason"] != refusal["ruling"]
            && shown.contains(refusal["reason"].as_str().unwrap()),
        "{shown}"
    );
    for command in ["show", "verify"] {
        let missing = crib
            .run(&["audit", command, "missing.journal"])
            .expect(2)
            .stderr;
        let parts = [
            "missing.journal",
            "neither a journal file nor",
            "sessions --all",
        ];
        assert!(parts.iter().all(|part| missing.contains(part)), "{missing}");
    }
}

#[test]
fn verify_prints_the_head_and_detects_changes() {
    let crib = Crib::new();
    let file = journal(&crib);
    crib.run(&["run", "time.now ; time.now", "--journal", &file])
        .expect(0);
    let head = crib
        .run(&["audit", "verify", &file])
        .expect(0)
        .stdout
        .trim_end()
        .to_owned();
    assert!(head.starts_with("4:"), "{head}");
    assert_eq!(
        crib.run(&["audit", "verify", &file, "--json"])
            .expect(0)
            .document()["count"],
        4
    );
    crib.run(&["run", "time.now", "--journal", &file]).expect(0);
    let longer = crib
        .run(&["audit", "verify", &file, "--head", &head])
        .expect(0)
        .stdout
        .trim_end()
        .to_owned();
    crib.run(&["audit", "verify", &file, "--head", "x"])
        .expect(2);
    crib.run(&["audit", "verify", "README.md"]).expect(2);

    // Another journal has none of the earlier rows.
    std::fs::remove_file(&file).unwrap();
    crib.run(&["run", "time.now ; time.now", "--journal", &file])
        .expect(0);
    let ended = crib
        .run(&["audit", "verify", &file, "--head", &longer])
        .expect(8);
    assert!(ended.stderr.contains("cut off"), "{ended:#?}");
    let ended = crib
        .run(&["audit", "verify", &file, "--head", &head])
        .expect(8);
    assert!(ended.stderr.contains("rewritten"), "{ended:#?}");
}

#[test]
fn the_damage_of_a_journal_is_one_json_document() {
    let crib = Crib::new();
    let file = journal(&crib);
    let verify =
        |flags: &[&str]| crib.run(&[&["audit", "verify", &file, "--json"], flags].concat());
    crib.run(&["run", "time.now ; time.now", "--journal", &file])
        .expect(0);
    let whole = verify(&[]).expect(0).document();
    assert_eq!(
        (&whole["count"], &whole["damage"]),
        (&Value::from(4), &Value::Null)
    );

    let longer = format!(
        "9:{}",
        whole["head"].as_str().unwrap().split_once(':').unwrap().1
    );
    let ended = verify(&["--head", &longer]).expect(8);
    let damage = &ended.document()["damage"];
    assert_eq!(
        (&damage["kind"], &damage["row"]),
        (&Value::from("cut_off"), &Value::from(5)),
        "{damage}"
    );
    assert!(
        ended.stderr.contains(damage["message"].as_str().unwrap()),
        "{ended:#?}"
    );

    let other = format!("2:{}", "0".repeat(64));
    let damage = verify(&["--head", &other]).expect(8).document()["damage"].clone();
    assert_eq!(
        (&damage["kind"], &damage["row"]),
        (&Value::from("rewritten"), &Value::from(2)),
        "{damage}"
    );
}

#[test]
fn a_directory_is_no_journal() {
    let crib = Crib::new();
    for command in ["show", "verify"] {
        let ended = crib.run(&["audit", command, "."]).expect(2);
        assert!(
            ended.stderr.contains("it is a directory") && !ended.stderr.contains("I/O"),
            "{ended:#?}"
        );
    }
}

#[test]
fn an_unknown_session_is_reported_with_the_known_ones() {
    let crib = Crib::new();
    let file = journal(&crib);
    let nope = |name: &str| {
        crib.run(&["audit", "show", &file, "--session", name])
            .expect(2)
    };
    crib.run(&["run", "time.now", "--journal", &file]).expect(0);
    let ended = nope("monday");
    assert!(
        ended
            .stderr
            .contains("no call of a session \"monday\"; no call in it has a session"),
        "{ended:#?}"
    );

    for name in ["alpha", "monday", "tuesday", "omega"] {
        crib.run(&["run", "time.now", "--journal", &file, "--session", name])
            .expect(0);
    }
    let ended = nope("mondya");
    assert!(
        ended.stdout.is_empty() && ended.stderr.contains("the sessions are \"monday\", "),
        "{ended:#?}"
    );
    for name in ["alpha", "tuesday", "omega"] {
        assert!(ended.stderr.contains(name), "{ended:#?}");
    }
    assert_eq!(
        crib.run(&["audit", "show", &file, "--session", "monday"])
            .expect(0)
            .stdout
            .lines()
            .count(),
        2
    );
    assert!(
        crib.run(&["audit", "show", &file, "--session", "nope", "--json"])
            .expect(2)
            .stdout
            .is_empty()
    );
}

#[test]
fn a_session_by_name_is_begun_once_and_resumed_without_doing_anything_twice() {
    let crib = Crib::new();
    let file = journal(&crib);
    let script = crib.write(
        "one.json",
        r#"[{"calls": [{"name": "fs.write", "arguments": {"path": "a.txt", "content": "1"}}]}]"#,
    );
    let session = [
        "--journal",
        &file,
        "--session",
        "s",
        "--grant",
        "fs:write:**",
    ];
    let ended = crib.run(&[&["run", "go", "--script", &script][..], &session].concat());
    // The script ends before the answer, like a failing service.
    ended.expect(1);
    std::fs::write(crib.root().join("a.txt"), "changed since").unwrap();

    crib.run(&[&["run", "go", "--script", &script][..], &session].concat())
        .expect(2);
    crib.run(&["run", "--resume", "--journal", &file, "--session", "other"])
        .expect(2);
    crib.run(&["run", "--resume", "--journal", &file]).expect(2);
    crib.run(&["run", "--resume", "--journal", "typo", "--session", "s"])
        .expect(2);
    assert!(!crib.root().join("typo").exists());
    crib.run(&[&["run", "go", "--resume"][..], &session].concat())
        .expect(2);

    let whole = crib.write(
        "whole.json",
        r#"[{"text": "played already"}, {"text": "Written."}]"#,
    );
    let resume = [&["run", "--resume", "--script", &whole][..], &session].concat();
    assert_eq!(crib.run(&resume).expect(0).stdout, "Written.\n");
    assert_eq!(
        std::fs::read_to_string(crib.root().join("a.txt")).unwrap(),
        "changed since"
    );
    assert_eq!(rows(&crib).len(), 2);
    let again = crib.run(&resume).expect(0);
    assert_eq!(again.stdout, "Written.\n", "{again:#?}");
}

#[test]
fn an_interrupt_leaves_an_outcome_of_every_call_that_was_begun() {
    let crib = Crib::new();
    let file = journal(&crib);
    let script = crib.endless();
    let run = [
        "run",
        "x",
        "--output",
        "stream-json",
        "--max-steps",
        "100000",
        "--script",
        &script,
        "--journal",
        &file,
    ];
    let mut child = crib
        .command(&run)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    // The session, and the start of the first call.
    for _ in 0..2 {
        stdout.read_until(b'\n', &mut Vec::new()).unwrap();
    }
    crate::interrupt::interrupt(&child);
    stdout.read_to_end(&mut Vec::new()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let rows = rows(&crib);
    let count = |kind: &str| rows.iter().filter(|row| row["kind"] == kind).count();
    assert_eq!(count("intent"), count("outcome"));
}

/// Returns a script whose turns append 1, 2, … to a line of `log.txt`, followed by an answer.
pub(crate) fn counting(crib: &Crib, turns: usize) -> String {
    std::fs::write(crib.root().join("log.txt"), "end").unwrap();
    let turn = |number| {
        let arguments = json!({"path": "log.txt", "old": "end", "new": format!("{number} end")});
        json!({"calls": [{"name": "fs.edit", "arguments": arguments}]})
    };
    let turns: Vec<_> = (1..=turns)
        .map(turn)
        .chain([json!({"text": "Done."})])
        .collect();
    crib.write("turns.json", &Value::from(turns).to_string())
}

pub(crate) fn counted(crib: &Crib) -> Vec<usize> {
    let log = std::fs::read_to_string(crib.root().join("log.txt")).unwrap();
    log.strip_suffix("end")
        .unwrap()
        .split_whitespace()
        .map(|number| number.parse().unwrap())
        .collect()
}

/// Starts the program with a [`counting`] script, and kills it when it has counted to `goal`.
pub(crate) fn kill_at(crib: &Crib, arguments: &[&str], goal: usize) {
    let mut command = crib.command(arguments);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let since = Instant::now();
    while !std::fs::read_to_string(crib.root().join("log.txt"))
        .is_ok_and(|log| log.contains(&format!("{goal} ")))
        && since.elapsed() < Duration::from_secs(20)
    {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_resumed_script_goes_on_after_the_turns_that_it_has_played() {
    let crib = Crib::new();
    let (file, script) = (journal(&crib), counting(&crib, 4));
    let session = [
        "--script",
        &script,
        "--journal",
        &file,
        "--session",
        "s",
        "--grant",
        "fs:write:**",
    ];
    crib.run(&[&["run", "go", "--max-steps", "1"][..], &session].concat())
        .expect(7);
    assert_eq!(counted(&crib), [1]);
    crib.run(&[&["run", "--resume", "--max-steps", "3"][..], &session].concat())
        .expect(7);
    assert_eq!(counted(&crib), [1, 2, 3]);
    for _ in 0..2 {
        assert_eq!(
            crib.run(&[&["run", "--resume"][..], &session].concat())
                .expect(0)
                .stdout,
            "Done.\n"
        );
        assert_eq!(counted(&crib), [1, 2, 3, 4]);
    }
    assert_eq!(
        rows(&crib)
            .iter()
            .filter(|row| row["kind"] == "intent")
            .count(),
        4
    );
}

#[test]
fn a_resumed_chat_goes_on_in_its_script() {
    let crib = Crib::new();
    let (file, script) = (
        journal(&crib),
        crib.write(
            "turns.json",
            r#"[{"text": ""}, {"text": "two"}, {"text": "three"}]"#,
        ),
    );
    let session = ["--script", &script, "--journal", &file, "--session", "s"];
    let first = crib
        .run_with_input(&[&["chat"][..], &session].concat(), b"a\nb\n")
        .expect(0);
    assert!(first.stdout.contains("two"), "{first:#?}");
    let second = crib
        .run_with_input(&[&["chat", "--resume"][..], &session].concat(), b"c\n")
        .expect(0);
    assert!(second.stdout.contains("three"), "{second:#?}");
}

#[test]
fn a_script_whose_program_is_killed_again_and_again_does_nothing_twice() {
    let crib = Crib::new();
    let (file, script) = (journal(&crib), counting(&crib, 60));
    let session = [
        "--script",
        &script,
        "--journal",
        &file,
        "--session",
        "s",
        "--grant",
        "fs:write:**",
        "--max-steps",
        "100",
    ];
    for (goal, begin) in [(5, &["run", "go"]), (20, &["run", "--resume"])] {
        kill_at(&crib, &[&begin[..], &session].concat(), goal);
        crib.run(&["audit", "verify", &file]).expect(0);
    }
    crib.run(&[&["run", "--resume"][..], &session].concat())
        .expect(0);
    let counted = counted(&crib);
    assert!(
        counted.windows(2).all(|pair| pair[0] < pair[1]),
        "{counted:?}"
    );
    // The effect of a call interrupted by a kill is unknown, so it is not repeated.
    assert!(counted.len() >= 58, "{counted:?}");
    let edits = rows(&crib)
        .iter()
        .filter(|row| row["kind"] == "intent" && row["tool"] == "fs.edit")
        .count();
    assert_eq!(edits, 60);
}
