//! A session whose root is the home of the user, or lies around it.

use std::path::Path;

use crate::{Crib, Ended, ended};

/// Calls a tool in a session that may write all files, with this home.
fn call(crib: &Crib, call: &str, home: &Path) -> Ended {
    let allowed = ["--allow", "fs:write:**", "--allow", "exec:write:sh **"];
    let mut command =
        crib.command(&[&["run", "--provider", "direct", call], &allowed[..]].concat());
    ended(command.env("HOME", home), b"")
}

#[test]
fn caches_in_the_home_are_written_only_with_approval() {
    let crib = Crib::new();
    let write = |path: &str, home: &Path| {
        let content = format!("fs.write path={path} content=x parents=true");
        call(&crib, &content, home).code
    };
    let (root, inner) = (crib.root(), crib.root().join("sub"));
    for (path, home, code) in [
        (".cache/p10k.zsh", &root, Some(5)),
        ("sub/.gradle/caches/x", &inner, Some(5)),
        ("sub/.cache/a", &root, Some(0)),
        (".cache/a", &inner, Some(0)),
    ] {
        assert_eq!(write(path, home), code, "{path}");
        assert_eq!(root.join(path).exists(), code == Some(0), "{path}");
    }
}

#[test]
fn a_program_writes_the_home_only_after_a_question() {
    let crib = Crib::new();
    let elsewhere = crib.dir.path().join("home");
    let script = r#"exec.run program=sh args=["-c","echo > made"]"#;
    for home in [&crib.root(), &crib.root().join("sub")] {
        let said = call(&crib, script, home);
        assert!(!crib.root().join("made").exists(), "{said:#?}");
    }
    let doctor = crib.run(&["doctor"]).stdout;
    if doctor.contains("Programs run in bubblewrap.") {
        let said = call(&crib, script, &elsewhere);
        assert!(crib.root().join("made").exists(), "{said:#?}");
    }
}

#[test]
fn a_root_in_a_folder_of_settings_is_written_only_with_approval() {
    let crib = Crib::new();
    let write = |path: &str, root: &str, config: &str| {
        let root = crib.root().join(root);
        std::fs::create_dir_all(&root).unwrap();
        let call = format!("fs.write path={path} content=x parents=true");
        let allow = ["--allow", "fs:write:**", "--allow", "fs:write:**/.git/**"];
        let words = [
            "run",
            "--root",
            root.to_str().unwrap(),
            "--provider",
            "direct",
            &call,
        ];
        let mut command = crib.command(&[&words[..], &allow].concat());
        let config = crib.root().join(config);
        let said = ended(command.env("XDG_CONFIG_HOME", config), b"");
        assert_eq!(said.code == Some(0), root.join(path).exists(), "{said:#?}");
        said.code
    };
    for (path, root, config, code) in [
        ("fish/config.fish", "settings", "settings", Some(5)),
        ("init.lua", "settings/nvim", "settings", Some(5)),
        (".gitignore", "settings", "settings", Some(5)),
        (".git/logs/x", "settings", "settings", Some(0)),
        ("fish/config.fish", "settings", "other", Some(0)),
        ("tasks.json", ".vscode", "other", Some(5)),
        ("config", ".git", "other", Some(5)),
    ] {
        assert_eq!(write(path, root, config), code, "{root} {path}");
    }
}
