//! The place that sets a deciding clause or rule, in events, in the journal and in `why`.

use serde_json::{Value, json};

use crate::Crib;
use crate::config::{user_file, write_user};

/// Runs the prompt with these flags. Returns the rulings of each call by its event, and the rulings of its intent or refusal.
fn run(crib: &Crib, prompt: &str, flags: &[&str], code: i32) -> (Vec<Value>, Vec<String>) {
    let file = crib
        .dir
        .path()
        .join("calls.journal")
        .to_str()
        .unwrap()
        .to_owned();
    let run = ["run", prompt, "--output", "stream-json", "--journal", &file];
    let lines = crib
        .run(&[&run[..], flags].concat())
        .expect(code)
        .documents();
    let started = lines
        .into_iter()
        .filter(|line| line["type"] == "call_started");
    let rows = crib
        .run(&["audit", "show", &file, "--json"])
        .expect(0)
        .documents();
    let decided = rows.into_iter().filter(|row| row["kind"] != "outcome");
    (
        started.map(|mut line| line["rulings"].take()).collect(),
        decided
            .map(|row| row["ruling"].as_str().unwrap().to_owned())
            .collect(),
    )
}

#[test]
fn events_and_journal_rows_name_the_file_and_line_that_why_names() {
    let crib = Crib::new();
    let rule = "[[policy]]\nverdict = \"deny\"\ntarget = \"fs:read:sub/**\"\n";
    write_user(
        &crib,
        &format!("grants = [\n  \"fs:write:sub/**\",\n]\n{rule}"),
    );
    let place = |line: usize| format!("{}:{line}", user_file(&crib).to_str().unwrap());
    for (prompt, code, decided) in [
        (
            "fs.write path=sub/a content=x",
            0,
            [format!("`fs:write:sub/**` ({})", place(2)), place(2)],
        ),
        (
            "fs.read path=sub/inner.txt",
            5,
            [
                format!("`deny every tool on fs:read:sub/**` ({})", place(4)),
                place(4),
            ],
        ),
        (
            "fs.read path=README.md",
            0,
            ["`fs:read:**` (default)".to_owned(), "default".to_owned()],
        ),
    ] {
        let (events, rows) = run(&crib, prompt, &[], code);
        let words: Vec<_> = [
            &["why"],
            &prompt.split(' ').collect::<Vec<_>>()[..],
            &["--json"],
        ]
        .concat();
        assert_eq!(
            events,
            [crib.run(&words).expect(0).document()["rulings"].clone()]
        );
        assert!(
            events[0]
                .to_string()
                .contains(&format!("\"origins\":[\"{}\"]", decided[1])),
            "{events:?}"
        );
        assert!(rows.last().unwrap().contains(&decided[0]), "{rows:?}");
    }
}

#[test]
fn a_clause_of_two_places_has_both() {
    let crib = Crib::new();
    write_user(&crib, "grants = [\"fs:write:**\"]\n");
    let place = format!("{}:1", user_file(&crib).to_str().unwrap());
    let (events, rows) = run(
        &crib,
        "fs.write path=a content=x",
        &["--grant", "fs:write:**"],
        0,
    );
    let reasons = &events[0][0]["reasons"];
    assert_eq!(
        reasons[0]["clauses"],
        json!([{"clause": "fs:write:**", "origins": [place, "--grant"]}])
    );
    assert_eq!(
        reasons[1]["rules"][0]["origins"],
        json!([place, "--grant"]),
        "the consent has the places of the grant"
    );
    assert!(
        rows[0].contains(&format!("`fs:write:**` ({place}, --grant)")),
        "{rows:?}"
    );
}

#[test]
fn a_limit_names_its_own_place() {
    let crib = Crib::new();
    write_user(
        &crib,
        "grants = [\"fs:write:**\"]\nwithin = [\"fs:*:sub/**\"]\n",
    );
    let (_, rows) = run(&crib, "fs.write path=sub/a content=x", &[], 0);
    for line in [1, 2] {
        assert!(
            rows[0].contains(&format!("{}:{line}", user_file(&crib).display())),
            "{rows:?}"
        );
    }
}

#[test]
fn a_resumed_session_names_its_start_as_well() {
    let crib = Crib::new();
    let script = crib.script(&[
        r#"{"calls": [{"name": "fs.write", "arguments": {"path": "a", "content": "x"}}]}"#,
        r#"{"calls": [{"name": "fs.write", "arguments": {"path": "b", "content": "x"}}]}"#,
        r#"{"text": "Done."}"#,
    ]);
    let session = ["--script", &script, "--session", "s"];
    let flags = |clause| [&session[..], &["--grant", clause]].concat();
    run(
        &crib,
        "go",
        &[&flags("fs:write:**")[..], &["--max-steps", "1"]].concat(),
        7,
    );
    let file = crib
        .dir
        .path()
        .join("calls.journal")
        .to_str()
        .unwrap()
        .to_owned();
    crib.run(
        &[
            &["run", "--resume", "--journal", &file],
            &flags("fs:write:b")[..],
        ]
        .concat(),
    )
    .expect(0);
    let rows = crib
        .run(&["audit", "show", &file, "--json"])
        .expect(0)
        .documents();
    let rulings: Vec<_> = rows
        .iter()
        .filter_map(|row| row["ruling"].as_str())
        .collect();
    let [first, resumed] = &rulings[..] else {
        panic!("{rulings:?}")
    };
    assert!(
        first.contains("`fs:write:**` (--grant)") && !first.contains("start"),
        "{first}"
    );
    for part in [
        "`fs:write:b` (--grant)",
        "`fs:write:**` (the start of the session)",
    ] {
        assert!(resumed.contains(part), "{resumed}");
    }
}

#[test]
fn a_chat_names_its_command() {
    let crib = Crib::new();
    let file = crib
        .dir
        .path()
        .join("calls.journal")
        .to_str()
        .unwrap()
        .to_owned();
    let input = b"/grant fs:write:a\nfs.write path=a content=x\n";
    crib.run_with_input(&["chat", "--journal", &file], input)
        .expect(0);
    let rows = crib
        .run(&["audit", "show", &file, "--json"])
        .expect(0)
        .documents();
    let ruling = rows[0]["ruling"].as_str().unwrap();
    assert!(
        ruling.contains("by `fs:write:a` (/grant)") && ruling.ends_with("(/grant) decides"),
        "{ruling}"
    );
}
