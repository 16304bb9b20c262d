//! Clauses of flags that match no target.

use serde_json::json;

use crate::mcp::{SERVE, program, write_user};
use crate::{Crib, config};

/// Returns the warnings of a command.
fn warnings(crib: &Crib, arguments: &[&str]) -> Vec<String> {
    let stderr = crib.run(arguments).expect(0).stderr;
    stderr
        .lines()
        .filter(|line| line.starts_with("warning: "))
        .map(str::to_owned)
        .collect()
}

const COMMANDS: [&[&str]; 5] = [
    &["call", "time.now"],
    &["run", "time.now", "--provider", "direct"],
    &["why", "time.now"],
    &["config"],
    &["cron", "run", "--once"],
];

#[test]
fn a_clause_that_matches_no_target_is_named_in_one_warning_with_the_words_that_exist() {
    let crib = Crib::new();
    config::write_user(&crib, "[channels.log]\ntype = 'file'\npath = 'log.jsonl'\n");
    for (flag, clause, known) in [
        ("--grant", "foo:read:**", "clock, "),
        ("--allow", "foo:write:a", "fs, "),
        ("--grant", "memory:read:user/x", "project/NAME"),
        ("--grant", "message:write:lgo", "log, terminal, reply"),
    ] {
        for command in COMMANDS {
            let [warning] = &warnings(&crib, &[command, &[flag, clause]].concat())[..] else {
                panic!("{command:?}")
            };
            assert!(
                warning.contains(&format!("{flag} {clause}")) && warning.contains(known),
                "{warning}"
            );
        }
    }
}

#[test]
fn a_clause_that_may_match_a_target_has_no_warning() {
    let crib = Crib::new();
    let git = json!({"effects": {"time.now": {"reads": ["git:status"]}}});
    let server = json!({"command": program(), "args": SERVE, "toolcrib": git});
    write_user(&crib, &json!({"mcpServers": {"git": server}}));
    for clause in [
        "*:read:**",
        "world:write:mcp:git/*",
        "mcp:read:git/*",
        "net:read:a.example",
        "git:read:**",
        "memory:read:user",
        "memory:write:project/a",
        "memory:*:**",
        "fs:read:{a,b}",
        "message:write:reply",
        "message:write:terminal",
        "message:write:l*",
    ] {
        for command in [COMMANDS[0], COMMANDS[3]] {
            assert!(
                warnings(&crib, &[command, &["--grant", clause]].concat()).is_empty(),
                "{clause}"
            );
        }
    }
}
