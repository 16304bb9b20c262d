//! The code of servers without walls: what one session writes runs in no later session before a person has approved it.

use std::fs;

use serde_json::{Value, json};

use crate::mcp::{TOOL, marking, write_user};
use crate::own_files::put;
use crate::{Crib, Ended};

const FREE: [&str; 4] = ["--allow", "*:*:**", "--provider", "direct"];

/// A server whose entry names none of its code.
fn entry() -> Value {
    json!({"command": "sh", "args": ["-c", ". lib/start"]})
}

/// Writes the code of the server into `lib/start`. Returns the file that it creates when it runs.
fn code(crib: &Crib) -> std::path::PathBuf {
    let (script, mark) = marking(crib);
    put(
        &crib.root().join("lib/start"),
        &fs::read_to_string(script).unwrap(),
    );
    mark
}

fn write_project(crib: &Crib, entry: &Value) {
    put(
        &crib.root().join(".mcp.json"),
        &json!({"mcpServers": {"clock": entry}}).to_string(),
    );
}

fn approve(crib: &Crib) -> String {
    let shown = crib.run(&["mcp", "approve", "clock"]).expect(5).stdout;
    let digest = shown
        .lines()
        .find_map(|line| line.trim().strip_prefix("digest: "))
        .unwrap();
    crib.run(&["mcp", "approve", "clock", "--digest", digest])
        .expect(0);
    shown
}

fn session(crib: &Crib, prompt: &str) -> Ended {
    crib.run(&[&["run", prompt], &FREE[..]].concat())
}

/// Runs a script in a session.
fn exec(crib: &Crib, script: &str) {
    let arguments = json!({"program": "sh", "args": ["-c", script]});
    let call = json!({"calls": [{"name": "exec.run", "arguments": arguments}]});
    let script = crib.script(&[&call.to_string(), r#"{"text": "end"}"#]);
    crib.run(&["run", "x", "--script", &script, "--allow", "*:*:**"])
        .expect(0);
}

/// Returns true if a new session can call the tool of the server.
fn runs(crib: &Crib) -> bool {
    let called = crib.run(&["call", TOOL, "--grant", "world:write:**"]);
    assert!([Some(0), Some(3)].contains(&called.code), "{called:#?}");
    called.code == Some(0)
}

/// Returns true if this machine has bubblewrap.
fn has_bubblewrap(crib: &Crib) -> bool {
    crib.run(&["doctor"])
        .stdout
        .contains("Programs run in bubblewrap.")
}

#[test]
fn code_that_a_tool_wrote_runs_in_no_server_before_it_is_approved() {
    let crib = Crib::new();
    let mark = code(&crib);
    write_project(&crib, &entry());
    approve(&crib);
    assert!(runs(&crib));
    fs::remove_file(&mark).unwrap();
    for prompt in [
        "fs.write path=lib/start content='touch evil'",
        "fs.write path=lib/start content='touch evil; true'",
    ] {
        session(&crib, prompt).expect(0);
        assert!(!runs(&crib));
        let listed = crib.run(&["mcp", "list"]).expect(0);
        assert!(listed.stdout.contains("written by sessions"), "{listed:#?}");
        crib.run(&["mcp", "test", "clock"]).expect(5);
        crib.run(&["mcp", "tools", "clock"]).expect(5);
        assert!(!mark.exists() && !crib.root().join("evil").exists());
        code(&crib);
        let shown = approve(&crib);
        assert!(shown.contains("lib/start"), "{shown}");
        assert!(runs(&crib));
        fs::remove_file(&mark).unwrap();
    }
}

#[test]
fn edits_of_the_person_and_documents_of_a_session_need_no_approval() {
    let crib = Crib::new();
    code(&crib);
    write_project(&crib, &entry());
    approve(&crib);
    put(&crib.root().join("lib/other"), "mine");
    session(&crib, "fs.write path=lib/notes.md content=x").expect(0);
    session(&crib, "fs.read path=README.md").expect(0);
    put(&crib.root().join("lib/another"), "mine");
    assert!(runs(&crib));
}

#[test]
fn code_that_a_program_wrote_moved_or_removed_runs_in_no_server() {
    let crib = Crib::new();
    if !has_bubblewrap(&crib) {
        return;
    }
    code(&crib);
    fs::create_dir(crib.root().join("other")).unwrap();
    fs::copy(
        crib.root().join("lib/start"),
        crib.root().join("other/start"),
    )
    .unwrap();
    write_project(&crib, &entry());
    approve(&crib);
    exec(&crib, "cat lib/start > /dev/null; git --version");
    assert!(runs(&crib), "a program that only reads");
    for script in [
        "echo 'touch evil' > lib/start; touch -d 2001-01-01 lib/start",
        "mv lib/start lib/x; mv lib/x lib/start",
        "mv lib l; mv other lib; mv l other",
        "rm lib/start; cp other/start lib/start",
    ] {
        exec(&crib, script);
        assert!(!runs(&crib), "{script}");
        code(&crib);
        approve(&crib);
        assert!(runs(&crib), "{script}");
    }
}

#[test]
fn a_server_of_the_user_needs_approval_only_if_its_words_lead_to_code_of_sessions() {
    let crib = Crib::new();
    let (script, _) = marking(&crib);
    let mark = code(&crib);
    write_user(
        &crib,
        &json!({"mcpServers": {"clock": {"command": script}}}),
    );
    session(&crib, "fs.write path=lib/start content=x").expect(0);
    assert!(runs(&crib));
    code(&crib);
    write_user(&crib, &json!({"mcpServers": {"clock": entry()}}));
    fs::remove_file(&mark).unwrap();
    assert!(!runs(&crib) && !mark.exists());
    approve(&crib);
    assert!(runs(&crib));
    // Another workspace does not change which code it is.
    let start = crib.root().join("lib/start");
    let words = json!({"command": "sh", "args": ["-c", format!(". {}", start.canonicalize().unwrap().display())]});
    write_user(&crib, &json!({"mcpServers": {"clock": words}}));
    let elsewhere = crib.dir.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::remove_file(&mark).unwrap();
    crib.run(&[
        "mcp",
        "test",
        "clock",
        "--root",
        elsewhere.to_str().unwrap(),
    ])
    .expect(5);
    assert!(!mark.exists());
}

#[test]
fn a_server_of_the_user_that_makes_its_paths_itself_needs_approval_too() {
    let crib = Crib::new();
    let mark = code(&crib);
    let root = crib.root().canonicalize().unwrap();
    let elsewhere = crib.dir.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    for (command, args) in [
        (
            "sh",
            vec![
                "-c".to_owned(),
                format!("cd /; cd {}; . lib/start", &root.to_str().unwrap()[1..]),
            ],
        ),
        (
            "sh",
            vec!["-c".to_owned(), "cd \"$OLDPWD\"; . lib/start".to_owned()],
        ),
        (
            "env",
            vec![
                format!("-C{}", root.display()),
                "sh".to_owned(),
                "lib/start".to_owned(),
            ],
        ),
    ] {
        write_user(
            &crib,
            &json!({"mcpServers": {"clock": {"command": command, "args": args}}}),
        );
        session(&crib, "fs.write path=lib/other content=x").expect(0);
        let _ = fs::remove_file(&mark);
        crib.run(&[
            "mcp",
            "test",
            "clock",
            "--root",
            elsewhere.to_str().unwrap(),
        ])
        .expect(5);
        assert!(!mark.exists(), "{args:?}");
    }
}

#[test]
fn a_package_runner_needs_approval_for_dependencies_and_settings_alone() {
    let crib = Crib::new();
    let (script, _) = marking(&crib);
    // A program with the name of a package runner.
    let runner = crib.dir.path().join("npx");
    fs::copy(script, &runner).unwrap();
    write_project(
        &crib,
        &json!({"command": runner, "args": ["-y", "some-server", "."]}),
    );
    approve(&crib);
    session(&crib, "fs.write path=src/main.js content=x parents=true").expect(0);
    assert!(runs(&crib));
    for path in ["node_modules/some-server/index.js", "packages.json"] {
        session(
            &crib,
            &format!("fs.write path={path} content=x parents=true"),
        )
        .expect(0);
        assert!(!runs(&crib), "{path}");
        approve(&crib);
        assert!(runs(&crib), "{path}");
    }
    // A word that leads into the workspace is code.
    write_project(
        &crib,
        &json!({"command": runner, "args": ["tsx", "src/main"]}),
    );
    approve(&crib);
    session(&crib, "fs.write path=src/main.js content=y").expect(0);
    assert!(!runs(&crib));
}

#[test]
fn a_document_is_code_if_a_link_of_the_checkout_or_the_entry_leads_to_it() {
    let script = |words: &str| json!({"command": "sh", "args": ["-c", words]});
    let link = |crib: &Crib, to: &str, path: &str| {
        std::os::unix::fs::symlink(to, crib.root().join(path)).unwrap()
    };
    let links = [
        ("start.md", "docs/x"),
        ("docs", "linked"),
        ("../linked/x", "lib/start"),
    ];
    for (entry, links, is_code) in [
        (entry(), &[("../docs/start.md", "lib/start")][..], true),
        (entry(), &links, true),
        (
            json!({"command": "sh", "args": ["start"]}),
            &[("docs/start.md", "start")],
            true,
        ),
        (script(". docs/start.md"), &[], true),
        (script("cd docs; . ./start.md"), &[], true),
        // Names of documents and other documents lead to no code.
        (
            script(". lib/other"),
            &[("docs/start.md", "AGENTS.md")],
            false,
        ),
        (
            script(". lib/other"),
            &[("../README.md", "lib/readme")],
            false,
        ),
    ] {
        let case = format!("{entry} {links:?}");
        let crib = Crib::new();
        let (code, _) = marking(&crib);
        let text = fs::read_to_string(code).unwrap();
        put(&crib.root().join("docs/start.md"), &text);
        put(&crib.root().join("lib/other"), &text);
        links.iter().for_each(|(to, path)| link(&crib, to, path));
        write_project(&crib, &entry);
        approve(&crib);
        assert!(runs(&crib), "{case}");
        // A session in the folder knows nothing of the entry, for which the file would need an approval.
        let write = [
            "run",
            "fs.write path=start.md content='touch evil'",
            "--root",
            "docs",
        ];
        crib.run(&[&write[..], &FREE].concat()).expect(0);
        put(&crib.root().join("docs/start.md"), &text);
        assert_eq!(runs(&crib), !is_code, "{case}");
        if is_code {
            assert!(approve(&crib).contains("docs/start.md"), "{case}");
            assert!(runs(&crib), "{case}");
        }
    }
}

#[test]
fn a_program_that_rewrites_a_document_behind_a_link_rewrites_code() {
    let crib = Crib::new();
    if !has_bubblewrap(&crib) {
        return;
    }
    let (code, _) = marking(&crib);
    let text = fs::read_to_string(code).unwrap();
    for file in ["docs/start.md", "docs/more.md"] {
        put(&crib.root().join(file), &text);
    }
    fs::create_dir(crib.root().join("lib")).unwrap();
    std::os::unix::fs::symlink("../docs/start.md", crib.root().join("lib/start")).unwrap();
    write_project(&crib, &entry());
    approve(&crib);
    exec(&crib, "echo x >> docs/more.md");
    assert!(
        runs(&crib),
        "{}",
        crib.run(&["mcp", "approve", "clock"]).stdout
    );
    exec(&crib, "echo true >> docs/start.md");
    assert!(!runs(&crib));
    assert!(approve(&crib).contains("docs/start.md"));
    assert!(runs(&crib));
}

#[test]
fn a_session_that_rewrites_its_own_server_does_not_start_it() {
    let crib = Crib::new();
    let mark = code(&crib);
    write_project(&crib, &entry());
    approve(&crib);
    fs::remove_file(&mark).unwrap();
    let call = |name: &str, arguments: Value| {
        json!({"calls": [{"name": name, "arguments": arguments}]}).to_string()
    };
    let evil = json!({"path": "lib/start", "content": "touch evil"});
    let turns = [
        call("fs.write", evil),
        call(TOOL, json!({})),
        r#"{"text": "end"}"#.to_owned(),
    ];
    let script = crib.script(&turns.each_ref().map(String::as_str));
    let ended = crib.run(&[
        "run",
        "x",
        "--script",
        &script,
        "--allow",
        "*:*:**",
        "--allow",
        "world:write:mcp:*/*",
        "--output",
        "stream-json",
    ]);
    assert!(
        !crib.root().join("evil").exists() && !mark.exists(),
        "{ended:#?}"
    );
    assert!(ended.stdout.contains("mcp approve clock"), "{ended:#?}");
}

#[test]
fn what_python_compiles_of_a_server_while_a_program_runs_is_no_code_of_a_session() {
    let crib = Crib::new();
    if !has_bubblewrap(&crib) {
        return;
    }
    code(&crib);
    let start = crib.root().join("lib/start");
    let python = "python3 -c 'import sys; sys.path.insert(0, \"lib\"); import part'\n";
    put(
        &start,
        &(python.to_owned() + &fs::read_to_string(&start).unwrap()),
    );
    put(&crib.root().join("lib/part.py"), "");
    write_project(&crib, &entry());
    approve(&crib);
    put(&crib.root().join("lib/part.py"), "1");
    let program = json!({"name": "exec.run", "arguments": {"program": "sleep", "args": ["4"]}});
    let turn = json!({"calls": [program, {"name": TOOL, "arguments": {}}]}).to_string();
    let script = crib.script(&[&turn, r#"{"text": "end"}"#]);
    let allow = ["--allow", "*:*:**", "--allow", "world:write:mcp:*/*"];
    crib.run(&[&["run", "x", "--script", &script], &allow[..]].concat())
        .expect(0);
    assert!(!crib.root().join("lib/__pycache__").exists());
    assert!(runs(&crib));
}

#[test]
fn protected_files_that_a_server_with_a_grant_left_are_moved_aside_before_the_next_session() {
    let crib = Crib::new();
    if !has_bubblewrap(&crib) {
        return;
    }
    let root = crib.root();
    let program = root.join("sub/server");
    let own = std::env::current_exe().unwrap();
    fs::hard_link(&own, &program)
        .or_else(|_| fs::copy(&own, &program).map(drop))
        .unwrap();
    let mut server = crate::mcp_server::entry("Reads.", false);
    server["command"] = json!(program);
    server["toolcrib"] = json!({"grant": ["fs:read:**", "fs:write:**"]});
    write_user(&crib, &json!({"mcpServers": {"s": server}}));
    for file in [".envrc", "sub/AGENTS.md", "plain.txt"] {
        let path = format!("path={}", root.join(file).display());
        let flags = ["append=x", "--grant", "world:write:**"];
        let called = crib
            .run(&[&["call", "mcp:s/read", &path], &flags[..]].concat())
            .expect(0);
        assert!(called.stdout.contains("Ok("), "{called:#?}");
    }
    let next = crib
        .run(&["run", "--provider", "direct", "time.now"])
        .expect(0);
    let there = [".envrc", "sub/AGENTS.md", "plain.txt"].map(|file| root.join(file).exists());
    assert_eq!(there, [false, false, true], "{next:#?}");
    assert!(crib.run(&["doctor"]).stdout.contains(".envrc"));
}
