use serde_json::Value;

use crate::Crib;

const NOTE: &str = "note: no provider is configured";

#[test]
fn the_prompt_of_the_readme_works_without_a_model() {
    let ended = Crib::new()
        .run(&["run", "fs.list path=. ; fs.read path=README.md"])
        .expect(0);
    assert!(
        ended.stdout.contains("README.md") && ended.stdout.contains("# Hello"),
        "{ended:#?}"
    );
    assert_eq!(ended.stderr.matches(NOTE).count(), 1, "{ended:#?}");
    for call in [
        "-> fs.list",
        "-> fs.read path=README.md",
        "<- fs.list",
        "<- fs.read",
    ] {
        assert!(ended.stderr.contains(call), "{call} is not in {ended:#?}");
    }
}

#[test]
fn a_named_provider_prints_no_note() {
    let ended = Crib::new()
        .run(&["run", "time.now", "--provider", "direct"])
        .expect(0);
    assert!(!ended.stderr.contains(NOTE), "{ended:#?}");
}

#[test]
fn a_stream_is_one_event_per_line() {
    let events = Crib::new()
        .run(&[
            "run",
            "fs.read path=README.md ; time.now",
            "--output",
            "stream-json",
        ])
        .expect(0)
        .documents();
    let of = |kind: &str| {
        events
            .iter()
            .filter(|event| event["type"] == kind)
            .collect::<Vec<&Value>>()
    };
    assert_eq!(of("call_started")[0]["targets"][0], "fs:read:README.md");
    assert_eq!(
        (
            of("call_started").len(),
            of("result").len(),
            of("outcome").len()
        ),
        (2, 2, 1)
    );
    assert_eq!(events.last().unwrap()["type"], "outcome");
    assert_eq!(events.last().unwrap()["calls"], 2);
}

#[test]
fn a_script_is_played() {
    let crib = Crib::new();
    let script = crib.write(
        "turns.json",
        r#"[
            {"text": "Let me see.", "calls": [{"name": "fs.list", "arguments": {"path": "."}}, {"name": "fs.read", "arguments": {"path": "missing"}}]},
            {"calls": [{"name": "fs.read", "arguments": {"path": "README.md"}}]},
            {"text": "It says hello."}
        ]"#,
    );
    let ended = crib
        .run(&["run", "What does it say?", "--script", &script])
        .expect(0);
    assert_eq!(ended.stdout, "Let me see.\nIt says hello.\n");
    assert!(
        ended.stderr.contains("fs.read failed") && !ended.stderr.contains(NOTE),
        "{ended:#?}"
    );
}

#[test]
fn an_empty_answer_is_pointed_out() {
    let crib = Crib::new();
    let script = crib.write("turns.json", r#"[{"text": " "}]"#);
    let ended = crib
        .run(&["run", "Say nothing.", "--script", &script])
        .expect(0);
    assert!(ended.stderr.contains("(no answer)"), "{ended:#?}");
    let ended = crib
        .run(&[
            "run",
            "Say nothing.",
            "--script",
            &script,
            "--output",
            "stream-json",
        ])
        .expect(0);
    assert!(!ended.stderr.contains("(no answer)"), "{ended:#?}");
}

#[test]
fn a_script_that_cannot_be_played_is_a_usage_error() {
    let crib = Crib::new();
    crib.run(&["run", "x", "--provider", "scripted"]).expect(2);
    crib.run(&["run", "x", "--script", "missing.json"])
        .expect(2);
    crib.run(&["run", "x", "--script", "."]).expect(2);
    for text in [
        "",
        "{}",
        "[{}]",
        "[{\"text\": 1}]",
        "[",
        "\u{1b}",
        r#"[{"text": "a", "text": "b"}]"#,
    ] {
        let script = crib.write("bad.json", text);
        let ended = crib.run(&["run", "x", "--script", &script]).expect(2);
        assert!(ended.stderr.contains("script"), "{text}: {ended:#?}");
    }
}

#[test]
fn a_script_beside_another_provider_is_a_usage_error() {
    let crib = Crib::new();
    let script = crib.write("turns.json", r#"[{"text": "x"}]"#);
    let play = ["run", "time.now", "--script", &script, "--provider"];
    let ended = crib.run(&[&play[..], &["direct"]].concat()).expect(2);
    assert!(
        ended.stderr.contains("--script") && ended.stderr.contains("direct"),
        "{ended:#?}"
    );
    assert!(ended.stdout.is_empty(), "{ended:#?}");
    assert_eq!(
        crib.run(&[&play[..], &["scripted"]].concat())
            .expect(0)
            .stdout,
        "x\n"
    );
}

#[test]
fn a_script_that_ends_too_early_is_a_failed_run() {
    let crib = Crib::new();
    let script = crib.write("turns.json", r#"[{"calls": [{"name": "time.now"}]}]"#);
    let ended = crib.run(&["run", "x", "--script", &script]).expect(1);
    assert!(ended.stderr.contains("no turn left"), "{ended:#?}");
}

#[test]
fn a_step_budget_that_is_used_up_has_its_own_exit() {
    let crib = Crib::new();
    let script = crib.write(
        "turns.json",
        r#"[{"calls": [{"name": "time.now"}]}, {"text": "late"}]"#,
    );
    let script = &script;
    let ended = crib
        .run(&["run", "x", "--script", script, "--max-steps", "1"])
        .expect(7);
    assert!(ended.stderr.contains("--max-steps"), "{ended:#?}");
    crib.run(&["run", "x", "--script", script, "--max-steps", "2"])
        .expect(0);
}

#[test]
fn results_without_a_model_are_shown_even_if_the_steps_run_out() {
    let crib = Crib::new();
    let ended = crib
        .run(&["run", "fs.read path=README.md", "--max-steps", "1"])
        .expect(7);
    assert_eq!(ended.stdout, "# Hello\n");
    assert!(ended.stderr.contains("after 1 step;"), "{ended:#?}");
    let events = crib
        .run(&[
            "run",
            "fs.read path=README.md",
            "--max-steps",
            "1",
            "--output",
            "stream-json",
        ])
        .expect(7)
        .documents();
    assert_eq!(events.last().unwrap()["type"], "outcome");
}

#[test]
fn an_unknown_provider_is_not_found() {
    let ended = Crib::new()
        .run(&["run", "x", "--provider", "nope"])
        .expect(3);
    assert!(
        ended.stderr.contains("direct") && ended.stderr.contains("scripted"),
        "{ended:#?}"
    );
}

#[cfg(not(feature = "default"))]
#[test]
fn an_unlinked_model_provider_names_its_feature() {
    let ended = Crib::new()
        .run(&["run", "x", "--provider", "openai", "--model", "m"])
        .expect(3);
    assert!(ended.stderr.contains("default features"), "{ended:#?}");
}

#[test]
fn a_prompt_that_is_no_tool_call_is_a_usage_error_without_a_model() {
    for prompt in [
        "",
        " ",
        ";",
        "fs.read path='",
        "fs.read {",
        "please look around",
    ] {
        let ended = Crib::new().run(&["run", prompt]);
        assert!(matches!(ended.code, Some(2..=4)), "{prompt:?}: {ended:#?}");
        assert!(
            ended.stderr.contains("error: ") || ended.stderr.contains("failed"),
            "{prompt:?}: {ended:#?}"
        );
    }
}

#[test]
fn without_a_model_a_failed_call_decides_the_exit() {
    let crib = Crib::new();
    crib.run(&["run", "fs.read path=missing"]).expect(1);
    crib.run(&["run", "fs.raed path=README.md"]).expect(3);
    crib.run(&["run", "fs.read path=../secret.txt"]).expect(4);
    crib.run(&["run", "fs.read path=README.md start=x"])
        .expect(4);
    crib.run(&[
        "run",
        "time.now ; fs.read path=/etc/passwd ; fs.read path=missing",
    ])
    .expect(4);
}

#[test]
fn a_refusal_names_the_flags_that_would_grant_it() {
    let crib = Crib::new();
    let prompt = "fs.read path=README.md ; fs.list path=sub ; time.now ; time.now";
    let ended = crib.run(&["run", prompt, "--no-default-grants"]).expect(5);
    let flags = [
        "--grant",
        "clock:read:now",
        "--grant",
        "fs:read:README.md",
        "--grant",
        "fs:read:sub",
    ];
    assert!(
        ended
            .stderr
            .ends_with(&format!("add {}\n", flags.join(" "))),
        "{ended:#?}"
    );
    crib.run(&[&["run", prompt, "--no-default-grants"], &flags[..]].concat())
        .expect(0);
}

#[test]
fn a_session_reaches_no_tool_that_is_not_selected() {
    let crib = Crib::new();
    crib.run(&["run", "time.now", "--select", "time.*"])
        .expect(0);
    let ended = crib
        .run(&["run", "fs.read path=README.md", "--select", "time.*"])
        .expect(3);
    assert!(
        ended
            .stderr
            .contains("does not select fs.read: it selects time.*"),
        "{ended:#?}"
    );
    assert!(
        ended.stderr.contains("--select fs.read") && !ended.stderr.contains("list names all"),
        "{ended:#?}"
    );
    let ended = crib
        .run(&["run", "fs.raed", "--select", "time.*"])
        .expect(3);
    assert!(
        ended.stderr.contains("list names all") && !ended.stderr.contains("not select"),
        "{ended:#?}"
    );
    let ended = crib
        .run(&[
            "run", "time.now", "--select", "time.*", "--select", "tmie.*",
        ])
        .expect(0);
    assert!(
        ended.stderr.contains("no tool matches tmie.*"),
        "{ended:#?}"
    );
}

#[test]
fn a_session_can_read_what_was_cut_out_of_its_results() {
    let ended = Crib::new()
        .run(&["run", "tools.output handle=out-0"])
        .expect(1);
    assert!(
        ended.stderr.contains("there is no output \"out-0\""),
        "{ended:#?}"
    );
}
