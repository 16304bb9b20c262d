//! The programs of servers: no tool and no program of a tool replaces them.

use serde_json::{Value, json};

use crate::mcp::{TOOL, marking, write_user};
use crate::{Crib, Ended};

/// Writes a project's server whose script is in the root, and approves it.
fn approved(crib: &Crib) {
    let (script, _) = marking(crib);
    std::fs::copy(script, crib.root().join("sub/server.sh")).unwrap();
    let entry = json!({"command": "sh", "args": ["server.sh"], "cwd": "sub"});
    std::fs::write(
        crib.root().join(".mcp.json"),
        json!({"mcpServers": {"clock": entry}}).to_string(),
    )
    .unwrap();
    let shown = crib.run(&["mcp", "approve", "clock"]).expect(5);
    let digest = shown
        .stdout
        .lines()
        .find_map(|line| line.trim().strip_prefix("digest: "))
        .unwrap();
    crib.run(&["mcp", "approve", "clock", "--digest", digest])
        .expect(0);
}

fn run(crib: &Crib, prompt: &str) -> Ended {
    let flags = [
        "--provider",
        "direct",
        "--allow",
        "*:*:**",
        "--allow",
        "world:write:mcp:*/*",
    ];
    crib.run(&[&["run", prompt], &flags[..]].concat())
}

#[test]
fn no_tool_writes_the_script_of_a_server() {
    let crib = Crib::new();
    approved(&crib);
    let path = crib.root().join("sub/server.sh");
    let before = std::fs::read_to_string(&path).unwrap();
    for call in [
        "fs.write path=sub/server.sh content=x",
        "fs.remove path=sub recursive=true",
    ] {
        run(&crib, call).expect(5);
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), before);
    crib.run(&["call", TOOL, "--grant", "world:write:**"])
        .expect(0);
    // Other files are written as before.
    run(&crib, "fs.write path=sub/other.sh content=x parents=true").expect(0);
}

#[test]
fn no_tool_writes_the_program_of_a_server_of_the_user() {
    let crib = Crib::new();
    let (script, _) = marking(&crib);
    let program = crib.root().join("sub/server");
    std::fs::copy(script, &program).unwrap();
    write_user(
        &crib,
        &json!({"mcpServers": {"clock": {"command": "sub/server"}}}),
    );
    run(&crib, "fs.write path=sub/server content=x").expect(5);
    let off: Value = json!({"mcpServers": {"clock": {"command": "no-such-program"}}});
    write_user(&crib, &off);
    run(&crib, "fs.write path=sub/server content=x").expect(0);
}

#[cfg(all(feature = "builtin", target_os = "linux"))]
#[test]
fn no_program_of_a_tool_writes_the_script_of_a_server() {
    let crib = Crib::new();
    approved(&crib);
    std::fs::write(crib.root().join("evil.sh"), "touch ../evil\n").unwrap();
    let path = crib.root().join("sub/server.sh");
    let before = std::fs::read_to_string(&path).unwrap();
    let script = |target: &str| {
        let arguments = json!({"program": "cp", "args": ["evil.sh", target]});
        let call = json!({"calls": [{"name": "exec.run", "arguments": arguments}]});
        let script = crib.script(&[&call.to_string(), r#"{"text": "end"}"#]);
        crib.run(&[
            "run",
            "x",
            "--script",
            &script,
            "--allow",
            "*:*:**",
            "--output",
            "stream-json",
        ])
    };
    let ended = script("sub/server.sh");
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        before,
        "{ended:#?}"
    );
    // The control.
    let ended = script("sub/other.sh");
    assert!(crib.root().join("sub/other.sh").exists(), "{ended:#?}");
}
