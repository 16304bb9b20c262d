//! Servers that fail, are slow or change: the words about them, and their effect on sessions.

use std::net::TcpListener;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::mcp::write_user;
use crate::{Crib, Ended, ended, mcp_server};

const SECRET: &str = "topsecretkey123456";

/// Returns what a command has printed to both streams, on one line.
fn text(ended: &Ended) -> String {
    format!("{} {}", ended.stdout, ended.stderr)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns a URL that nothing answers.
fn closed(path: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}{path}", listener.local_addr().unwrap())
}

fn call(crib: &Crib, tool: &str, arguments: &[&str]) -> Ended {
    crib.run(&[&["call", tool], arguments, &["--grant", "*:*:**"]].concat())
}

#[cfg(feature = "builtin")]
#[tokio::test]
async fn a_secret_in_a_url_is_shown_nowhere() {
    let server = Crib::new();
    let (mut child, url) = server
        .serve_http(&["--names", "dotted", "--select", "time.now"])
        .await;
    let crib = Crib::new();
    let long = "x".repeat(170);
    let urls = [
        "?api_key=${KEY}".to_owned(),
        format!("?{long}=${{KEY}}"),
        "?k=${QUOTED}".to_owned(),
    ];
    let servers: serde_json::Map<_, _> = urls
        .iter()
        .enumerate()
        .map(|(at, query)| (format!("s{at}"), json!({"url": format!("{url}{query}")})))
        .collect();
    write_user(&crib, &json!({"mcpServers": servers}));
    let quoted = format!("{SECRET}'more");
    let run = |arguments: &[&str]| {
        ended(
            crib.command(arguments)
                .env("KEY", SECRET)
                .env("QUOTED", &quoted),
            b"",
        )
    };
    for name in ["s0", "s1", "s2"] {
        run(&["mcp", "test", name]).expect(0);
    }
    child.kill().await.unwrap();
    for name in ["s0", "s1", "s2"] {
        let tool = format!("mcp:{name}/time.now");
        let called = run(&["call", &tool, "--grant", "world:write:**"]).expect(10);
        assert!(text(&called).contains("no connection to"), "{called:#?}");
        for ended in [called, run(&["mcp", "test", name]).expect(10)] {
            assert!(!text(&ended).contains(&SECRET[..6]), "{ended:#?}");
        }
    }
}

#[test]
fn a_connection_that_fails_is_explained_without_types() {
    let crib = Crib::new();
    let script = crib.write("fails.sh", "echo 'fatal: set FOO_API_KEY' >&2\nexit 7\n");
    write_user(
        &crib,
        &json!({"mcpServers": {
            "closed": {"url": closed("/mcp")},
            "fails": {"command": "sh", "args": [script]},
        }}),
    );
    for (name, reasons) in [
        ("closed", ["no connection to", "check the port"]),
        ("fails", ["set FOO_API_KEY", "7"]),
    ] {
        let ended = crib.run(&["mcp", "test", name]).expect(10);
        let text = text(&ended);
        assert!(
            reasons.iter().all(|reason| text.contains(reason)),
            "{ended:#?}"
        );
        assert!(
            !text.contains("rmcp") && !text.contains("does not speak"),
            "{ended:#?}"
        );
    }
}

#[test]
fn the_words_of_a_server_that_dies_in_a_call_are_in_the_result() {
    let crib = Crib::new();
    mcp_server::add(&crib, &json!({}));
    let ended = call(&crib, "mcp:s/read", &["path=die"]).expect(1);
    let text = text(&ended);
    assert!(
        text.contains("may have run") && text.contains("panic: the database is locked"),
        "{ended:#?}"
    );
}

#[test]
fn a_changed_tool_names_the_next_step_to_model_and_user() {
    let crib = Crib::new();
    let description = crib.write("description", "One.");
    write_user(
        &crib,
        &json!({"mcpServers": {"s": mcp_server::entry(&format!("@{description}"), false)}}),
    );
    crib.run(&["mcp", "test", "s"]).expect(0);
    crib.write("description", "Two.");
    let script = crib.script(&[
        r#"{"calls": [{"name": "mcp:s/read", "arguments": {"path": "x"}}]}"#,
        r#"{"text": "end"}"#,
    ]);
    let run = [
        "run",
        "x",
        "--script",
        &script,
        "--allow",
        "world:write:**",
        "--output",
        "stream-json",
    ];
    let ended = crib.run(&run);
    let result = ended
        .documents()
        .into_iter()
        .find(|line| line["type"] == "result")
        .unwrap()
        .to_string();
    assert!(
        result.contains("has changed since it was approved") && result.contains("mcp approve s"),
        "{result}"
    );
    let told: Vec<_> = ended
        .stderr
        .lines()
        .filter(|line| line.contains("wait for approval"))
        .collect();
    assert!(
        told.len() == 1 && text(&ended).contains("toolcrib mcp approve s"),
        "{ended:#?}"
    );
    let unused = crib
        .run(&["run", "--provider", "direct", "fs.read path=README.md"])
        .expect(0);
    assert!(!unused.stderr.contains("approval"), "{unused:#?}");
}

#[test]
fn resources_are_listed_and_read_in_every_session() {
    let crib = Crib::new();
    let mut entry = mcp_server::entry("Does it.", false);
    entry["env"][mcp_server::RESOURCES] = "1".into();
    write_user(&crib, &json!({"mcpServers": {"s": entry}}));
    for _ in 0..2 {
        assert!(
            call(&crib, "mcp.resource", &["server=s"])
                .expect(0)
                .stdout
                .contains("book://1 (one)")
        );
        assert!(
            call(
                &crib,
                "mcp.resource",
                &["server=s", "uri=book://1", "--json"]
            )
            .expect(0)
            .stdout
            .contains("its body")
        );
        assert!(
            crib.run(&["list"])
                .expect(0)
                .stdout
                .contains("mcp.resource")
        );
        let run = [
            "run",
            "--provider",
            "direct",
            r#"mcp.resource {"server": "s"}"#,
            "--allow",
            "*:*:**",
        ];
        assert!(crib.run(&run).expect(0).stdout.contains("book://1"));
    }
    crib.run(&["mcp", "remove", "s"]).expect(0);
    assert!(
        !crib
            .run(&["list"])
            .expect(0)
            .stdout
            .contains("mcp.resource")
    );
}

/// Writes a server that never answers, and leaves a mark after ten seconds. Returns the mark.
fn add_slow(crib: &Crib) -> std::path::PathBuf {
    let mark = crib.dir.path().join("mark");
    let script = format!("sleep 10; touch '{}'; sleep 60", mark.display());
    write_user(
        crib,
        &json!({"mcpServers": {"slow": {"command": "sh", "args": ["-c", script]}}}),
    );
    mark
}

#[test]
fn a_slow_server_delays_no_session_that_does_not_use_it() {
    let crib = Crib::new();
    let mark = add_slow(&crib);
    for _ in 0..2 {
        let ran = crib
            .run(&["run", "--provider", "direct", "fs.read path=README.md"])
            .expect(0);
        assert!(
            ran.stdout.contains("Hello") && text(&ran).contains("mcp test slow"),
            "{ran:#?}"
        );
        assert!(!mark.exists());
    }
}

#[cfg(feature = "builtin")]
#[test]
fn serve_answers_and_ends_while_a_server_is_slow() {
    use std::io::{BufRead as _, BufReader, Write as _};

    let crib = Crib::new();
    let mark = add_slow(&crib);
    let mut command = crib.command(&["serve", "--select", "*"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    writeln!(input, "{message}").unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let answer: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(answer["id"], 1);
    let killed = std::process::Command::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    child.wait().unwrap();
    drop(input);
    assert!(!mark.exists());
}

#[cfg(feature = "default")]
#[test]
fn a_command_that_looks_at_tools_connects_with_the_settings_of_the_user() {
    let crib = Crib::new();
    crate::config::write_user(&crib, &format!("[http]\nproxy = '{}'\n", closed("")));
    write_user(
        &crib,
        &json!({"mcpServers": {"s": {"url": "http://mcp.example.invalid/mcp"}}}),
    );
    for arguments in [&["mcp", "test", "s"][..], &["list"], &["show", "mcp:s/t"]] {
        let ended = crib.run(arguments);
        assert!(
            text(&ended).contains("refused") && !text(&ended).contains("not found:"),
            "{ended:#?}"
        );
    }
    let listed = crib.run(&["list", "--no-config"]).expect(0);
    assert!(!listed.stderr.contains("MCP"), "{listed:#?}");
}

#[test]
fn a_flood_of_pings_fails_the_test_of_a_server() {
    let crib = Crib::new();
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let server = format!("read line; exec yes '{ping}'");
    let flood = json!({"command": "sh", "args": ["-c", server]});
    write_user(
        &crib,
        &json!({"mcpServers": {"flood": flood, "yes": {"command": "yes", "args": [ping]}}}),
    );
    for name in ["flood", "yes"] {
        let started = std::time::Instant::now();
        let ended = crib.run(&["mcp", "test", name]).expect(10);
        assert!(
            text(&ended).contains("pings") && started.elapsed().as_secs() < 20,
            "{ended:#?}"
        );
    }
}

#[test]
fn a_call_ends_at_the_time_limit_of_its_servers_entry() {
    let crib = Crib::new();
    // The server waits for a writer of the pipe.
    let made = Command::new("mkfifo")
        .arg(crib.root().join("pipe"))
        .status();
    assert!(made.unwrap().success());
    let mut entry = mcp_server::entry("Does it.", false);
    entry["timeout"] = json!("1s");
    write_user(&crib, &json!({"mcpServers": {"s": entry}}));
    crib.run(&["mcp", "test", "s"]).expect(0);
    let ended = call(&crib, "mcp:s/read", &["path=pipe"]);
    assert!(text(&ended).contains("deadline of 1s"), "{ended:#?}");
}
