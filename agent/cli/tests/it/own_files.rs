//! The program's own files: tools can neither see the user's nor write a project's.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::terminal::{QUESTION, on_terminal, rest, say, twice};
use crate::{Crib, Ended};

pub(crate) fn put(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Returns the command for the program, with the root as the user's home.
pub(crate) fn command_at_home(crib: &Crib, arguments: &[&str]) -> Command {
    let mut command = crib.command(arguments);
    for variable in [
        "XDG_CONFIG_HOME",
        "XDG_STATE_HOME",
        "XDG_DATA_HOME",
        "XDG_CACHE_HOME",
    ] {
        command.env_remove(variable);
    }
    command.env("HOME", crib.root());
    command
}

/// Runs the program with the root as the user's home.
pub(crate) fn at_home(crib: &Crib, arguments: &[&str]) -> Ended {
    let mut command = command_at_home(crib, arguments);
    command.stdin(Stdio::null()).output().unwrap().into()
}

#[test]
fn the_users_side_is_out_of_reach_where_the_root_is_the_home() {
    let crib = Crib::new();
    let folders = [
        ".config/toolcrib",
        ".local/state/toolcrib",
        ".local/share/toolcrib",
        ".cache/toolcrib",
        ".cache/toolcrib-programs",
    ];
    for folder in folders {
        put(&crib.root().join(folder).join("file"), "canary\n");
    }
    put(
        &crib.root().join(".config/toolcrib/toolcrib.toml"),
        "select = ['fs.*'] # canary\n",
    );
    for folder in folders {
        let path = format!("path={folder}/file");
        let ended = at_home(&crib, &["call", "fs.read", &path]).expect(1);
        assert!(ended.stderr.contains("there is no"), "{ended:#?}");
        let write = ["call", "fs.write", &path, "content=x", "--grant", "*:*:**"];
        let ended = at_home(&crib, &write).expect(1);
        assert!(ended.stderr.contains("out of reach"), "{ended:#?}");
    }
    let found = at_home(
        &crib,
        &["call", "fs.search", "pattern=canary", "ignored=true"],
    )
    .expect(0);
    assert!(found.stdout.contains("no line matches"), "{found:#?}");
    let remove = [
        "run",
        "fs.remove path=.local recursive=true",
        "--provider",
        "direct",
        "--allow",
        "fs:destroy:**",
        "--allow",
        "fs:destroy:.local",
    ];
    let ended = at_home(&crib, &remove).expect(1);
    assert!(ended.stderr.contains("may not touch"), "{ended:#?}");
    assert!(crib.root().join(".local/state/toolcrib/file").exists());
    let ended = at_home(&crib, &["call", "time.now", "--root", ".config/toolcrib"]).expect(2);
    assert!(ended.stderr.contains("choose another root"), "{ended:#?}");
}

#[test]
fn files_of_the_user_that_a_link_leads_to_are_out_of_reach_as_well() {
    let crib = Crib::new();
    let files = [
        ("toolcrib.toml", "select = ['fs.*'] # canary\n"),
        ("mcp.json", "{}\n"),
    ];
    for (name, text) in files {
        let (user, target) = (
            crib.dir.path().join("config/toolcrib").join(name),
            format!("dotfiles/of-{name}"),
        );
        std::fs::create_dir_all(user.parent().unwrap()).unwrap();
        put(&crib.root().join(&target), text);
        std::os::unix::fs::symlink(crib.root().join(&target), &user).unwrap();
        let path = format!("path={target}");
        crib.run(&["call", "fs.read", &path]).expect(1);
        crib.run(&[
            "call",
            "fs.write",
            &path,
            "content=x",
            "--allow",
            "fs:write:**",
        ])
        .expect(1);
        assert_eq!(std::fs::read_to_string(&user).unwrap(), text);
    }
}

#[test]
fn no_tool_writes_the_control_files_of_a_session() {
    let crib = Crib::new();
    let rules = "[[policy]]\nverdict = 'deny'\ntool = 'fs.remove'\n";
    for (path, text) in [
        ("toolcrib.toml", "select = ['fs.*']\n"),
        ("conf/rules.toml", rules),
        ("other.toml", ""),
    ] {
        put(&crib.root().join(path), text);
    }
    std::os::unix::fs::symlink("conf/rules.toml", crib.root().join("link.toml")).unwrap();
    let everything = [
        "--allow",
        "*:*:**",
        "--allow",
        "fs:write:**",
        "--allow",
        "fs:write:toolcrib.toml",
    ];
    let cases: [(&str, &[&str]); 4] = [
        ("toolcrib.toml", &[]),
        ("new/toolcrib.toml", &[]),
        ("conf/rules.toml", &["--policy", "link.toml"]),
        ("other.toml", &["--config", "./conf/../other.toml"]),
    ];
    for (path, flags) in cases {
        let before = std::fs::read_to_string(crib.root().join(path)).ok();
        for call in [
            vec![
                "run",
                &*format!("fs.write path={path} content=x parents=true"),
                "--provider",
                "direct",
            ],
            vec![
                "call",
                "fs.write",
                &format!("path={path}"),
                "content=x",
                "parents=true",
            ],
        ] {
            let ended = crib
                .run(&[&call, &everything[..], flags].concat())
                .expect(5);
            assert!(
                ended.stderr.contains("no flag allows fs:write:"),
                "{ended:#?}"
            );
            assert!(!ended.stderr.contains("add --"), "{ended:#?}");
        }
        assert_eq!(std::fs::read_to_string(crib.root().join(path)).ok(), before);
        if before.is_some() {
            crib.run(&[&["call", "fs.read", &*format!("path={path}")], flags].concat())
                .expect(0);
        }
    }
}

#[test]
fn writing_settings_asks_each_time_and_says_so() {
    let crib = Crib::new();
    let script = twice(
        &crib,
        "fs.write",
        r#"{"path": "toolcrib.toml", "content": ""}"#,
    );
    let arguments = ["run", "x", "--script", &script, "--grant", "fs:write:**"];
    let mut session = on_terminal(&crib, &arguments);
    for _ in 0..2 {
        let question = session.exp_string(QUESTION).unwrap();
        assert!(question.contains("the settings of Toolcrib"), "{question}");
        say(&mut session, "s", &[QUESTION]);
        session.send_line("y").unwrap();
    }
    assert_eq!(rest(session).1, 0);
}

#[test]
fn a_file_that_runs_by_itself_must_be_named_by_a_flag_or_a_typed_call() {
    let crib = Crib::new();
    put(&crib.root().join(".git/config"), "");
    let call = "fs.write path=.git/config content=x";
    let run = |flags: &[&str]| crib.run(&[&["run", call, "--provider", "direct"], flags].concat());
    for flags in [&["--grant", "fs:write:**"][..], &["--allow", "fs:write:**"]] {
        let ended = run(flags).expect(5);
        assert!(
            ended.stderr.contains("add --grant fs:write:.git/config"),
            "{ended:#?}"
        );
        assert!(
            ended.stdout.contains("a part of a git repository")
                || ended.stderr.contains("a part of a git")
        );
    }
    run(&["--grant", "fs:write:**", "--grant", "fs:write:.git/config"]).expect(0);
    crib.run(&[
        "call",
        "fs.write",
        "path=.git/config",
        "content=x",
        "--grant",
        "fs:write:**",
    ])
    .expect(0);
    std::os::unix::fs::symlink(".git", crib.root().join("link")).unwrap();
    crib.run(&[
        "call",
        "fs.write",
        "path=link/config",
        "content=x",
        "--grant",
        "fs:write:**",
    ])
    .expect(5);
}

#[cfg(feature = "default")]
#[test]
fn a_journal_inside_of_the_root_is_out_of_reach() {
    let crib = Crib::new();
    let run = |call: &str| {
        let flags = [
            "--provider",
            "direct",
            "--journal",
            "calls.journal",
            "--grant",
            "fs:write:**",
        ];
        crib.run(&[&["run", call], &flags[..]].concat())
    };
    run("fs.read path=README.md").expect(0);
    for path in ["calls.journal", "calls.journal-wal"] {
        run(&format!("fs.read path={path}")).expect(1);
        run(&format!("fs.write path={path} content=x")).expect(1);
    }
    let listed = run("fs.list").expect(0);
    assert!(!listed.stdout.contains("journal"), "{listed:#?}");
}

#[test]
#[cfg(all(feature = "builtin", target_os = "linux"))]
fn the_file_of_the_running_program_is_a_control_file() {
    let crib = Crib::new();
    let bubblewrap = crib
        .run(&["doctor"])
        .stdout
        .contains("Programs run in bubblewrap.");
    let allowed = [
        "--allow",
        "fs:write:**",
        "--allow",
        "exec:write:sh **",
        "--allow",
        "fs:destroy:**",
    ];
    for has_other_name in [false, true] {
        let (file, other) = (crib.root().join("opt/own"), crib.root().join("opt/deps"));
        std::fs::create_dir_all(crib.root().join("opt")).unwrap();
        std::fs::copy(env!("CARGO_BIN_EXE_toolcrib"), &file).unwrap();
        if has_other_name {
            std::fs::hard_link(&file, &other).unwrap();
        }
        let length = |path: &Path| std::fs::metadata(path).map(|metadata| metadata.len()).ok();
        let before = length(&file);
        let session = |call: &str| {
            let mut command = std::process::Command::new(&file);
            let of_crib =
                crib.command(&[&["run", call, "--provider", "direct"], &allowed[..]].concat());
            command.args(of_crib.get_args()).current_dir(crib.root());
            for (name, value) in of_crib.get_envs() {
                match value {
                    Some(value) => command.env(name, value),
                    None => command.env_remove(name),
                };
            }
            Ended::from(command.output().unwrap())
        };
        let asked = session("fs.write path=opt/own content=evil");
        assert!(
            asked.code != Some(0) && length(&file) == before,
            "{asked:#?}"
        );
        if !bubblewrap {
            continue;
        }
        let told = session(
            r#"exec.shell script="sh -c 'rm -f opt/own; echo evil > opt/own; echo > opt/new'""#,
        );
        assert!(crib.root().join("opt/new").exists(), "{told:#?}");
        // A build that replaces it does not fail, but a person has to put back what it left.
        let expected = before.filter(|_| !has_other_name);
        assert_eq!(length(&file), expected, "{told:#?}");
        assert_eq!(
            told.stderr.contains("a program left opt/own"),
            has_other_name,
            "{told:#?}"
        );
        std::fs::remove_dir_all(crib.root().join("opt")).unwrap();
    }
}
