//! A session that finds a fault with a test, mends it and commits the change.

use std::path::Path;
use std::process::{Command, Stdio};

use rexpect::session::spawn_command;
use serde_json::{Value, json};

use crate::config::write_user;
use crate::own_files::put;
use crate::terminal::{TIMEOUT_MS, rest};
use crate::{Crib, Ended};

/// Adds one too many.
const FAULTY: &str =
    "/// Adds two numbers.\npub fn add(a: u32, b: u32) -> u32 {\n    a + b + 1\n}\n";

/// A test that fails with it.
const TEST: &str =
    "use sums::add;\n\n#[test]\nfn two_and_two_make_four() {\n    assert_eq!(add(2, 2), 4);\n}\n";

/// Writes a package with the fault.
fn put_package(root: &Path) {
    put(
        &root.join("Cargo.toml"),
        "[package]\nname = \"sums\"\nedition = \"2024\"\n\n[workspace]\n",
    );
    put(&root.join("src/lib.rs"), FAULTY);
}

/// The turns of the model: it writes a test, sees it fail, mends the code, sees the test pass and commits.
fn turns() -> Value {
    let call =
        |name: &str, arguments: Value| json!({"calls": [{"name": name, "arguments": arguments}]});
    let run =
        |program: &str, args: &[&str]| call("exec.run", json!({"program": program, "args": args}));
    json!([
        call("fs.write", json!({"path": "tests/sums.rs", "content": TEST, "parents": true})),
        run("cargo", &["test", "--offline"]),
        call("fs.edit", json!({"path": "src/lib.rs", "old": "a + b + 1", "new": "a + b"})),
        run("cargo", &["test", "--offline"]),
        run("git", &["add", "src", "tests"]),
        run("git", &["commit", "--quiet", "--message", "Add what is asked for"]),
        {"text": "Mended and committed."},
    ])
}

fn git(root: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(args)
        .current_dir(root)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the results of the calls, in order.
fn results(ended: &Ended) -> Vec<String> {
    let events = ended
        .documents()
        .into_iter()
        .filter(|event| event["type"] == "result");
    events
        .map(|event| {
            event["content"][0]["text"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        })
        .collect()
}

#[test]
#[ignore = "needs git, a Rust toolchain of rustup and a machine that confines programs; run with -- --ignored programs_session"]
fn a_session_tests_mends_and_commits_within_its_grant() {
    let crib = Crib::new();
    let root = crib.root();
    put_package(&root);
    put(&root.join(".gitignore"), "target\nCargo.lock\n");
    git(&root, &["init", "--quiet"]);
    git(&root, &["config", "user.name", "somebody"]);
    git(&root, &["config", "user.email", "somebody@example.org"]);
    git(&root, &["add", "."]);
    git(&root, &["commit", "--quiet", "--message", "Sums"]);
    let script = crib.write("turns.json", &turns().to_string());
    write_user(&crib, "[programs]\ntoolchains = ['rust']\n");
    let mut command = crib.command(&[
        "run",
        "Test the sums.",
        "--script",
        &script,
        "--output",
        "stream-json",
        "--allow",
        "fs:write:**",
        "--allow",
        "fs:write:.git/**",
        "--allow",
        "exec:write:cargo test **",
        "--allow",
        "exec:write:git add **",
        "--allow",
        "exec:write:git commit **",
    ]);
    let cache = crib.dir.path().join("cache");
    let ended: Ended = command
        .env("XDG_CACHE_HOME", &cache)
        .stdin(Stdio::null())
        .output()
        .unwrap()
        .into();
    let ended = ended.expect(0);
    let results = results(&ended);
    let [_, failed, _, passed, _, committed] = &results[..] else {
        panic!("{ended:#?}")
    };
    assert!(
        failed.starts_with("[exit code 101, ") && failed.contains("two_and_two_make_four"),
        "{failed}"
    );
    assert!(
        passed.starts_with("[exit code 0, ") && passed.contains("test result: ok. 1 passed"),
        "{passed}"
    );
    assert!(committed.starts_with("[exit code 0, "), "{committed}");
    assert_eq!(
        git(&root, &["log", "--format=%s"]),
        "Add what is asked for\nSums\n"
    );
    assert_eq!(git(&root, &["status", "--short"]), "");
    assert!(
        std::fs::read_to_string(root.join("src/lib.rs"))
            .unwrap()
            .contains("a + b\n")
    );
    assert!(cache.join("toolcrib-programs").is_dir());
}

/// Returns the line without the words for times and sizes, which vary.
fn stable(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_measured = |(index, word): &(usize, &&str)| {
        let unit = words.get(index + 1).copied().unwrap_or_default();
        word.starts_with(|c: char| c.is_ascii_digit())
            && (word.trim_end_matches(',').ends_with('s') || matches!(unit, "bytes" | "s]"))
    };
    let stable = words.iter().enumerate().filter(|word| !is_measured(word));
    stable.map(|(_, word)| *word).collect::<Vec<_>>().join(" ")
}

#[test]
#[ignore = "needs a Rust toolchain of rustup and bubblewrap; run with -- --ignored programs_session"]
fn the_chat_of_the_guide_shows_the_walls_and_runs_the_tests_after_a_yes() {
    let readme = include_str!("../../guide/programs.md");
    let block = readme
        .split_once("<!-- programs -->\n```text\n$ toolcrib ")
        .unwrap()
        .1
        .split_once("\n```")
        .unwrap()
        .0;
    let (command, expected) = block.split_once('\n').unwrap();
    let prompt = expected
        .split_once("toolcrib> ")
        .unwrap()
        .1
        .lines()
        .next()
        .unwrap();
    let answer = expected
        .split_once("no: ")
        .unwrap()
        .1
        .lines()
        .next()
        .unwrap();
    let said = expected.lines().rev().nth(1).unwrap();

    let crib = Crib::new();
    let root = crib.root();
    put_package(&root);
    put(&root.join("tests/sums.rs"), TEST);
    let edit = json!({"path": "src/lib.rs", "old": "a + b + 1", "new": "a + b"});
    let turns = json!([
        {"calls": [{"name": "fs.edit", "arguments": edit}]},
        {"calls": [{"name": "exec.run", "arguments": {"program": "cargo", "args": ["test", "--quiet", "--test", "sums"]}}]},
        {"text": said},
    ]);
    put(&root.join("turns.json"), &turns.to_string());
    write_user(&crib, "[programs]\ntoolchains = ['rust']\n");
    let arguments = shlex::split(command).unwrap();
    let mut command = crib.command(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    // A terminal that shows no more than text.
    command
        .env("TERM", "dumb")
        .env("XDG_CACHE_HOME", crib.dir.path().join("cache"));
    let mut session = spawn_command(command, Some(TIMEOUT_MS)).unwrap();
    let mut shown = String::new();
    for (before, typed) in [("toolcrib> ", prompt), ("no: ", answer)] {
        // The terminal of a test does not echo.
        shown += &format!("{}{before}{typed}\n", session.exp_string(before).unwrap());
        session.send_line(typed).unwrap();
    }
    shown += &session.exp_string("toolcrib> ").unwrap();
    session.send_control('d').unwrap();
    assert_eq!(rest(session).1, 0);
    // Whether the program has said something before its end depends on the machine.
    let lines = shown.trim_end().lines().map(|line| line.trim_end());
    let lines = lines.filter(|line| !line.starts_with("   exec.run "));
    let printed = lines.collect::<Vec<_>>().join("\n");
    let [shown, stable] = [printed.as_str(), expected]
        .map(|text| text.lines().map(stable).collect::<Vec<_>>().join("\n"));
    // As .ci/generate asks.
    if shown != stable && std::env::var_os("TOOLCRIB_GENERATE").is_some() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/guide/programs.md");
        return std::fs::write(file, readme.replace(expected, &printed)).unwrap();
    }
    assert_eq!(shown, stable, "run .ci/generate");
}
