//! Progress, status lines and widths.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::terminal::{QUESTION, on_terminal, rest, with_stty};
use crate::{Crib, ended};

const FILES: usize = 4000;

/// Returns a root with a directory of many files.
fn crowded() -> Crib {
    let crib = Crib::new();
    std::fs::create_dir(crib.root().join("many")).unwrap();
    (0..FILES)
        .for_each(|number| std::fs::write(crib.root().join(format!("many/{number}")), "").unwrap());
    crib
}

const REMOVE: [&str; 4] = [
    "run",
    "fs.remove path=many recursive=true",
    "--allow",
    "fs:destroy:**",
];

#[test]
fn without_a_terminal_progress_is_at_most_one_line_a_second() {
    let crib = crowded();
    let start = Instant::now();
    let ended = crib.run(&REMOVE).expect(0);
    let lines = ended
        .stderr
        .lines()
        .filter(|line| line.contains(&format!("of {FILES}")))
        .count();
    assert!(
        (1..=start.elapsed().as_secs() + 1).contains(&(lines as u64)),
        "{ended:#?}"
    );
}

#[test]
fn on_a_terminal_progress_leaves_no_lines() {
    let crib = crowded();
    let (shown, code) = rest(on_terminal(&crib, &REMOVE));
    assert_eq!(code, 0, "{shown}");
    let lines: Vec<_> = shown
        .lines()
        .filter(|line| line.contains("fs.remove"))
        .collect();
    assert_eq!(lines.len(), 2, "the call and its result: {lines:#?}");
}

#[test]
fn no_document_is_written_behind_an_open_question() {
    let crib = crowded();
    let remove =
        |path: &str| json!({"name": "fs.remove", "arguments": {"path": path, "recursive": true}});
    let turn = json!({"calls": [remove("many"), remove("README.md")]});
    let script = crib.script(&[&turn.to_string(), r#"{"text": "finished"}"#]);
    let flags = [
        "--script",
        &script,
        "--allow",
        "fs:destroy:many/**",
        "--grant",
        "fs:destroy:**",
    ];
    let run = [
        "run",
        "x",
        "--output",
        "stream-json",
        "--approval-timeout",
        "1s",
    ];
    let mut session = on_terminal(&crib, &[&run[..], &flags[..]].concat());
    session.exp_string("no: ").unwrap();
    let (rest, _) = rest(session);
    // The unanswered question ends its line.
    assert!(rest.starts_with("\r\n{"), "{rest:?}");
    assert_eq!(rest.matches(r#""type":"result""#).count(), 2, "{rest}");
}

#[track_caller]
fn assert_fits(page: &str, columns: usize) {
    let plain = anstream::adapter::strip_str(page).to_string();
    assert!(plain.lines().count() > 5, "{plain}");
    assert_no_longer(&plain, columns);
}

#[track_caller]
fn assert_no_longer(page: &str, columns: usize) {
    let plain = anstream::adapter::strip_str(page).to_string();
    assert!(!plain.is_empty());
    for line in plain.lines() {
        assert!(
            line.trim_end().chars().count() <= columns,
            "longer than {columns}: {line:?}"
        );
    }
}

#[test]
fn lists_and_pages_fit_80_columns() {
    let crib = Crib::new();
    let names: Vec<_> = crib.run(&["list", "--json"]).documents();
    for name in names.iter().map(|tool| tool["name"].as_str().unwrap()) {
        assert_fits(&crib.run(&["show", name]).expect(0).stdout, 80);
    }
    assert_fits(&crib.run(&["list"]).expect(0).stdout, 80);
    assert_fits(&crib.run(&["list", "-l"]).expect(0).stdout, 80);
    assert_fits(
        &crib
            .run_with_input(&["chat", "--provider", "direct"], b"/tools\n")
            .expect(0)
            .stderr,
        80,
    );
    for columns in [80, 60] {
        let page = |arguments: &[&str]| {
            ended(
                crib.command(arguments).env("COLUMNS", columns.to_string()),
                b"",
            )
            .expect(0)
            .stdout
        };
        assert_fits(&page(&["list"]), columns);
        assert_fits(
            &page(&[
                "config",
                "--grant",
                "fs:write:src/**",
                "--grant",
                "fs:write:docs/**",
            ]),
            columns,
        );
        let call = [
            "why",
            "fs.move",
            "from=README.md",
            "to=sub/inner.txt",
            "overwrite=true",
        ];
        assert_fits(
            &page(&[&call[..], &["--grant", "fs:write:sub/**"]].concat()),
            columns,
        );
        assert_no_longer(&page(&["doctor"]), columns);
    }
}

#[test]
fn pages_of_a_chat_follow_the_columns_without_a_terminal() {
    let crib = Crib::new();
    for columns in [80, 60] {
        let mut chat = crib.command(&["chat", "--provider", "direct"]);
        let ended = ended(chat.env("COLUMNS", columns.to_string()), b"/help\n/tools\n").expect(0);
        assert_fits(&ended.stderr, columns);
    }
}

#[test]
fn lists_and_pages_follow_the_terminal() {
    let crib = Crib::new();
    for columns in [80, 120] {
        for command in ["list", "show fs.search"] {
            let (page, code) = rest(with_stty(
                &crib,
                &format!("rows 24 cols {columns}"),
                command,
            ));
            // rexpect returns each byte as a character.
            let page = String::from_utf8(page.chars().map(|c| c as u8).collect()).unwrap();
            assert_eq!(code, 0, "{page}");
            assert_fits(&page, columns);
            let plain = anstream::adapter::strip_str(&page).to_string();
            assert_eq!(
                plain
                    .lines()
                    .any(|line| line.trim_end().chars().count() > 80),
                columns == 120,
                "{page}"
            );
        }
    }
}

#[test]
fn a_run_without_a_prompt_on_a_terminal_is_a_usage_error() {
    let crib = Crib::new();
    let (shown, code) = rest(on_terminal(&crib, &["run"]));
    assert!(shown.contains("there is no prompt"), "{shown}");
    assert_eq!(code, 2);
}

#[test]
fn durations_leave_out_the_time_of_a_question() {
    let crib = Crib::new();
    let start = Instant::now();
    let mut session = on_terminal(
        &crib,
        &["run", "fs.read path=README.md", "--no-default-grants"],
    );
    session.exp_string(QUESTION).unwrap();
    let asked = Instant::now();
    // Longer than all that a duration could leave out besides the question.
    std::thread::sleep(2 * (asked - start) + Duration::from_millis(200));
    let open = asked.elapsed();
    session.send_line("y").unwrap();
    let (shown, code) = rest(session);
    let rest = start.elapsed() - open;
    assert_eq!(code, 0, "{shown}");
    let plain = anstream::adapter::strip_str(&shown).to_string();
    let result = plain
        .lines()
        .find(|line| line.contains("<- fs.read"))
        .unwrap();
    let summary = plain.lines().find(|line| line.contains("summary")).unwrap();
    for line in [result, summary] {
        let duration = line
            .split([' ', ','])
            .find_map(|word| shown_duration(word.trim()))
            .unwrap();
        assert!(duration <= rest, "{line}: longer than {rest:?}");
    }
}

/// Parses a duration as it is shown, and rounds it down.
fn shown_duration(text: &str) -> Option<Duration> {
    let number = |unit| text.strip_suffix(unit)?.parse::<f64>().ok();
    let seconds = number("ms").map(|millis| millis / 1000.0);
    seconds
        .or_else(|| Some(number("s")? - 0.05))
        .map(Duration::from_secs_f64)
}
