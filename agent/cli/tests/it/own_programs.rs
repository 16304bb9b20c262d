//! Files of a workspace that other programs run by their place.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::own_files::put;
use crate::{Crib, Ended};

fn write(crib: &Crib, path: &str) -> Ended {
    let prompt = format!("fs.write path={path} content=evil parents=true");
    let mut command = crib.command(&[
        "run",
        &prompt,
        "--provider",
        "direct",
        "--allow",
        "fs:write:**",
    ]);
    Ended::from(command.env("PATH", search_path(crib)).output().unwrap())
}

/// Runs a session that may write all files, with this `PATH` in front.
fn session(crib: &Crib, call: &str, path: &str) -> Ended {
    let allowed = ["--allow", "fs:write:**", "--allow", "exec:write:sh **"];
    let mut command =
        crib.command(&[&["run", call, "--provider", "direct"], &allowed[..]].concat());
    let path = format!("{path}:{}", std::env::var("PATH").unwrap());
    Ended::from(command.env("PATH", path).output().unwrap())
}

/// Returns a `PATH` with two folders of the workspace in front.
fn search_path(crib: &Crib) -> String {
    let root = crib.root().canonicalize().unwrap();
    let path = std::env::var("PATH").unwrap();
    format!("{0}/tool/bin:{0}/.venv/bin:{path}", root.display())
}

#[test]
fn a_file_that_the_settings_of_the_repository_name_asks() {
    let crib = Crib::new();
    let git = |args: &[&str]| {
        assert!(
            Command::new("git")
                .args(args)
                .current_dir(crib.root())
                .status()
                .unwrap()
                .success()
        )
    };
    git(&["init", "-q"]);
    put(&crib.root().join("scripts/textconv"), "cat");
    for (key, value) in [
        ("core.hooksPath", "scripts/hooks"),
        ("include.path", "../shared.gitconfig"),
        ("diff.x.textconv", "scripts/textconv -x"),
        ("core.fsmonitor", "new/fsm --quiet"),
        ("core.pager", "pager"),
        ("remote.scripts.url", "scripts"),
        ("remote.scripts.uploadpack", "scripts/upload"),
        ("submodule.s.update", "!scripts/update"),
        ("alias.x", "!make -C ./scripts/make"),
        ("includeIf.onbranch:other.path", "../other.gitconfig"),
        ("includeIf.gitdir:/elsewhere/.path", "deep/inc"),
    ] {
        git(&["config", key, value]);
    }
    put(&crib.root().join("scripts/make/Makefile"), "");
    put(
        &crib.root().join("other.gitconfig"),
        "[core]\n\thooksPath = scripts/other-hooks\n\tfsmonitor = scripts/of-branch\n",
    );
    put(
        &crib.root().join(".git/deep/inc"),
        "[include]\n\tpath = ../../deeper.gitconfig\n",
    );
    for path in [
        "other.gitconfig",
        "deeper.gitconfig",
        "scripts/other-hooks/pre-commit",
        "scripts/of-branch",
        "scripts/upload",
        "scripts/update",
        "scripts/make/Makefile",
        "scripts/hooks/pre-commit",
        "shared.gitconfig",
        "scripts/textconv",
        "new/fsm",
    ] {
        let refused = write(&crib, path);
        assert!(refused.code != Some(0), "{path}: {refused:#?}");
        assert_ne!(
            std::fs::read_to_string(crib.root().join(path)).unwrap_or_default(),
            "evil",
            "{path}"
        );
    }
    write(&crib, "scripts/other").expect(0);
    write(&crib, "pager").expect(0);
    write(&crib, "hooks/pre-commit").expect(0);
}

#[test]
fn so_does_one_that_the_settings_of_a_worktree_name() {
    let crib = Crib::new();
    let git = |args: &[&str]| {
        let status = Command::new("git")
            .args(args)
            .current_dir(crib.root())
            .status();
        assert!(status.unwrap().success());
    };
    git(&["init", "-q", "--separate-git-dir=../store"]);
    git(&["config", "core.fsmonitor", "scripts/fsm"]);
    git(&["config", "extensions.worktreeConfig", "true"]);
    git(&["config", "--worktree", "core.pager", "scripts/pager -R"]);
    for path in ["scripts/fsm", "scripts/pager"] {
        assert!(write(&crib, path).code != Some(0) && !crib.root().join(path).exists());
    }
}

/// A submodule lies in the files of another repository, and so does an ignored one.
#[test]
fn so_does_one_that_the_settings_of_a_repository_around_that_one_name() {
    let crib = Crib::new();
    let git = |folder: &Path, args: &[&str]| {
        let status = Command::new("git").args(args).current_dir(folder).status();
        assert!(status.unwrap().success());
    };
    let (outer, root) = (crib.dir.path(), crib.root());
    for folder in [outer, &root] {
        git(folder, &["init", "-q"]);
    }
    for (key, value) in [
        ("core.hooksPath", "root/hooks"),
        ("core.fsmonitor", "root/tools/fsm"),
        ("alias.build", "!cd root && make -C ./ all"),
    ] {
        git(outer, &["config", key, value]);
    }
    for path in ["hooks/pre-commit", "tools/fsm"] {
        let refused = write(&crib, path);
        assert!(
            refused.code != Some(0) && !root.join(path).exists(),
            "{path}: {refused:#?}"
        );
    }
    write(&crib, "tools/other").expect(0);
}

#[test]
fn a_program_in_a_folder_of_the_path_asks() {
    let crib = Crib::new();
    assert!(
        write(&crib, "tool/bin/git").code != Some(0) && !crib.root().join("tool/bin/git").exists()
    );
    write(&crib, "bin/git").expect(0);
}

/// Tools such as `pip` write programs there, but none of the names of others.
#[test]
fn a_program_that_takes_the_place_of_another_one_in_a_folder_of_the_path_asks() {
    let crib = Crib::new();
    let git = ".venv/bin/git";
    assert!(write(&crib, git).code != Some(0) && !crib.root().join(git).exists());
    let own = write(&crib, ".venv/bin/own-program");
    assert!(own.code != Some(0), "{own:#?}");
    std::fs::create_dir_all(crib.root().join(".venv/bin")).unwrap();
    let script = "for name in git own; do echo evil > .venv/bin/$name; done";
    std::fs::write(crib.root().join("plant.sh"), script).unwrap();
    let call = r#"exec.run program=sh args=["plant.sh"]"#;
    let allowed = ["--allow", "fs:write:**", "--allow", "exec:write:sh **"];
    let mut command = crib.command(&["run", call, "--provider", "direct"]);
    drop(
        command
            .args(allowed)
            .env("PATH", search_path(&crib))
            .output()
            .unwrap(),
    );
    assert!(crib.root().join(".venv/bin/own").exists());
    assert!(!crib.root().join(git).exists());
}

#[test]
fn a_folder_of_the_path_that_is_spelled_through_a_link_or_without_a_root_is_recognised() {
    let crib = Crib::new();
    let root = crib.root().canonicalize().unwrap();
    let link = crib.dir.path().join("link");
    std::os::unix::fs::symlink(&root, &link).unwrap();
    for folder in ["tools", "real/bin", "scripts"] {
        std::fs::create_dir_all(root.join(folder)).unwrap();
    }
    let elsewhere = crib.dir.path().join("programs");
    std::os::unix::fs::symlink(root.join("scripts"), &elsewhere).unwrap();
    std::os::unix::fs::symlink("real", root.join("inner")).unwrap();
    let linked = |folder: &str| link.join(folder).display().to_string();
    std::fs::write(root.join("plant.sh"), "echo evil > $1; echo evil > own").unwrap();
    // Before any program, because sessions protect for a minute what that of a program did.
    session(&crib, "fs.write path=git content=x", "/nowhere").expect(0);
    session(&crib, "fs.write path=tools/own content=x", &linked("tools")).expect(0);
    std::fs::remove_file(root.join("git")).unwrap();
    for (path, planted) in [
        (linked("tools"), "tools/git"),
        (linked("new/bin"), "new/bin/any"),
        (linked("inner/bin"), "real/bin/any"),
        (elsewhere.display().to_string(), "scripts/git"),
        (root.display().to_string(), "git"),
        (link.display().to_string(), "git"),
        ("tools".to_owned(), "tools/git"),
        ("./tools".to_owned(), "tools/git"),
        (".".to_owned(), "git"),
    ] {
        let write = format!("fs.write path={planted} content=evil parents=true");
        let asked = session(&crib, &write, &path);
        assert!(
            asked.code != Some(0) && !root.join(planted).exists(),
            "{path}: {asked:#?}"
        );
        std::fs::create_dir_all(root.join(planted).parent().unwrap()).unwrap();
        let call = format!(r#"exec.run program=sh args=["plant.sh","{planted}"]"#);
        let told = session(&crib, &call, &path);
        assert!(root.join("own").exists(), "{path}: {told:#?}");
        assert!(!root.join(planted).exists(), "{path}: {told:#?}");
    }
}

#[test]
fn the_target_of_a_program_or_of_a_hook_that_is_a_link_asks_whatever_lies_beside_it() {
    let crib = Crib::new();
    let root = crib.root();
    let separate = ["init", "-q", "--separate-git-dir", "meta"];
    let mut git = Command::new("git");
    let status = git.args(separate).current_dir(&root).status();
    assert!(status.unwrap().success());
    for folder in ["src", "tool/bin", ".venv/bin", "target"] {
        std::fs::create_dir_all(root.join(folder)).unwrap();
    }
    let link = |target: &str, path: &str| symlink(target, root.join(path)).unwrap();
    link("../../src/tool.sh", "tool/bin/tool");
    link("../../src/launcher", ".venv/bin/launcher");
    link("../../target/built", "tool/bin/built");
    link("../../src/hook", "meta/hooks/pre-commit");
    for path in ["src/tool.sh", "src/launcher", "src/hook"] {
        let ended = write(&crib, path);
        assert!(
            ended.stdout.contains("a link at a name"),
            "{path} {ended:?}"
        );
        assert!(!ended.stderr.contains("too many files"), "{ended:?}");
    }
    for path in ["target/built", "src/other"] {
        write(&crib, path).expect(0);
    }
}

#[test]
fn the_path_is_read_as_shells_read_it() {
    let crib = Crib::new();
    let call = "fs.write path=PATH content=x parents=true";
    let home = crib.dir.path().join("home");
    let written = |file: &str, path: &str| {
        let call = call.replace("PATH", file);
        let mut command = crib.command(&[
            "run",
            &call,
            "--provider",
            "direct",
            "--allow",
            "fs:write:**",
        ]);
        let path = format!("{path}:{}", std::env::var("PATH").unwrap());
        command.env("PATH", path).env("HOME", &home);
        Ended::from(command.output().unwrap()).code == Some(0)
    };
    std::fs::create_dir_all(&home).unwrap();
    symlink(crib.root(), home.join("project")).unwrap();
    for path in ["~/project/bin", "bin", "./bin"] {
        assert!(!written("bin/tool", path), "{path}");
    }
    for path in [".", "./", ""] {
        assert!(!written("ls", path), "{path:?}");
    }
    assert!(written("bin/tool", "/nowhere") && written("ls", "~other"));
}
