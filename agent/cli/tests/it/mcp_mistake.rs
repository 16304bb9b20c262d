//! Mistakes in files of servers, and files that are none.

use std::os::unix::fs::symlink;
use std::process::Stdio;

use serde_json::json;

use crate::Crib;
use crate::mcp::{SERVE, TOOL, program, write_user};

fn clock() -> serde_json::Value {
    json!({"command": program(), "args": SERVE})
}

#[test]
fn a_field_of_the_users_decisions_that_is_unknown_is_a_mistake_of_its_server() {
    let crib = Crib::new();
    let mut entry = clock();
    entry["toolcrib"] = json!({"grnt": ["fs:read:**"]});
    write_user(&crib, &json!({"mcpServers": {"clock": entry}}));
    let refused = crib.run(&["mcp", "test", "clock"]).expect(2);
    let text = refused.stderr.replace('\n', " ");
    assert!(
        text.contains("mcpServers.clock.toolcrib.grnt") && text.contains("`grant`"),
        "{refused:#?}"
    );
}

#[test]
fn effects_that_are_no_effects_and_effects_of_no_tool_are_reported() {
    let crib = Crib::new();
    let mut entry = clock();
    entry["toolcrib"] = json!({"effects": {"*": "readonly"}});
    write_user(&crib, &json!({"mcpServers": {"clock": entry}}));
    let refused = crib.run(&["mcp", "test", "clock"]).expect(2);
    assert!(refused.stderr.contains("\"read_only\""), "{refused:#?}");
    entry["toolcrib"] = json!({"effects": {"time.noww": "read_only", "time.now": "read_only"}});
    write_user(&crib, &json!({"mcpServers": {"clock": entry}}));
    for command in ["test", "tools", "approve"] {
        let ended = crib.run(&["mcp", command, "clock"]).expect(0);
        let text = ended.stderr.replace('\n', " ");
        assert!(
            text.contains("time.noww") && !text.contains("\"time.now\""),
            "{ended:#?}"
        );
    }
}

#[test]
fn a_mistake_in_the_file_of_a_project_affects_no_server_of_the_user() {
    let crib = Crib::new();
    write_user(&crib, &json!({"mcpServers": {"clock": clock()}}));
    std::fs::write(
        crib.root().join(".mcp.json"),
        "{\"mcpServers\": {\"a\": {\"command\": \"x\"},}}",
    )
    .unwrap();
    let called = crib
        .run(&["call", TOOL, "--grant", "world:write:**"])
        .expect(0);
    let warnings = called
        .stderr
        .lines()
        .filter(|line| line.contains(".mcp.json"))
        .count();
    assert_eq!(warnings, 1, "{called:#?}");
    for arguments in [
        &["mcp", "list"][..],
        &["mcp", "test", "clock"],
        &["mcp", "tools", "clock"],
    ] {
        let ended = crib.run(arguments).expect(0);
        assert!(
            ended.stdout.contains("clock") && ended.stderr.contains(".mcp.json"),
            "{ended:#?}"
        );
    }
    // The file of the project is not replaced by one without its servers.
    crib.run(&["mcp", "add", "b", "--project", "--", "x"])
        .expect(2);
    crib.run(&["mcp", "remove", "a", "--project"]).expect(2);
    crib.run(&["mcp", "remove", "clock"]).expect(0);
    let text = std::fs::read_to_string(crib.root().join(".mcp.json")).unwrap();
    assert!(text.ends_with(",}}"), "{text}");
}

#[test]
fn only_a_regular_file_of_the_project_itself_is_its_file_of_servers() {
    let crib = Crib::new();
    let file = crib.root().join(".mcp.json");
    let outside = crib.write(
        "outside.json",
        &json!({"mcpServers": {"clock": clock()}}).to_string(),
    );
    let fifo = crib.root().join("fifo");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    for target in ["/dev/stdin", "/dev/tty", "fifo", "sub", &outside] {
        symlink(target, &file).unwrap();
        // Standard input stays open, and nothing comes.
        let mut command = crib.command(&["mcp", "list"]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let ended: crate::Ended = child.wait_with_output().unwrap().into();
        drop(input);
        let ended = ended.expect(0);
        assert!(
            !ended.stdout.contains("clock") && ended.stderr.contains(".mcp.json"),
            "{target}: {ended:#?}"
        );
        std::fs::remove_file(&file).unwrap();
    }
    std::fs::write(
        crib.root().join("sub/servers.json"),
        json!({"mcpServers": {"clock": clock()}}).to_string(),
    )
    .unwrap();
    symlink("sub/servers.json", &file).unwrap();
    let listed = crib.run(&["mcp", "list"]).expect(0);
    assert!(listed.stdout.contains("clock (project)"), "{listed:#?}");
}
