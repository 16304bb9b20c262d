//! Files with ordinary names that a link of the person's makes run or configure programs, such as `.envrc -> env/dev`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;

use crate::aside::has_bubblewrap;
use crate::own_files::put;
use crate::{Crib, Ended};

/// Makes a link with the folders around it.
fn link(target: impl AsRef<Path>, path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    symlink(target, path).unwrap();
}

fn run(crib: &Crib, call: &str, clauses: &[&str]) -> Ended {
    let mut words = vec!["run", "--provider", "direct", call];
    words.extend(clauses.iter().flat_map(|clause| ["--allow", clause]));
    crib.run(&words)
}

/// Returns the paths that a tool writes without a question, if every path is granted.
fn written<'a>(crib: &Crib, paths: &[&'a str]) -> Vec<&'a str> {
    let write = |path: &&&str| {
        let call = format!("fs.write path={path} content=evil parents=true");
        run(crib, &call, &["fs:write:**"]).code == Some(0)
    };
    paths.iter().filter(write).copied().collect()
}

/// Runs a script that writes into files, with these clauses.
fn script(crib: &Crib, paths: &[&str], clauses: &[&str]) -> Ended {
    let script: String = paths
        .iter()
        .map(|path| format!("mkdir -p $(dirname {path}); echo evil > {path}; "))
        .collect();
    let call = format!(
        "exec.run program=sh args='{}'",
        json!(["-c", script + "true"])
    );
    run(crib, &call, &[&["exec:write:sh **"], clauses].concat())
}

/// A repository with a link of each kind.
fn crib() -> Crib {
    let crib = Crib::new();
    let root = crib.root();
    for folder in ["objects", "refs", "hooks", "info"] {
        fs::create_dir_all(root.join(".git").join(folder)).unwrap();
    }
    put(&root.join(".git/HEAD"), "ref: refs/heads/main\n");
    for file in TARGETS.iter().chain(&OTHERS) {
        put(&root.join(file), "mine\n");
    }
    fs::remove_file(root.join("env/missing")).unwrap();
    link("env/dev", &root.join(".envrc"));
    link("ed", &root.join(".vscode"));
    link("../chain/last", &root.join("steps/first"));
    link("steps/first", &root.join("AGENTS.md"));
    link("../../env/missing", &root.join("a/b/CLAUDE.md"));
    link("../../scripts/hook", &root.join(".git/hooks/pre-commit"));
    link("../inner/tasks", &root.join("ed/tasks.json"));
    link(root.join("cg/x.toml"), &root.join(".cargo/config.toml"));
    link("ordinary/target", &root.join("ordinary/link"));
    crib
}

const TARGETS: [&str; 8] = [
    "env/dev",
    "ed/new.json",
    "chain/last",
    "env/missing",
    "scripts/hook",
    "inner/tasks",
    "cg/x.toml",
    "ed/deep/down",
];

const OTHERS: [&str; 5] = [
    "env/other",
    "scripts/other",
    "inner/other",
    "ordinary/target",
    "cg/other",
];

#[test]
fn a_tool_asks_before_it_writes_to_where_a_link_at_a_sensitive_name_leads() {
    let crib = crib();
    assert_eq!(written(&crib, &TARGETS), [""; 0]);
    assert_eq!(written(&crib, &OTHERS), OTHERS);
    let call = "fs.write path=env/dev content=x";
    let named = ["fs:write:**", "fs:write:env/dev"];
    let refused = run(&crib, call, &named[..1]);
    assert!(
        refused.stdout.contains("the target of a link"),
        "{refused:#?}"
    );
    run(&crib, call, &named).expect(0);
}

#[test]
fn a_program_cannot_write_to_where_a_link_at_a_sensitive_name_leads() {
    let crib = crib();
    if !has_bubblewrap(&crib) {
        return;
    }
    let clauses = ["env", "chain", "scripts", "inner", "cg", "ordinary"];
    let clauses = clauses.map(|folder| format!("fs:write:{folder}/**"));
    let clauses: Vec<&str> = clauses.iter().map(String::as_str).collect();
    let ended = script(&crib, &[&TARGETS[..], &OTHERS].concat(), &clauses);
    let evil = |path: &&&str| {
        let text = fs::read_to_string(crib.root().join(path));
        text.is_ok_and(|text| text == "evil\n")
    };
    let all = TARGETS.iter().chain(&OTHERS);
    let changed: Vec<&str> = all.filter(evil).copied().collect();
    assert_eq!(changed, OTHERS, "{ended:#?}");
    // Who names the place knows it.
    let ended = script(&crib, &["ed/new.json"], &["fs:write:ed/**"]);
    assert!(evil(&&"ed/new.json"), "{ended:#?}");
}
