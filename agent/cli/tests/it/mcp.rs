//! The servers of the user: this program, which serves tools to itself.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::Crib;

/// The arguments of a server with one tool, and the tool's name at the client.
pub(crate) const SERVE: [&str; 6] = [
    "serve",
    "--no-config",
    "--select",
    "time.now",
    "--names",
    "dotted",
];
pub(crate) const TOOL: &str = "mcp:clock/time.now";

pub(crate) fn program() -> &'static str {
    env!("CARGO_BIN_EXE_toolcrib")
}

/// Writes a script that leaves a mark and then serves the tools that the file `select` names.
pub(crate) fn marking(crib: &Crib) -> (String, PathBuf) {
    use std::os::unix::fs::PermissionsExt as _;

    let mark = crib.dir.path().join("mark");
    let select = crib.write("select", "time.now");
    let (program, shown) = (program(), mark.display());
    let script = format!(
        "#!/bin/sh\ntouch '{shown}'\nexec '{program}' serve --no-config --names dotted --select \"$(cat '{select}')\"\n"
    );
    let path = crib.write("server.sh", &script);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    (path, mark)
}

pub(crate) fn user_file(crib: &Crib) -> PathBuf {
    crib.dir.path().join("config/toolcrib/mcp.json")
}

pub(crate) fn write_user(crib: &Crib, document: &Value) {
    std::fs::create_dir_all(user_file(crib).parent().unwrap()).unwrap();
    std::fs::write(user_file(crib), document.to_string()).unwrap();
}

fn add(crib: &Crib) {
    let arguments: Vec<_> = ["mcp", "add", "clock", "--", program()]
        .into_iter()
        .chain(SERVE)
        .collect();
    crib.run(&arguments).expect(0);
}

#[test]
fn a_server_is_added_tested_called_and_removed() {
    let crib = Crib::new();
    assert!(
        crib.run(&["mcp"])
            .expect(0)
            .stdout
            .contains("no MCP servers")
    );
    add(&crib);
    assert!(
        crib.run(&["mcp", "list"])
            .expect(0)
            .stdout
            .contains("clock (user): ready, not used yet")
    );
    let tested = crib.run(&["mcp", "test", "clock"]).expect(0).stdout;
    assert!(tested.contains("clock: 2026-07-28, 1 tool, "), "{tested}");
    assert!(
        crib.run(&["mcp", "tools", "clock"])
            .expect(0)
            .stdout
            .starts_with(TOOL)
    );
    let listed = crib.run(&["mcp", "list", "--json"]).expect(0).document();
    assert_eq!(
        (&listed["file"], &listed["standing"]),
        (&json!("user"), &json!("ready, 1 tool approved"))
    );
    assert!(
        crib.run(&["doctor"])
            .stdout
            .contains("MCP server clock (yours): ready")
    );

    crib.run(&["call", TOOL]).expect(5);
    let called = crib
        .run(&["call", TOOL, "--grant", "world:write:mcp:clock/*"])
        .expect(0);
    assert!(called.stdout.contains("UTC"), "{called:#?}");
    crib.run(&[
        "call",
        TOOL,
        "--no-config",
        "--grant",
        "world:write:mcp:clock/*",
    ])
    .expect(3);

    crib.run(&["mcp", "remove", "clock"]).expect(0);
    crib.run(&["mcp", "remove", "clock"]).expect(3);
    crib.run(&["mcp", "test", "clock"]).expect(3);
    crib.run(&["call", TOOL]).expect(3);
    let pins = crib
        .dir
        .path()
        .join("state/toolcrib/mcp/pins/user/clock/mcp.lock");
    assert!(!pins.exists());
}

#[test]
fn a_session_has_the_tools_of_servers_that_its_selection_matches() {
    let crib = Crib::new();
    add(&crib);
    let run = |prompt: &str, select: &str| {
        let allowed = "world:write:**";
        crib.run(&[
            "run",
            "--provider",
            "direct",
            prompt,
            "--select",
            select,
            "--allow",
            allowed,
            "--output",
            "stream-json",
        ])
    };
    let names = |ended: &crate::Ended| ended.documents()[0]["tools"].as_array().unwrap().clone();
    assert!(
        names(&run("fs.read path=README.md", "fs.*"))
            .iter()
            .all(|name| name != TOOL)
    );
    // The server was not needed, so its tools are not known.
    assert!(
        crib.run(&["mcp", "list"])
            .expect(0)
            .stdout
            .contains("not used yet")
    );
    let ran = run(TOOL, "mcp:clock/*").expect(0);
    assert_eq!(names(&ran), [json!(TOOL)]);
    assert!(
        ran.stderr
            .contains("used for the first time: 1 tool approved"),
        "{ran:#?}"
    );
    let again = run(TOOL, "mcp:*").expect(0);
    assert!(!again.stderr.contains("first time"), "{again:#?}");
}

#[test]
fn a_known_server_starts_at_the_first_call_and_not_before() {
    let crib = Crib::new();
    let (script, mark) = marking(&crib);
    crib.run(&["mcp", "add", "clock", "--", &script]).expect(0);
    crib.run(&["mcp", "test", "clock"]).expect(0);
    std::fs::remove_file(&mark).unwrap();
    assert!(crib.run(&["list"]).expect(0).stdout.contains(TOOL));
    crib.run(&["show", TOOL]).expect(0);
    crib.run(&["run", "--provider", "direct", "fs.read path=README.md"])
        .expect(0);
    assert!(!mark.exists());
    crib.run(&["call", TOOL, "--grant", "world:write:**"])
        .expect(0);
    assert!(mark.exists());
}

#[test]
fn a_server_that_cannot_be_used_is_reported_once_and_affects_no_other() {
    let crib = Crib::new();
    let clock = json!({"command": program(), "args": SERVE});
    write_user(
        &crib,
        &json!({"mcpServers": {
            "absent": {"command": "no-such-program"},
            "failing": {"command": "false"},
            "mistaken": {"command": 1},
            "off": {"command": "no-such-program", "disabled": true},
            "unset": {"command": "a", "args": ["${NO_SUCH_VARIABLE}"]},
            "clock": clock,
        }}),
    );
    let listed = crib.run(&["list"]).expect(0);
    assert!(listed.stdout.contains(TOOL), "{listed:#?}");
    for (name, reason) in [
        ("absent", "no program"),
        ("failing", "MCP server failing"),
        ("mistaken", "mcpServers.mistaken.command: expected a string"),
        (
            "unset",
            "mcpServers.unset.args[0]: the variable NO_SUCH_VARIABLE is not set",
        ),
    ] {
        let lines: Vec<_> = listed
            .stderr
            .lines()
            .filter(|line| line.contains(name))
            .collect();
        assert!(
            lines.len() == 1 && listed.stderr.replace('\n', " ").contains(reason),
            "{name}: {listed:#?}"
        );
    }
    assert!(!listed.stderr.contains("off"), "{listed:#?}");
    std::fs::write(user_file(&crib), "{\"mcpServers\": {}, // comment\n}").unwrap();
    let listed = crib.run(&["list"]).expect(0);
    assert!(
        listed.stderr.contains("neither comments nor commas"),
        "{listed:#?}"
    );
    crib.run(&["mcp", "list"]).expect(2);
}

#[test]
fn a_program_that_a_server_runs_has_no_servers_of_its_own() {
    let crib = Crib::new();
    // Without the selection, the server would be its own client.
    let config = crib.dir.path().join("config");
    let state = crib.dir.path().join("state");
    let env = json!({"XDG_CONFIG_HOME": config, "XDG_STATE_HOME": state});
    write_user(
        &crib,
        &json!({"mcpServers": {"self": {"command": program(), "args": ["serve"], "env": env}}}),
    );
    let listed = crib.run(&["list", "--select", "mcp:*"]).expect(0);
    assert!(listed.stdout.contains("mcp:self/fs_read"), "{listed:#?}");
    assert!(!listed.stdout.contains("mcp:self/mcp_"), "{listed:#?}");
}

#[test]
fn the_user_declares_effects() {
    let crib = Crib::new();
    let clock =
        json!({"command": program(), "args": SERVE, "toolcrib": {"effects": {"*": "read_only"}}});
    write_user(&crib, &json!({"mcpServers": {"clock": clock}}));
    let shown = crib.run(&["show", TOOL, "--json"]).expect(0).document();
    assert_eq!(shown["effects"], json!({"reads": [TOOL]}));
    // The declaration is the consent, so no other grant is needed.
    crib.run(&["call", TOOL]).expect(0);
    crib.run(&["call", TOOL, "--no-default-grants"]).expect(5);
}

#[test]
fn a_tool_that_only_reads_is_called_in_the_first_session_with_its_server() {
    let crib = Crib::new();
    let clock =
        json!({"command": program(), "args": SERVE, "toolcrib": {"effects": {"*": "read_only"}}});
    write_user(&crib, &json!({"mcpServers": {"clock": clock}}));
    let call = json!({"calls": [{"name": TOOL, "arguments": {}}]}).to_string();
    let script = crib.script(&[&call, r#"{"text": "end"}"#]);
    for _ in 0..2 {
        let ran = crib
            .run(&[
                "run",
                "x",
                "--script",
                &script,
                "--select",
                "mcp:clock/*",
                "--output",
                "stream-json",
            ])
            .expect(0);
        let result = ran
            .documents()
            .into_iter()
            .find(|event| event["type"] == "result")
            .unwrap();
        assert_eq!(result["is_error"], false, "{result}");
    }
}

#[test]
fn a_server_is_added_with_its_effects_or_allowed() {
    let crib = Crib::new();
    let add = |more: &[&str]| {
        crib.run(
            &[
                &["mcp", "add", "clock"],
                more,
                &["--", program()],
                &SERVE[..],
            ]
            .concat(),
        )
    };
    add(&["--effects", "*=read_only"]).expect(0);
    crib.run(&["mcp", "test", "clock"]).expect(0);
    crib.run(&["call", TOOL]).expect(0);
    crib.run(&["mcp", "remove", "clock"]).expect(0);
    add(&["--effects", "*=reads"]).expect(2);
    add(&["--effects", "read_only"]).expect(2);
    assert!(
        crib.run(&["mcp"])
            .expect(0)
            .stdout
            .contains("no MCP servers")
    );

    add(&["--allow"]).expect(0);
    crib.run(&["call", TOOL]).expect(0);
    let ran = crib
        .run(&[
            "run",
            "--provider",
            "direct",
            TOOL,
            "--select",
            "mcp:clock/*",
        ])
        .expect(0);
    assert!(ran.stdout.contains("UTC"), "{ran:#?}");
}

#[test]
fn wrong_effects_and_unknown_fields_are_reported_wherever_a_server_is_looked_at() {
    let crib = Crib::new();
    let effects = json!({"effects": {"time.now": {"writes": ["mail:{nope}"]}}});
    let clock = json!({"command": program(), "args": SERVE, "autoApprove": [], "timeout": 90000, "toolcrib": effects});
    write_user(&crib, &json!({"mcpServers": {"clock": clock}}));
    let tested = crib.run(&["mcp", "test", "clock"]).expect(0);
    for word in ["{nope}", "time.now", "autoApprove"] {
        assert!(tested.stderr.contains(word), "{tested:#?}");
        let listed = crib.run(&["mcp", "list"]).expect(0).stdout;
        assert!(listed.contains(word), "{listed}");
    }
    assert!(!tested.stderr.contains("timeout"), "{tested:#?}");
    assert!(crib.run(&["doctor"]).stdout.contains("{nope}"));
    let called = crib.run(&["call", TOOL, "--allow", "world:write:**"]);
    assert!(
        called.code != Some(0) && called.stderr.contains("{nope}"),
        "{called:#?}"
    );
}

#[test]
fn a_tool_with_a_schema_over_the_budget_is_named_wherever_its_server_is_looked_at() {
    let crib = Crib::new();
    let file = crib.write("description", "One.\nhuge");
    let entry = crate::mcp_server::entry(&format!("@{file}"), true);
    write_user(&crib, &json!({"mcpServers": {"s": entry}}));
    for command in ["test", "tools"] {
        let shown = crib.run(&["mcp", command, "s"]).expect(0);
        assert_eq!(shown.stdout.matches("\"huge\"").count(), 1, "{shown:#?}");
    }
    for command in [&["mcp", "list"][..], &["doctor"]] {
        let shown = crib.run(command).stdout;
        assert!(
            shown.contains("\"huge\"") && shown.contains("schema"),
            "{shown}"
        );
    }
    let turn = json!({"calls": [{"name": "mcp:s/huge", "arguments": {}}]}).to_string();
    let script = crib.script(&[&turn, &json!({"text": "end"}).to_string()]);
    let run = ["run", "x", "--script", &script, "--output", "stream-json"];
    let ran = crib.run(&run).expect(0);
    let mut documents = ran.documents().into_iter();
    let result = documents.find(|event| event["type"] == "result").unwrap();
    assert!(result["error"] == "unavailable", "{result}");
    assert!(result["content"].to_string().contains("schema"), "{result}");
    let called = crib.run(&["call", "mcp:s/huge"]);
    assert!(called.stderr.contains("schema"), "{called:#?}");
}

#[test]
fn a_url_is_added_with_headers_as_they_are() {
    let crib = Crib::new();
    let header = "Authorization: Bearer ${TOKEN}";
    let add = [
        "mcp",
        "add",
        "docs",
        "--url",
        "https://example.org/mcp",
        "--header",
        header,
    ];
    for is_present in [false, true] {
        let added = crib.run(&add).expect(0);
        assert_eq!(added.stderr.contains("replaced"), is_present, "{added:#?}");
    }
    let written: Value =
        serde_json::from_str(&std::fs::read_to_string(user_file(&crib)).unwrap()).unwrap();
    let expected = json!({"type": "http", "url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}});
    assert_eq!(written["mcpServers"]["docs"], expected);
    crib.run(&[
        "mcp",
        "add",
        "docs",
        "--url",
        "https://example.org/mcp",
        "--header",
        "no colon",
    ])
    .expect(2);
    crib.run(&["mcp", "add", "a b", "--", "x"]).expect(2);
    crib.run(&["mcp", "add", "docs"]).expect(2);
    let of_program = ["mcp", "add", "docs", "--header", header, "--", "x"];
    crib.run(&of_program).expect(2);
}

#[test]
fn one_word_grants_all_tools_of_a_server_in_each_command() {
    let crib = Crib::new();
    add(&crib);
    crib.run(&["mcp", "test", "clock"]).expect(0);
    let run = ["run", TOOL, "--provider", "direct"];
    assert!(!crib.run(&run).expect(5).stdout.contains("UTC"));
    for clause in ["mcp:clock/**", "mcp:**", "mcp:clock/time.now"] {
        for flag in ["--grant", "--allow"] {
            for command in [&run[..], &["call", TOOL]] {
                let ran = crib.run(&[command, &[flag, clause]].concat()).expect(0);
                assert!(ran.stdout.contains("UTC"), "{ran:#?}");
            }
        }
    }
    crib.run(&[&run[..], &["--grant", "mcp:other/**"]].concat())
        .expect(5);
}
