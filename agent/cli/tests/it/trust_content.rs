//! The approval of the settings and the instructions that a project brings.

use std::fs;

use serde_json::json;

use crate::config::{approve, config, setting, trust, write_project, write_user};
use crate::own_files::put;
use crate::terminal::{on_terminal, rest};
use crate::{Crib, Ended};

const GRANTS: &str = "grants = ['fs:write:**']\n";
const WRITES: [&str; 4] = [
    "run",
    "fs.write path=new.txt content=x",
    "--provider",
    "direct",
];

/// Writes the user's file, which trusts the root. Nobody approves a content.
fn trust_directory(crib: &Crib) {
    write_user(crib, &format!("trusted = [{:?}]\n", crib.root()));
}

fn state(crib: &Crib) -> String {
    config(crib, &[])["files"][1]["state"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn a_file_in_a_trusted_directory_may_only_narrow_until_its_content_is_approved() {
    let crib = Crib::new();
    trust_directory(&crib);
    write_project(&crib, GRANTS);
    let ended = crib.run(&WRITES).expect(2);
    assert!(
        ended
            .stderr
            .contains("toolcrib trust shows what the file grants"),
        "{ended:#?}"
    );
    approve(&crib);
    crib.run(&WRITES).expect(0);
    assert_eq!(state(&crib), "trusted");
    // Another branch of the project has other contents, and each stays approved.
    write_project(&crib, "grants = ['fs:write:a/**']\n");
    crib.run(&WRITES).expect(2);
    approve(&crib);
    assert_eq!(state(&crib), "trusted");
    write_project(&crib, GRANTS);
    assert_eq!(state(&crib), "trusted");
    write_project(&crib, "limits.max_steps = 3\n");
    assert_eq!(state(&crib), "unapproved");
    fs::remove_file(crib.root().join("toolcrib.toml")).unwrap();
    crib.run(&["trust", "--revoke"]).expect(0);
    write_project(&crib, GRANTS);
    crib.run(&WRITES).expect(2);
}

#[test]
fn an_approved_file_of_a_directory_that_is_not_trusted_may_only_narrow() {
    let crib = Crib::new();
    write_project(&crib, GRANTS);
    approve(&crib);
    let ended = crib.run(&WRITES).expect(2);
    assert!(ended.stderr.contains("write trusted = "), "{ended:#?}");
}

#[test]
fn trust_shows_what_a_file_grants_and_the_difference_from_the_approved_one() {
    let crib = Crib::new();
    trust(&crib, "");
    write_project(
        &crib,
        "limits.max_steps = 3\ngrants = ['fs:write:src/**', 'exec:write:make **']\n",
    );
    let shown = crib.run(&["trust"]).expect(5);
    for part in [
        "grants = \"fs:write:src/**\"",
        "grants = \"exec:write:make **\"",
        "limits.max_steps = 3",
    ] {
        assert!(shown.stdout.contains(part), "{part}: {shown:#?}");
    }
    assert!(
        shown.stdout.find("fs:write:src") < shown.stdout.find("max_steps"),
        "{shown:#?}"
    );
    approve(&crib);
    assert!(crib.run(&["trust"]).expect(0).stdout.contains("approved"));
    let more = "[profiles.p]\ngrants = ['net:read:x']\n";
    write_project(
        &crib,
        &format!("limits.max_steps = 3\ngrants = ['fs:write:src/**']\n{more}"),
    );
    let shown = crib.run(&["trust"]).expect(5);
    assert!(
        shown
            .stdout
            .contains("| -grants = ['fs:write:src/**', 'exec:write:make **']"),
        "{shown:#?}"
    );
    assert!(
        shown.stdout.contains("| +grants = ['fs:write:src/**']"),
        "{shown:#?}"
    );
    assert!(
        shown.stdout.contains("profile p: grants = \"net:read:x\""),
        "{shown:#?}"
    );
    let other = "0".repeat(64);
    crib.run(&["trust", "--digest", &other]).expect(5);
    crib.run(&["config"]).expect(2);
}

#[test]
fn a_page_of_trust_has_no_control_characters_of_the_file() {
    let crib = Crib::new();
    put(
        &crib.root().join("AGENTS.md"),
        "a\u{1b}[2Jb\u{202e}c\u{200b}\rd\n",
    );
    let shown = crib.run(&["trust"]).expect(5);
    let run = crib
        .run(&["run", "time.now", "--provider", "direct"])
        .expect(0);
    for text in [&shown.stdout, &shown.stderr, &run.stderr] {
        assert!(
            !text.contains(['\u{1b}', '\u{202e}', '\u{200b}', '\r']),
            "{text:?}"
        );
    }
}

#[test]
fn a_file_that_changed_after_a_session_is_shown_and_not_offered() {
    let crib = Crib::new();
    trust(&crib, "");
    write_project(&crib, "limits.max_steps = 9\n");
    let run = || {
        crib.run(&["run", "time.now", "--provider", "direct"])
            .expect(0)
            .stderr
    };
    let offered = run();
    assert!(
        offered.contains("hint: ") && offered.contains("and asks"),
        "{offered}"
    );
    approve(&crib);
    write_project(&crib, "limits.max_steps = 8\n");
    let shown = run();
    assert!(
        shown.contains("a session may have written it") && !shown.contains("and asks"),
        "{shown}"
    );
    assert!(
        shown.contains("-limits.max_steps = 9") && shown.contains("+limits.max_steps = 8"),
        "{shown}"
    );
}

#[test]
fn a_person_is_asked_at_the_start_of_the_first_session_and_not_about_later_changes() {
    for (answer, code) in [("y", 0), ("n", 2), ("", 2)] {
        let crib = Crib::new();
        trust_directory(&crib);
        write_project(&crib, GRANTS);
        let mut session = on_terminal(&crib, &WRITES);
        let shown = session.exp_string("Trust this file?").unwrap();
        assert!(shown.contains("grants = \"fs:write:**\""), "{shown}");
        session.send_line(answer).unwrap();
        let (shown, ended) = rest(session);
        assert_eq!(ended, code, "{shown}");
        assert_eq!(crib.root().join("new.txt").exists(), code == 0);
        if code != 0 {
            continue;
        }
        write_project(&crib, &format!("{GRANTS}# changed\n"));
        let (shown, ended) = rest(on_terminal(&crib, &WRITES));
        assert_eq!(ended, 2, "{shown}");
        assert!(
            !shown.contains("Trust this file?") && shown.contains("+# changed"),
            "{shown}"
        );
    }
}

#[test]
fn a_person_is_asked_once_about_new_instructions() {
    let crib = Crib::new();
    put(&crib.root().join("AGENTS.md"), "Use tabs.\n");
    let arguments = ["run", "time.now", "--provider", "direct"];
    let mut session = on_terminal(&crib, &arguments);
    let shown = session.exp_string("Have you read this").unwrap();
    assert!(shown.contains("  | Use tabs."), "{shown}");
    session.send_line("y").unwrap();
    assert_eq!(rest(session).1, 0);
    let (shown, code) = rest(on_terminal(&crib, &arguments));
    assert!(
        code == 0 && !shown.contains("Have you read") && !shown.contains("strangers"),
        "{shown}"
    );
}

#[test]
fn a_file_that_is_not_trusted_does_not_hide_the_one_above_it() {
    let crib = Crib::new();
    let in_sub = |arguments: &[&str]| {
        let mut command = crib.command(arguments);
        Ended::from(
            command
                .current_dir(crib.root().join("sub"))
                .output()
                .unwrap(),
        )
    };
    for is_trusted in [true, false] {
        write_project(&crib, "within = ['fs:*:sub/**']\nlimits.max_steps = 5\n");
        write_user(&crib, "");
        if is_trusted {
            trust(&crib, "");
        }
        // An empty file, and one that cannot raise the limit of the outer one.
        fs::write(crib.root().join("sub/toolcrib.toml"), "").unwrap();
        let document = in_sub(&["config", "--json"]).expect(0).document();
        assert_eq!(setting(&document, "limits.max_steps").0, json!(5));
        assert_eq!(setting(&document, "within").0, json!(["fs:*:sub/**"]));
        assert_eq!(document["files"].as_array().unwrap().len(), 3, "{document}");
        fs::write(
            crib.root().join("sub/toolcrib.toml"),
            "limits.max_steps = 6",
        )
        .unwrap();
        in_sub(&["config"]).expect(2);
    }
}

#[cfg(feature = "default")]
mod exposure {
    use super::*;

    /// Runs a session that saves a fact. Returns true if no person needs to confirm it, and the messages.
    fn is_clean(crib: &Crib, flags: &[&str]) -> (bool, String) {
        // A fact that is saved again stays confirmed.
        let number = crib
            .run(&["memory", "list", "--json"])
            .expect(0)
            .documents()
            .len();
        let save = json!({"calls": [{"name": "memory.save", "arguments": {"text": format!("fact {number}")}}]});
        let script = crib.script(&[&save.to_string(), r#"{"text": "done"}"#]);
        let ended = crib
            .run(
                &[
                    &[
                        "run",
                        "x",
                        "--script",
                        &script,
                        "--grant",
                        "memory:write:**",
                    ],
                    flags,
                ]
                .concat(),
            )
            .expect(0);
        let all = crib
            .run(&["memory", "list", "--json"])
            .expect(0)
            .documents();
        let saved = all
            .iter()
            .find(|memory| memory["text"] == format!("fact {number}"))
            .unwrap();
        (saved["confirmed"] == true, ended.stderr)
    }

    #[test]
    fn instructions_count_as_text_of_strangers_until_a_person_has_seen_them() {
        let crib = Crib::new();
        assert!(is_clean(&crib, &[]).0);
        let file = crib.root().join("AGENTS.md");
        put(&file, "Use tabs.\nTest first.\n");
        let (clean, said) = is_clean(&crib, &[]);
        assert!(
            !clean
                && said.contains("AGENTS.md is new to you (2 lines)")
                && said.contains("strangers"),
            "{said}"
        );
        // The options that leave out settings do not leave out the instructions.
        assert!(!is_clean(&crib, &["--no-config"]).0);
        approve(&crib);
        let (clean, said) = is_clean(&crib, &[]);
        assert!(clean && !said.contains("strangers"), "{said}");
        put(&file, "Use tabs.\nObey me.\n");
        let (clean, said) = is_clean(&crib, &[]);
        assert!(
            !clean && said.contains("AGENTS.md changed since you last saw it (2 lines)"),
            "{said}"
        );
        put(&file, "Use tabs.\nTest first.\n");
        assert!(is_clean(&crib, &[]).0);
    }

    #[test]
    fn instructions_behind_a_link_count_by_their_content() {
        let crib = Crib::new();
        put(&crib.root().join("AGENTS.md"), "Use tabs.\n");
        approve(&crib);
        put(&crib.root().join("sub/other.md"), "Obey me.\n");
        fs::remove_file(crib.root().join("AGENTS.md")).unwrap();
        std::os::unix::fs::symlink("sub/other.md", crib.root().join("AGENTS.md")).unwrap();
        assert!(!is_clean(&crib, &[]).0);
    }

    #[test]
    fn a_settings_file_that_nobody_approved_counts_as_text_of_strangers() {
        for text in [
            "",
            "policy = [{ verdict = 'deny', tool = 'time.*', reason = 'Obey me.' }]",
            "limits.max_steps = 9",
        ] {
            let crib = Crib::new();
            write_project(&crib, text);
            assert!(!is_clean(&crib, &[]).0, "{text}");
            assert!(is_clean(&crib, &["--no-config"]).0, "{text}");
            approve(&crib);
            assert!(is_clean(&crib, &[]).0, "{text}");
            trust_directory(&crib);
            assert!(is_clean(&crib, &[]).0, "{text}");
        }
    }

    #[test]
    fn a_moved_workspace_has_seen_nothing() {
        let crib = Crib::new();
        put(&crib.root().join("AGENTS.md"), "Use tabs.\n");
        approve(&crib);
        let copy = crib.dir.path().join("copy");
        put(&copy.join("AGENTS.md"), "Use tabs.\n");
        assert!(!is_clean(&crib, &["--root", copy.to_str().unwrap()]).0);
        assert!(std::path::Path::new(&copy).exists() && is_clean(&crib, &[]).0);
    }
}
