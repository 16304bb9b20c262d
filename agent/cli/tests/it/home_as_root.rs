//! A session whose root is the home of the user, or lies around it.

use std::os::unix::fs::symlink;
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

/// Calls a tool in a session that may write all files, with this root, and this folder of the user's settings and data.
fn call_in(crib: &Crib, call: &str, root: &Path, settings: &Path, data: &Path) -> Ended {
    std::fs::create_dir_all(root).unwrap();
    let clauses = ["fs:write:**", "fs:write:.git/**", "exec:write:sh **"];
    let allowed = clauses.iter().flat_map(|clause| ["--allow", clause]);
    let words = ["run", "--provider", "direct", call, "--root"];
    let words = words.into_iter().chain(root.to_str()).chain(allowed);
    let mut command = crib.command(&words.collect::<Vec<_>>());
    command.env("XDG_CONFIG_HOME", settings);
    let command = command.env("HOME", crib.root().join("home"));
    ended(command.env("XDG_DATA_HOME", data), b"")
}

#[test]
fn a_root_in_a_folder_of_settings_is_written_only_with_approval() {
    let crib = Crib::new();
    for folder in [
        ".git/objects",
        ".git/refs",
        "home",
        "settings",
        "dots/linked",
        "claude",
    ] {
        std::fs::create_dir_all(crib.root().join(folder)).unwrap();
    }
    crib.write("root/.git/HEAD", "ref: refs/heads/main\n");
    let settings = "[core]\n\thooksPath = tools/hooks\n\thooksPath = ~/own/hooks\n";
    crib.write("root/.git/config", settings);
    crib.write("root/home/.gitconfig", "[core]\n\thooksPath = ~/hk\n");
    for (target, link) in [
        ("../dots/bashrc", "home/.bashrc"),
        ("../dots/linked", "settings/fish"),
        ("beside/env", ".envrc"),
        ("../claude", "home/.claude"),
    ] {
        symlink(target, crib.root().join(link)).unwrap();
    }
    for (path, root, asks) in [
        ("fish/config.fish", "settings", true),
        ("init.lua", "settings/nvim", true),
        (".gitignore", "settings", true),
        ("applications/x.desktop", "own/share", true),
        ("x.desktop", "own/share/applications", true),
        ("share/systemd/user/x.service", "home/.local", true),
        ("pre-commit", "home/hk", true),
        ("sub/pre-commit", "home/hk", true),
        ("tool", "home/bin", true),
        ("src/main.rs", "home/bin/project", false),
        ("src/main.rs", "claude/worktrees/x", false),
        ("x", "own", false),
        ("tasks.json", ".vscode", true),
        ("new", ".git", true),
        ("pre-commit", ".git/hooks", true),
        ("ci.yml", ".github/workflows", true),
        ("compose.yml", ".github/workflows", true),
        ("workflows/ci.yml", ".github", true),
        ("x.json", ".vscode/sub", true),
        ("post-merge", "tools/hooks", true),
        ("hooks/post-merge", "home/own", true),
        ("bashrc", "dots", true),
        ("sub/x", "dots/linked", true),
        ("env", "beside", true),
        ("notes.md", ".github", false),
        ("src/main.rs", ".claude/worktrees/x", false),
        ("x", "dots", false),
        ("x", "beside", false),
        (".git/logs/x", "settings", false),
        ("fish/config.fish", "other", false),
        ("x", "own/share/notes", false),
    ] {
        let [settings, data] = ["settings", "own/share"].map(|name| crib.root().join(name));
        let root = crib.root().join(root);
        let write = format!("fs.write path={path} content=x parents=true");
        let said = call_in(&crib, &write, &root, &settings, &data);
        let code = if asks { 5 } else { 0 };
        assert_eq!(said.code, Some(code), "{path} {said:#?}");
        assert_eq!(root.join(path).exists(), !asks, "{path}");
    }
}

#[test]
fn a_program_writes_a_folder_of_settings_only_after_a_question() {
    let crib = Crib::new();
    if !crib
        .run(&["doctor"])
        .stdout
        .contains("Programs run in bubblewrap.")
    {
        return;
    }
    let script = r#"exec.run program=sh args=["-c","echo evil > rc"]"#;
    for (root, is_changed) in [
        ("settings", false),
        ("settings/nvim", false),
        ("other", true),
    ] {
        let settings = crib.root().join("settings");
        let root = crib.root().join(root);
        std::fs::create_dir_all(&root).unwrap();
        // A new file would be moved aside in any case.
        std::fs::write(root.join("rc"), "mine").unwrap();
        let said = call_in(&crib, script, &root, &settings, Path::new("/nowhere"));
        let text = std::fs::read_to_string(root.join("rc")).unwrap();
        assert_eq!(text != "mine", is_changed, "{said:#?}");
    }
}
