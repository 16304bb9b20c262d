//! The approval of a project's servers and of tools.

use serde_json::{Value, json};

use crate::mcp::{TOOL, marking, write_user};
use crate::{Crib, Ended};

fn write_project(crib: &Crib, entry: &Value) {
    let document = json!({"mcpServers": {"clock": entry}});
    std::fs::write(crib.root().join(".mcp.json"), document.to_string()).unwrap();
}

/// Returns the digest that an approval has shown.
pub(crate) fn digest(shown: &Ended) -> String {
    let line = shown
        .stdout
        .lines()
        .find_map(|line| line.trim().strip_prefix("digest: "));
    line.unwrap_or_else(|| panic!("{shown:#?}")).to_owned()
}

fn approve(crib: &Crib) -> Ended {
    let shown = crib.run(&["mcp", "approve", "clock"]).expect(5);
    crib.run(&["mcp", "approve", "clock", "--digest", &digest(&shown)])
        .expect(0)
}

#[test]
fn a_projects_server_does_not_start_before_it_is_approved_nor_after_a_change() {
    let crib = Crib::new();
    let (script, mark) = marking(&crib);
    for (args, is_disabled) in [(json!([]), false), (json!(["more"]), true)] {
        write_project(
            &crib,
            &json!({"command": script, "args": args, "disabled": is_disabled}),
        );
        for arguments in [
            &["list"][..],
            &["run", "--provider", "direct", "fs.read path=README.md"],
            &["system"],
            &["doctor"],
            &["mcp", "list"],
        ] {
            let ended = crib.run(arguments);
            assert!(
                !ended.stdout.contains("mcp:clock") && !mark.exists(),
                "{ended:#?}"
            );
        }
        for arguments in [
            ["mcp", "test", "clock"],
            ["mcp", "tools", "clock"],
            ["mcp", "approve", "clock"],
        ] {
            crib.run(&arguments).expect(5);
        }
        let forged = "0".repeat(64);
        let wrong = crib
            .run(&["mcp", "approve", "clock", "--digest", &forged])
            .expect(5);
        assert!(
            wrong.stderr.contains(&format!("not {forged}")),
            "{wrong:#?}"
        );
        assert!(!mark.exists());
        let listed = crib.run(&["list"]).expect(0);
        assert_eq!(
            listed.stderr.contains("mcp approve clock"),
            !is_disabled,
            "{listed:#?}"
        );

        assert!(approve(&crib).stdout.contains("1 tool approved"));
        assert!(mark.exists());
        write_project(&crib, &json!({"command": script, "args": args}));
        assert!(crib.run(&["list"]).expect(0).stdout.contains(TOOL));
        crib.run(&["call", TOOL, "--grant", "world:write:**"])
            .expect(0);
        std::fs::remove_file(&mark).unwrap();
    }
    write_project(&crib, &json!({"command": script, "args": ["other"]}));
    let shown = crib.run(&["mcp", "approve", "clock"]).expect(5).stdout;
    assert!(
        shown.contains(r#"args: ["other"]"#) && shown.contains(r#"approved before: ["more"]"#),
        "{shown}"
    );
    crib.run(&["call", TOOL, "--grant", "world:write:**"])
        .expect(3);
}

#[test]
fn an_approval_shows_the_program_and_no_value_of_a_variable() {
    let crib = Crib::new();
    let (script, _) = marking(&crib);
    write_project(
        &crib,
        &json!({"command": script, "args": ["${SECRET}"], "env": {"KEY": "${SECRET}"}}),
    );
    let run =
        |arguments: &[&str]| crate::ended(crib.command(arguments).env("SECRET", "hunter2"), b"");
    // The server is shown before it gets a variable, and does not get it with the digest alone.
    let first = run(&["mcp", "approve", "clock"]).expect(5);
    assert!(
        first.stdout.contains("asks for the variables: SECRET"),
        "{first:#?}"
    );
    let wrong = run(&["mcp", "approve", "clock", "--digest", &"0".repeat(64)]).expect(5);
    assert!(
        wrong
            .stderr
            .contains(&format!("the digest of this server is {}", digest(&first))),
        "{wrong:#?}"
    );
    let refused = run(&["mcp", "approve", "clock", "--digest", &digest(&first)]).expect(5);
    assert!(
        refused
            .stderr
            .replace('\n', " ")
            .contains("add --variable SECRET"),
        "{refused:#?}"
    );
    run(&["mcp", "test", "clock"]).expect(5);
    let shown = run(&["mcp", "approve", "clock", "--variable", "SECRET"]).expect(5);
    for text in [
        r#"args: ["${SECRET}"]"#,
        r#"env: {"KEY":"${SECRET}"}"#,
        "executable: ",
        "gets the variables: SECRET",
    ] {
        assert!(shown.stdout.contains(text), "{text}: {shown:#?}");
    }
    assert!(!shown.stdout.contains("hunter2"));
    run(&[
        "mcp",
        "approve",
        "clock",
        "--variable",
        "SECRET",
        "--digest",
        &digest(&shown),
    ])
    .expect(0);
    run(&["mcp", "test", "clock"]).expect(0);
    // The list is for this workspace and server.
    let written = std::fs::read_to_string(crate::mcp::user_file(&crib)).unwrap();
    let written: Value = serde_json::from_str(&written).unwrap();
    let workspace = crib.root().canonicalize().unwrap();
    let projects = &written["toolcrib"]["projects"][workspace.to_str().unwrap()];
    assert_eq!(projects, &json!({"clock": {"variables": ["SECRET"]}}));
    // Another variable needs approval again, and says how.
    write_project(
        &crib,
        &json!({"command": script, "args": ["${SECRET}", "${HOME:-x}", "${OTHER}"]}),
    );
    let shown = run(&["mcp", "approve", "clock", "--variable", "OTHER"]).expect(5);
    run(&["mcp", "approve", "clock", "--digest", &digest(&shown)]).expect(5);
    // A server of the same name does not have the variables of one that was removed.
    run(&["mcp", "remove", "clock", "--project"]).expect(0);
    let written = std::fs::read_to_string(crate::mcp::user_file(&crib)).unwrap();
    assert!(!written.contains("SECRET"), "{written}");
}

#[test]
fn a_new_tool_of_a_known_server_waits_for_approval() {
    let crib = Crib::new();
    let (script, _) = marking(&crib);
    crib.run(&["mcp", "add", "clock", "--", &script]).expect(0);
    crib.run(&["mcp", "test", "clock"]).expect(0);
    crib.write("select", "{time.now,fs.list}");
    let tested = crib.run(&["mcp", "test", "clock"]).expect(0).stdout;
    assert!(
        tested.contains(" 1 tool,") && tested.contains("for approval"),
        "{tested}"
    );
    assert!(
        crib.run(&["mcp", "tools", "clock"])
            .expect(0)
            .stdout
            .contains("new, not approved")
    );
    let shown = crib.run(&["mcp", "approve", "clock"]).expect(5);
    assert!(
        shown.stdout.contains("mcp:clock/fs.list") && shown.stdout.contains("is new:"),
        "{shown:#?}"
    );
    crib.run(&["mcp", "approve", "clock", "--digest", &digest(&shown)])
        .expect(0);
    let tested = crib.run(&["mcp", "test", "clock"]).expect(0).stdout;
    assert!(!tested.contains("for approval"), "{tested}");
}

#[test]
fn a_project_neither_declares_effects_nor_replaces_the_users_server() {
    let crib = Crib::new();
    let (script, mark) = marking(&crib);
    let widening = json!({"variables": ["HOME"], "effects": {"*": "pure"}, "grant": ["*:*:**"]});
    write_project(&crib, &json!({"command": script, "toolcrib": widening}));
    approve(&crib);
    let shown = crib.run(&["show", TOOL, "--json"]).expect(0).document();
    assert!(shown.get("effects").is_none(), "{shown}");
    std::fs::remove_file(&mark).unwrap();

    write_user(
        &crib,
        &json!({"mcpServers": {"clock": {"command": "no-such-program"}}}),
    );
    let listed = crib.run(&["mcp", "list"]).expect(0).stdout;
    assert!(
        listed.contains("clock (user)") && !listed.contains("clock (project)"),
        "{listed}"
    );
    crib.run(&["call", TOOL, "--grant", "world:write:**"])
        .expect(3);
    assert!(!mark.exists());
}

#[test]
fn a_working_directory_behind_a_link_is_approved_with_its_target() {
    let crib = Crib::new();
    let (script, mark) = marking(&crib);
    for folder in ["good", "other"] {
        std::fs::create_dir(crib.root().join(folder)).unwrap();
    }
    let link = crib.root().join("here");
    std::os::unix::fs::symlink("good", &link).unwrap();
    write_project(&crib, &json!({"command": script, "cwd": "here"}));
    let shown = crib.run(&["mcp", "approve", "clock"]).expect(5);
    assert!(shown.stdout.contains("root/good"), "{shown:#?}");
    approve(&crib);
    std::fs::remove_file(&mark).unwrap();
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("other", &link).unwrap();
    assert!(
        crib.run(&["mcp", "list"])
            .expect(0)
            .stdout
            .contains("has changed since it was approved (cwd)")
    );
    crib.run(&["mcp", "test", "clock"]).expect(5);
    assert!(!mark.exists());
}
