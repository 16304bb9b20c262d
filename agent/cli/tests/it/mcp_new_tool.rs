//! Tools that a server adds or changes while a session runs.

use serde_json::{Value, json};

use crate::mcp::write_user;
use crate::{Crib, mcp_server};

/// Runs a session whose first call appends `text` to the description of the server's tools, and which then calls the tool. Returns the
/// result of that call.
fn called_after(text: &str, notifies: bool, tool: &str) -> Value {
    let crib = Crib::new();
    let file = crib.write("description", "One.");
    write_user(
        &crib,
        &json!({"mcpServers": {"s": mcp_server::entry(&format!("@{file}"), true)}}),
    );
    crib.run(&["mcp", "test", "s"]).expect(0);
    let mut append = json!({"path": file, "append": text});
    if notifies {
        append["notify"] = json!(true);
    }
    let call = |name: &str, arguments: &Value| {
        json!({"calls": [{"name": name, "arguments": arguments}]}).to_string()
    };
    let turns = [
        call("mcp:s/read", &append),
        call(tool, &json!({"path": file})),
        json!({"text": "end"}).to_string(),
    ];
    let script = crib.script(&[&turns[0], &turns[1], &turns[2]]);
    let run = [
        "run",
        "x",
        "--script",
        &script,
        "--allow",
        "world:write:mcp:s/**",
        "--output",
        "stream-json",
    ];
    let mut results = crib
        .run(&run)
        .expect(0)
        .documents()
        .into_iter()
        .filter(|event| event["type"] == "result");
    results.next_back().unwrap()
}

#[test]
fn a_tool_that_its_server_has_just_added_waits_for_approval_and_is_not_unknown() {
    for notifies in [false, true] {
        let result = called_after("\nfresh", notifies, "mcp:s/fresh");
        assert_eq!(result["error"], "unavailable", "{result}");
        let text = result["content"].to_string();
        assert!(
            text.contains("wait for approval: mcp:s/fresh;") && text.contains("mcp approve s"),
            "{result}"
        );
    }
    let other = called_after("\nfresh", true, "mcp:s/other");
    assert_eq!(other["error"], "not_found", "{other}");
}

#[test]
fn a_tool_that_its_server_has_just_changed_waits_for_approval() {
    let result = called_after(" Two.", true, "mcp:s/read");
    assert_eq!(result["error"], "unavailable", "{result}");
    assert!(
        result["content"].to_string().contains("mcp approve s"),
        "{result}"
    );
}
