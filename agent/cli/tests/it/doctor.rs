use crate::Crib;
use crate::config::write_user;

#[test]
fn the_program_as_it_is_built_has_no_problems() {
    let ended = Crib::new().run(&["doctor"]).expect(0);
    assert!(
        ended.stdout.starts_with("ok: ") && ended.stderr.is_empty(),
        "{ended:#?}"
    );
    assert!(
        Crib::new()
            .run(&["doctor", "--json"])
            .expect(0)
            .documents()
            .is_empty()
    );
}

#[test]
fn a_finding_decides_the_exit() {
    let crib = Crib::new();
    let ended = crib.run(&["doctor", "--root", "missing"]).expect(8);
    assert!(
        ended.stdout.contains("missing") && ended.stdout.contains("--root"),
        "{ended:#?}"
    );
    #[cfg(feature = "default")]
    assert!(
        ended.stdout.contains("speech: espeak-ng, not checked"),
        "{ended:#?}"
    );
    let findings = crib
        .run(&["doctor", "--root", "missing", "--json"])
        .expect(8)
        .documents();
    assert!(
        findings.len() == 1 && findings[0]["check"] == "root",
        "{findings:?}"
    );
}

#[test]
fn the_report_begins_with_the_problems_and_the_command_that_fixes_each() {
    let crib = Crib::new();
    write_user(&crib, "modle = 'x'");
    let report = crib.run(&["doctor", "--root", "missing"]).expect(8).stdout;
    let lines: Vec<_> = report
        .lines()
        .filter(|line| !line.starts_with(' '))
        .collect();
    assert_eq!(lines[0], "2 problems", "{report}");
    for (at, check, fix) in [
        (1, "root: ", "fix: toolcrib doctor --root DIR"),
        (3, "settings: ", "fix: toolcrib config --help"),
    ] {
        assert!(
            lines[at].starts_with(check) && lines[at + 1] == fix,
            "{report}"
        );
    }
    let findings = crib.run(&["doctor", "--json"]).expect(8).documents();
    assert_eq!(findings[0]["fix"], "toolcrib config --help");
}

#[test]
fn without_a_provider_the_report_says_how_to_get_one() {
    let report = Crib::new().run(&["doctor"]).expect(0).stdout;
    assert!(
        report.contains("for a model on this machine") && report.contains("--provider direct"),
        "{report}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_root_that_is_not_utf_8_is_refused_before_anything_is_read_for_it() {
    use std::os::unix::ffi::OsStrExt as _;

    let crib = Crib::new();
    let root = crib.dir.path().join(std::ffi::OsStr::from_bytes(b"a\xff"));
    std::fs::create_dir(&root).unwrap();
    let run =
        |arguments: &[&str]| crate::ended(crib.command(arguments).arg("--root").arg(&root), b"");
    let reason = "its path is not UTF-8; choose a directory with --root";
    let findings = run(&["doctor", "--json"]).expect(8).documents();
    assert!(
        findings[0]["message"].as_str().unwrap().ends_with(reason),
        "{findings:?}"
    );
    for command in [
        &["run", "--provider", "direct", "fs.list path=."][..],
        &["cron", "list"],
        &["skills"],
        &["serve"],
    ] {
        assert!(
            run(command).expect(2).stderr.contains(reason),
            "{command:?}"
        );
    }
}

#[test]
fn the_provider_of_a_session_is_shown_and_a_mistake_in_the_settings_is_a_finding() {
    let crib = Crib::new();
    assert!(
        crib.run(&["doctor"])
            .expect(0)
            .stdout
            .contains("provider: no provider is configured")
    );
    write_user(&crib, "provider = 'direct'");
    assert!(
        crib.run(&["doctor"])
            .expect(0)
            .stdout
            .contains("provider: direct\n")
    );
    write_user(&crib, "modle = 'x'");
    let findings = crib.run(&["doctor", "--json"]).expect(8).documents();
    assert_eq!(findings[0]["check"], "settings");
    assert!(
        findings[0]["message"]
            .as_str()
            .unwrap()
            .contains("did you mean model?"),
        "{findings:?}"
    );
    crib.run(&["doctor", "--no-config"]).expect(0);
}

#[cfg(feature = "default")]
#[test]
fn a_provider_that_a_session_could_not_use_is_a_finding_in_the_words_of_run() {
    let crib = Crib::new();
    for variables in [
        &[("TOOLCRIB_PROVIDER", "opnai")][..],
        &[("TOOLCRIB_PROVIDER", "ollama")],
        &[("TOOLCRIB_PROVIDER", "scripted")],
        &[
            ("TOOLCRIB_PROVIDER", "openai"),
            ("TOOLCRIB_MODEL", "x"),
            ("TOOLCRIB_KEY_FILE", "nosuch"),
        ],
    ] {
        let run = |arguments: &[&str]| {
            crate::ended(crib.command(arguments).envs(variables.iter().copied()), b"")
        };
        let finding = run(&["doctor", "--json"]).expect(8).document();
        let (check, message) = (&finding["check"], finding["message"].as_str().unwrap());
        let refused = run(&["run", "x"]);
        assert!(
            check == "provider" && refused.stderr.contains(message),
            "{finding} {refused:#?}"
        );
    }
    let providers = crate::ended(
        crib.command(&["providers"])
            .env("TOOLCRIB_PROVIDER", "opnai"),
        b"",
    )
    .expect(0);
    assert!(
        providers.stderr.contains("opnai") && providers.stdout.contains("openai"),
        "{providers:#?}"
    );
}

#[cfg(feature = "default")]
#[test]
fn servers_are_shown_and_a_mistake_in_their_file_is_a_finding() {
    let crib = Crib::new();
    crate::mcp_server::add(&crib, &serde_json::json!({}));
    assert!(
        crib.run(&["doctor"])
            .expect(0)
            .stdout
            .contains("MCP server s (yours): ready, not used yet")
    );
    let document = crib.run(&["doctor", "--json"]).expect(0).document();
    let expected =
        serde_json::json!({"server": "s", "file": "user", "standing": "ready, not used yet"});
    assert_eq!(document, expected);
    std::fs::write(crib.root().join(".mcp.json"), "{").unwrap();
    let findings = crib.run(&["doctor", "--json"]).expect(8).documents();
    assert_eq!(findings[0]["check"], "mcp");
    assert!(
        findings[0]["message"]
            .as_str()
            .unwrap()
            .contains(".mcp.json"),
        "{findings:?}"
    );
}

#[cfg(feature = "default")]
#[test]
fn a_server_that_cannot_be_used_is_a_finding_and_others_are_shown() {
    let crib = Crib::new();
    let servers = serde_json::json!({"absent": {"command": "no-such-program"}, "off": {"command": "x", "disabled": 1}});
    crate::mcp::write_user(&crib, &serde_json::json!({"mcpServers": servers}));
    std::fs::write(crib.root().join(".mcp.json"), "{").unwrap();
    let documents = crib.run(&["doctor", "--json"]).expect(8).documents();
    let findings = documents
        .iter()
        .filter(|document| document["check"] == "mcp")
        .count();
    let shown = documents
        .iter()
        .filter(|document| document["file"] == "user")
        .count();
    assert_eq!((findings, shown), (3, 2), "{documents:?}");
}
