//! `run --output`, checked against the schemas of the reference.

use serde_json::Value;

use crate::{Crib, Ended};

pub(crate) const STREAM_SCHEMA: &str = include_str!("../../reference/stream-json.schema.json");
pub(crate) const OUTCOME_SCHEMA: &str = include_str!("../../reference/json.schema.json");

/// Checks a line against the schema, and that all its fields are documented.
#[track_caller]
fn check_line(schema: &Value, line: &Value) {
    let validator = jsonschema::validator_for(schema).unwrap();
    if let Err(error) = validator.validate(line) {
        panic!("{error} in {line}");
    }
    let fields = &schema["$defs"][line["type"].as_str().unwrap()]["properties"];
    for name in line.as_object().unwrap().keys() {
        assert!(
            !fields[name].is_null(),
            "{name} in {line} is not documented"
        );
    }
    if let Some(event) = line.get("event") {
        check_line(schema, event);
    }
}

/// Checks the lines of one run: a session first, documented lines, and an outcome last. Returns the outcome.
#[track_caller]
pub(crate) fn check(ended: &Ended) -> Value {
    let schema = serde_json::from_str(STREAM_SCHEMA).unwrap();
    let lines = ended.documents();
    for line in &lines {
        check_line(&schema, line);
    }
    assert_eq!(lines[0]["type"], "session");
    assert_eq!(
        lines
            .iter()
            .filter(|line| line["type"] == "outcome")
            .count(),
        1
    );
    let last = lines.last().unwrap().clone();
    assert_eq!(last["type"], "outcome");
    last
}

const STREAM: [&str; 2] = ["--output", "stream-json"];

#[test]
fn every_line_of_a_run_is_documented() {
    let crib = Crib::new();
    std::fs::create_dir(crib.root().join("many")).unwrap();
    (0..300)
        .for_each(|number| std::fs::write(crib.root().join(format!("many/{number}")), "").unwrap());
    let script = crib.script(&[
        r#"{"text": "Hm.", "calls": [{"name": "fs.remove", "arguments": {"path": "many", "recursive": true}}, {"name": "fs.raed"}]}"#,
        r#"{"text": "Done."}"#,
    ]);
    let run = ["run", "x", "--script", &script, "--allow", "fs:destroy:**"];
    let ended = crib.run(&[&run[..], &STREAM].concat()).expect(0);
    let outcome = check(&ended);
    assert_eq!(
        (outcome["outcome"].as_str(), outcome["text"].as_str()),
        (Some("answer"), Some("Done."))
    );
    assert_eq!(outcome["failed_calls"], 1);
    let kinds: Vec<_> = ended
        .documents()
        .iter()
        .map(|line| line["type"].as_str().unwrap().to_owned())
        .collect();
    for kind in ["session", "text", "call_started", "progress", "result"] {
        assert!(
            kinds.iter().any(|found| found == kind),
            "{kind} is not in {kinds:?}"
        );
    }
    assert!(!ended.stderr.contains("->"), "{ended:#?}");
}

#[test]
fn a_run_that_fails_ends_with_its_outcome_too() {
    let crib = Crib::new();
    let short = crib.script(&[r#"{"calls": [{"name": "time.now"}]}"#]);
    let script = ["run", "x", "--script", &short];
    for (arguments, code, outcome) in [
        (&script[..], 1, "failed"),
        (
            &[&script[..], &["--max-steps", "1"]].concat(),
            7,
            "step_budget",
        ),
        (&["run", "please look around"], 2, "failed"),
        (
            &["run", "fs.read path=README.md", "--no-default-grants"],
            5,
            "answer",
        ),
    ] {
        let ended = crib.run(&[arguments, &STREAM].concat()).expect(code);
        assert_eq!(check(&ended)["outcome"], outcome, "{arguments:?}");
    }
}

#[test]
fn the_reference_has_the_exit_code_of_each_outcome() {
    let page = include_str!("../../reference/events.md");
    let rows = page.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.split(" | ");
        let outcome = cells.next()?.trim_end_matches('`');
        Some((outcome, cells.next()?.parse::<i32>().ok()?))
    });
    let rows: Vec<_> = rows.collect();
    let schema: Value = serde_json::from_str(STREAM_SCHEMA).unwrap();
    let outcomes = schema["$defs"]["outcome"]["properties"]["outcome"]["enum"].as_array();
    for outcome in outcomes.unwrap() {
        let outcome = outcome.as_str().unwrap();
        assert!(rows.iter().any(|(row, _)| *row == outcome), "{outcome}");
    }
    let crib = Crib::new();
    let time = r#"{"calls": [{"name": "time.now"}]}"#;
    let list = r#"{"calls": [{"name": "fs.list"}]}"#;
    let script = |name: &str, turns: &[&str]| crib.write(name, &format!("[{}]", turns.join(", ")));
    let short = script("short", &[time]);
    let long = script("long", &[time; 3]);
    let same = script("same", &[list; 6]);
    let write = script(
        "write",
        &[
            r#"{"calls": [{"name": "fs.write", "arguments": {"path": "a", "content": ""}}]}"#,
            r#"{"text": "It was refused."}"#,
        ],
    );
    let cases: [(&str, &str, &[&str]); 7] = [
        ("answer", &write, &[]),
        ("waiting_for_approval", &write, &["--defer-approvals"]),
        ("failed", &short, &[]),
        ("loop", &same, &[]),
        ("step_budget", &long, &["--max-steps", "1"]),
        ("call_budget", &long, &["--max-calls", "1"]),
        ("time_budget", &long, &["--deadline", "1ms"]),
    ];
    for (outcome, script, flags) in cases {
        let (_, code) = rows.iter().find(|(row, _)| *row == outcome).unwrap();
        let run = ["run", "x", "--script", script];
        let ended = crib.run(&[&run[..], flags, &STREAM].concat()).expect(*code);
        assert_eq!(check(&ended)["outcome"], outcome);
    }
}

#[test]
fn a_run_that_cannot_start_prints_no_line() {
    let ended = Crib::new()
        .run(&["run", "x", "--provider", "nope", "--output", "stream-json"])
        .expect(3);
    assert!(
        ended.stdout.is_empty() && ended.stderr.contains("error: "),
        "{ended:#?}"
    );
}

#[test]
fn json_is_the_outcome_alone() {
    let crib = Crib::new();
    let script = crib.script(&[
        r#"{"text": "Hm.", "calls": [{"name": "time.now"}]}"#,
        r#"{"text": "Done."}"#,
    ]);
    let outcome = crib
        .run(&["run", "x", "--script", &script, "--output", "json"])
        .expect(0)
        .document();
    check_line(&serde_json::from_str(OUTCOME_SCHEMA).unwrap(), &outcome);
    assert_eq!(
        (outcome["text"].as_str(), outcome["calls"].as_u64()),
        (Some("Done."), Some(1))
    );
    let failed = crib
        .run(&[
            "run",
            "x",
            "--script",
            &script,
            "--output",
            "json",
            "--max-steps",
            "1",
        ])
        .expect(7);
    assert_eq!(failed.document()["outcome"], "step_budget");
}

#[test]
fn a_prompt_is_read_from_standard_input() {
    let crib = Crib::new();
    for arguments in [&["run"][..], &["run", "-"]] {
        let ended = crib
            .run_with_input(arguments, b"fs.read path=README.md ;\ntime.now\n")
            .expect(0);
        assert!(
            ended.stdout.contains("# Hello") && ended.stderr.contains("2 calls"),
            "{ended:#?}"
        );
    }
    let script = crib.script(&[r#"{"text": "Yes."}"#]);
    assert_eq!(
        crib.run_with_input(&["run", "--script", &script], "größe\r\n".as_bytes())
            .expect(0)
            .stdout,
        "Yes.\n"
    );
}

#[test]
fn a_prompt_that_cannot_be_read_is_a_usage_error() {
    let crib = Crib::new();
    let long = vec![b'a'; 1024 * 1024 + 1];
    for (input, part) in [
        (&b"time.now\xff"[..], "UTF-8"),
        (&long, "1 MiB"),
        (b"", "empty"),
        (b" \n", "empty"),
    ] {
        let ended = crib.run_with_input(&["run"], input).expect(2);
        assert!(
            ended.stdout.is_empty() && ended.stderr.contains(part),
            "{part}: {ended:#?}"
        );
    }
}
