use serde_json::json;

use crate::Crib;

#[test]
fn a_tool_is_called_with_pairs() {
    let ended = Crib::new()
        .run(&["call", "fs.read", "path=README.md"])
        .expect(0);
    assert_eq!(
        (ended.stdout.as_str(), ended.stderr.as_str()),
        ("# Hello\n", "")
    );
}

#[test]
fn pairs_are_typed_by_the_schema() {
    let crib = Crib::new();
    std::fs::write(crib.root().join("7"), "one\ntwo\nthree\n").unwrap();
    let ended = crib
        .run(&["call", "fs.read", "path=7", "start=2", "end=2"])
        .expect(0);
    assert!(ended.stdout.starts_with("two\n"), "{ended:#?}");
    let ended = crib
        .run(&["call", "fs.read", "path=7", "start=second"])
        .expect(4);
    assert!(ended.stderr.contains("start"), "{ended:#?}");
    crib.run(&["call", "fs.read", "path=7", "path=8"]).expect(4);
}

#[test]
fn json_prints_the_whole_result() {
    let crib = Crib::new();
    let result = crib
        .run(&["call", "fs.read", "path=README.md", "--json"])
        .expect(0)
        .document();
    assert_eq!(
        result["content"][0],
        json!({"type": "text", "text": "# Hello\n"})
    );
    let result = crib
        .run(&["call", "time.now", "--json"])
        .expect(0)
        .document();
    assert!(result["structured"]["unix_seconds"].is_i64(), "{result}");
}

#[test]
fn json_prints_one_document_for_a_failure_as_well() {
    let crib = Crib::new();
    for (arguments, code, kind) in [
        (&["call", "fs.raed"][..], 3, "not_found"),
        (&["call", "fs.read"], 4, "invalid_arguments"),
        (
            &["call", "fs.read", "path=README.md", "--no-default-grants"],
            5,
            "permission_denied",
        ),
        (&["call", "fs.read", "path=missing"], 1, "execution_failed"),
    ] {
        let ended = crib.run(&[arguments, &["--json"]].concat()).expect(code);
        let document = ended.document();
        assert_eq!(document["is_error"], true);
        assert_eq!(document["structured"]["error"]["kind"], kind, "{document}");
        assert!(ended.stderr.starts_with("error: "), "{ended:#?}");
    }
    let unfit = crib
        .run(&["call", "fs.read", "path=a", "start=x", "--json"])
        .expect(4)
        .document();
    assert_eq!(unfit["is_error"], true);
}

#[test]
fn arguments_come_as_json_text() {
    let crib = Crib::new();
    crib.run(&["call", "fs.read", "--args", r#"{"path": "README.md"}"#])
        .expect(0);
    let ended = crib
        .run_with_input(
            &["call", "fs.read", "--args", "-"],
            br#"{"path": "with space.txt"}"#,
        )
        .expect(0);
    assert_eq!(ended.stdout, "spaced\n");
}

#[test]
fn json_text_is_read_strictly() {
    let crib = Crib::new();
    for text in [
        "",
        "{",
        "[]",
        "null",
        "-1",
        r#"{"path": "README.md"} {}"#,
        r#"{"path": "README.md", "path": "sub/inner.txt"}"#,
        r#"{"path": 1.5}"#,
        r#"{"path": "README.md", "nope": 1}"#,
        &format!("{}{}", "[".repeat(100), "]".repeat(100)),
    ] {
        for ended in [
            crib.run(&["call", "fs.read", "--args", text]),
            crib.run_with_input(&["call", "fs.read", "--args", "-"], text.as_bytes()),
        ] {
            assert!(ended.expect(4).stdout.is_empty(), "{text}");
        }
    }
}

#[test]
fn input_that_is_too_long_or_not_text_is_refused() {
    let crib = Crib::new();
    let long = format!(r#"{{"path": "{}"}}"#, "é".repeat(1024 * 1024));
    crib.run_with_input(&["call", "fs.read", "--args", "-"], long.as_bytes())
        .expect(4);
    crib.run_with_input(&["call", "fs.read", "--args", "-"], b"\xff\xfd")
        .expect(2);
}

#[test]
fn an_unknown_tool_gets_near_names() {
    for name in ["fs.raed", "", " ", "\u{1b}[2J", "nö"] {
        let ended = Crib::new().run(&["call", name]).expect(3);
        assert!(
            ended.stdout.is_empty() && !ended.stderr.contains('\u{1b}'),
            "{name:?}: {ended:#?}"
        );
    }
    let crib = Crib::new();
    let misspelt = crib.run(&["call", "fs.raed"]).expect(3).stderr;
    assert!(misspelt.contains("did you mean fs.read?"), "{misspelt}");
    let typed = crib
        .run(&["run", "--provider", "direct", "fs.raed"])
        .expect(3)
        .stderr;
    let unknown = crib.run(&["call", "xyzzy"]).expect(3).stderr;
    for text in [misspelt, typed, unknown] {
        assert!(
            text.contains("toolcrib list") && text.contains("toolcrib search"),
            "{text}"
        );
    }
}

#[test]
fn errors_are_worded_for_people() {
    let crib = Crib::new();
    let error = |arguments: &[&str], code| {
        crib.run(&[&["call"], arguments].concat())
            .expect(code)
            .stderr
    };
    let refused = ["fs.write", "path=x", "content=y"];
    let lines = error(&refused, 5);
    assert_eq!(
        lines.lines().next().unwrap(),
        "error: fs.write needs fs:write:x, but the grant is fs:read:** or 10 other clauses"
    );
    let late = error(&["time.now", "--timeout", "0.000001ms"], 6);
    assert!(
        late.ends_with("set a longer one with --timeout\n"),
        "{late}"
    );
    // In JSON, programs get the error for models.
    let document = crib
        .run(&[&["call"], &refused[..], &["--json"]].concat())
        .expect(5)
        .document();
    let text = document["content"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("the grant is fs:read:** or 10 other clauses; ask for a wider grant"),
        "{document}"
    );
}

#[test]
fn a_tool_of_sessions_names_the_commands_that_have_it() {
    let calls = [
        ("todo.read", json!({})),
        ("llm.generate", json!({"prompt": "x"})),
        ("tools.search", json!({"query": "x"})),
        ("tools.call", json!({"name": "todo.read"})),
    ];
    for (tool, arguments) in calls {
        let ended = Crib::new()
            .run(&["call", tool, "--args", &arguments.to_string()])
            .expect(10);
        assert!(ended.stderr.contains("only a session"), "{ended:#?}");
    }
}

#[test]
fn a_failing_tool_is_a_failure() {
    let ended = Crib::new()
        .run(&["call", "fs.read", "path=missing"])
        .expect(1);
    assert!(
        ended.stdout.is_empty() && ended.stderr.starts_with("error: fs.read failed: "),
        "{ended:#?}"
    );
    assert!(!ended.stderr.contains("hint: "), "{ended:#?}");
}

#[test]
fn nothing_outside_of_the_root_is_read() {
    let crib = Crib::new();
    let absolute = crib.dir.path().join("secret.txt");
    let absolute = absolute.to_str().unwrap();
    for path in ["../secret.txt", "sub/../../secret.txt", absolute, "..", "/"] {
        for grant in [&[][..], &["--grant", "*:*:**"]] {
            let ended = crib
                .run(&[&["call", "fs.read", &format!("path={path}")], grant].concat())
                .expect(4);
            assert!(!ended.stdout.contains("secret"), "{ended:#?}");
        }
    }
}

#[test]
fn another_root_is_another_place() {
    let crib = Crib::new();
    let ended = crib
        .run(&["call", "fs.read", "path=inner.txt", "--root", "sub"])
        .expect(0);
    assert_eq!(ended.stdout, "inner\n");
    crib.run(&["call", "fs.read", "path=README.md", "--root", "sub"])
        .expect(1);
}

#[test]
fn a_refusal_names_the_flag_that_grants_it_and_the_flag_works() {
    let crib = Crib::new();
    for (path, flag) in [
        ("README.md", "--grant fs:read:README.md"),
        ("./sub/../sub//inner.txt", "--grant fs:read:sub/inner.txt"),
        ("with space.txt", "--grant 'fs:read:with space.txt'"),
    ] {
        let arguments = [
            "call",
            "fs.read",
            &format!("path={path}"),
            "--no-default-grants",
        ];
        let ended = crib.run(&arguments).expect(5);
        assert!(ended.stdout.is_empty(), "{ended:#?}");
        assert!(
            ended.stderr.ends_with(&format!("add {flag}\n")),
            "{ended:#?}"
        );
        let clause = flag.trim_start_matches("--grant ").trim_matches('\'');
        crib.run(&[&arguments[..], &["--grant", clause]].concat())
            .expect(0);
    }
    let ended = crib
        .run(&["call", "time.now", "--no-default-grants"])
        .expect(5);
    assert!(
        ended.stderr.contains("--grant clock:read:now\n"),
        "{ended:#?}"
    );
    // The person who types a call consents to it, also to one that a session would ask about.
    let remove = ["call", "fs.remove", "path=README.md"];
    let ended = crib.run(&remove).expect(5);
    assert!(
        ended.stderr.ends_with("add --grant fs:destroy:README.md\n"),
        "{ended:#?}"
    );
    crib.run(&[&remove[..], &["--grant", "fs:destroy:README.md"]].concat())
        .expect(0);
}
