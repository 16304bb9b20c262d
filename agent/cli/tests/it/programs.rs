//! Programs that tools run: the grant, the questions and the walls.

use crate::config::write_user;
use crate::own_files::{at_home, command_at_home, put};
use crate::terminal::{TIMEOUT_MS, end_with};
use crate::{Crib, Ended};

const PROMPT: &str = r#"exec.run program=echo args='["a b"]'"#;

fn run(crib: &Crib, prompt: &str, flags: &[&str]) -> Ended {
    crib.run(&[&["run", "--provider", "direct", prompt], flags].concat())
}

/// Returns true if this machine confines programs. The test of `doctor` checks its report.
fn is_confined(crib: &Crib) -> bool {
    !crib
        .run(&["doctor"])
        .stdout
        .contains("No programs can be run")
}

#[test]
fn doctor_shows_the_walls_of_this_machine() {
    let shown = Crib::new().run(&["doctor"]).stdout;
    for line in ["Landlock: ", "seccomp: ", "bubblewrap"] {
        assert!(shown.contains(line), "{shown}");
    }
    let ends = [
        "Programs run in bubblewrap.",
        "Programs run behind Landlock alone",
        "No programs can be run",
    ];
    assert!(ends.iter().any(|end| shown.contains(end)), "{shown}");
}

#[test]
fn a_command_runs_if_a_clause_and_a_rule_spell_its_words() {
    let crib = Crib::new();
    if !is_confined(&crib) {
        return;
    }
    let clause = "exec:write:echo 'a b'";
    let ended = run(&crib, PROMPT, &["--allow", clause]).expect(0);
    assert!(
        ended.stdout.contains("[exit code 0, ") && ended.stdout.contains("\na b\n"),
        "{ended:#?}"
    );
    let other = r#"exec.run program=echo args='["a","b"]'"#;
    assert!(
        !run(&crib, other, &["--allow", clause])
            .expect(5)
            .stdout
            .contains("exit code")
    );
}

#[test]
fn a_command_without_a_clause_is_refused_with_a_hint() {
    let ended = run(&Crib::new(), PROMPT, &[]).expect(5);
    assert!(
        format!("{ended:?}").contains("exec:write:echo 'a b'"),
        "{ended:#?}"
    );
}

#[test]
fn a_command_whose_parts_are_not_known_has_no_clause_in_its_hints() {
    let crib = Crib::new();
    let refused = run(&crib, r#"exec.shell script="echo $(id)""#, &[]).expect(5);
    let why = crib
        .run(&["why", "exec.shell", "script=echo $(id)"])
        .expect(0)
        .stdout;
    for shown in [format!("{}{}", refused.stdout, refused.stderr), why] {
        assert!(
            shown.contains("--grant exec:write:id") && !shown.contains("--grant 'exec"),
            "{shown}"
        );
        assert!(shown.contains("not known before it runs"), "{shown}");
    }
    let needed = r#"no flag allows exec:write:bash -c "$script: a command substitution"#;
    assert!(refused.stderr.contains(needed), "{refused:#?}");
    assert!(
        refused.stdout.contains("use plain commands"),
        "{refused:#?}"
    );
}

#[test]
fn the_settings_of_the_guide_give_the_permissions_that_it_names() {
    let crib = Crib::new();
    let (_, block) = include_str!("../../guide/programs.md")
        .split_once("<!-- file ~/.config/toolcrib/toolcrib.toml -->\n```toml\n")
        .unwrap();
    write_user(&crib, block.split_once("```").unwrap().0);
    let verdict = |command: &str, flags: &[&str]| {
        let (program, args) = command.split_once(' ').unwrap();
        let args = serde_json::json!(args.split(' ').collect::<Vec<_>>());
        let call = [
            "why",
            "exec.run",
            &format!("program={program}"),
            &format!("args={args}"),
            "--json",
        ];
        let shown = crib.run(&[&call, flags].concat()).expect(0).document();
        shown["verdict"].as_str().unwrap().to_owned()
    };
    let profile = &["--profile", "commit"][..];
    for (command, flags, expected) in [
        ("cargo test -p sums", &[][..], "allow"),
        ("cargo run", &[], "ask"),
        ("git diff", &[], "allow"),
        ("git add src", &[], "ask"),
        ("git add src", profile, "allow"),
        ("git commit -m x", profile, "allow"),
        ("git push", profile, "deny"),
    ] {
        assert_eq!(verdict(command, flags), expected, "{command} {flags:?}");
    }
}

#[test]
fn a_program_of_a_toolchain_that_is_not_allowed_is_answered_with_the_setting() {
    let crib = Crib::new();
    if !is_confined(&crib) {
        return;
    }
    let home = crib.dir.path().join("home");
    let cargo = home.join(".cargo/bin/cargo");
    put(&cargo, "#!/bin/sh\necho found\n");
    std::fs::set_permissions(&cargo, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let run = || {
        let mut command = crib.command(&[
            "call",
            "exec.run",
            "program=cargo",
            "--grant",
            "exec:write:cargo",
        ]);
        let path = format!("{}:/usr/bin:/bin", home.join(".cargo/bin").display());
        Ended::from(
            command
                .env("HOME", &home)
                .env("PATH", path)
                .output()
                .unwrap(),
        )
    };
    for settings in ["", "[programs]\ntoolchains = [\"node\"]\n"] {
        write_user(&crib, settings);
        let refused = run().expect(1);
        assert!(
            refused
                .stderr
                .contains("add \"rust\" to programs.toolchains"),
            "{refused:#?}"
        );
    }
    write_user(&crib, "[programs]\ntoolchains = [\"node\", \"rust\"]\n");
    assert!(run().expect(0).stdout.contains("found"));
}

#[test]
fn programs_cannot_read_the_folders_of_the_program() {
    let crib = Crib::new();
    if !is_confined(&crib) {
        return;
    }
    put(&crib.root().join(".config/toolcrib/secret"), "canary\n");
    put(&crib.root().join("file"), "readable\n");
    let prompt = r#"exec.run program=cat args='["file",".config/toolcrib/secret"]'"#;
    let flags = ["--grant", "fs:read:**", "--allow", "exec:write:cat **"];
    let ended = at_home(
        &crib,
        &[&["run", "--provider", "direct", prompt], &flags[..]].concat(),
    )
    .expect(0);
    assert!(
        ended.stdout.contains("readable") && !ended.stdout.contains("canary"),
        "{ended:#?}"
    );
}

/// Returns true if the walls of this machine keep single paths from programs that may write.
fn keeps_paths(crib: &Crib) -> bool {
    crib.run(&["doctor"])
        .stdout
        .contains("Programs run in bubblewrap.")
}

/// Copies the README by a program, with the root as the home and the grant of all files.
/// Runs the program with the root as the user's home, on a terminal, and agrees that its program writes there.
fn agreed_at_home(crib: &Crib, arguments: &[&str]) -> Ended {
    let command = command_at_home(crib, arguments);
    let mut session = rexpect::session::spawn_command(command, Some(TIMEOUT_MS)).unwrap();
    let asked = session.exp_string("Answer?").unwrap();
    assert!(
        asked.contains("May this program write your home"),
        "{asked}"
    );
    let (stdout, code) = end_with(session, "yes");
    Ended {
        code: Some(code),
        stdout: stdout.replace('\r', ""),
        stderr: String::new(),
    }
}

fn copy_at_home(crib: &Crib, place: &str) -> Ended {
    let prompt = format!(r#"exec.run program=install args='["-D","README.md","{place}"]'"#);
    let flags = ["--allow", "exec:write:install **", "--grant", "fs:*:**"];
    agreed_at_home(
        crib,
        &[&["run", "--provider", "direct", &prompt], &flags[..]].concat(),
    )
}

#[test]
fn programs_run_where_the_root_is_the_home() {
    let crib = Crib::new();
    if !keeps_paths(&crib) {
        return;
    }
    put(
        &crib.root().join(".config/toolcrib/toolcrib.toml"),
        "default_grants = true\n",
    );
    put(&crib.root().join(".config/toolcrib/mcp.json"), "{}");
    let ended = copy_at_home(&crib, "copy").expect(0);
    assert!(crib.root().join("copy").exists(), "{ended:#?}");
    // No program reaches links in a hidden folder.
    let skills = crib.root().join(".config/toolcrib/skills");
    std::fs::create_dir_all(&skills).unwrap();
    std::fs::create_dir_all(crib.root().join("checkout/moon")).unwrap();
    std::os::unix::fs::symlink(crib.root().join("checkout/moon"), skills.join("moon")).unwrap();
    let ended = agreed_at_home(
        &crib,
        &[
            "run",
            "--provider",
            "direct",
            PROMPT,
            "--allow",
            "exec:write:echo **",
            "--grant",
            "fs:write:**",
        ],
    );
    assert!(ended.expect(0).stdout.contains("\na b\n"));
}

#[test]
fn a_folder_of_dependencies_is_removed_whatever_its_packages_have() {
    let crib = Crib::new();
    for name in [
        ".eslintrc",
        ".npmrc",
        ".github/workflows/a.yml",
        ".vscode/tasks.json",
    ] {
        put(&crib.root().join("node_modules/package").join(name), "{}\n");
    }
    let ended = crib.run(&[
        "call",
        "exec.run",
        "program=rm",
        "args=[\"-r\",\"node_modules\"]",
        "--allow",
        "exec:write:rm -r node_modules",
        "--allow",
        "fs:write:**",
    ]);
    assert!(!crib.root().join("node_modules").exists(), "{ended:#?}");
}

#[test]
fn of_the_caches_of_toolchains_a_program_sees_that_of_its_workspace() {
    let crib = Crib::new();
    if !keeps_paths(&crib) {
        return;
    }
    put(
        &crib.root().join(".config/toolcrib/toolcrib.toml"),
        "[programs]\ntoolchains = ['rust']\n",
    );
    let other = ".cache/toolcrib-programs/0123456789abcdef/node/other";
    put(&crib.root().join(other), "canary\n");
    put(
        &crib.root().join("look.sh"),
        &format!(
            "cat {other}; rm -r .cache/toolcrib-programs/0*; echo mine > \"$CARGO_HOME/mine\"\n"
        ),
    );
    let ended = at_home(
        &crib,
        &[
            "call",
            "exec.run",
            "program=sh",
            "args=[\"look.sh\"]",
            "--allow",
            "exec:write:sh look.sh",
            "--allow",
            "fs:write:**",
        ],
    );
    assert!(!format!("{ended:?}").contains("canary"), "{ended:#?}");
    assert!(crib.root().join(other).exists());
    let caches = std::fs::read_dir(crib.root().join(".cache/toolcrib-programs")).unwrap();
    let mine = caches.filter(|cache| cache.as_ref().unwrap().path().join("rust/mine").exists());
    assert_eq!(mine.count(), 1, "{ended:#?}");
}

#[test]
fn a_program_cannot_replace_a_link_on_the_way_to_a_setting() {
    let crib = Crib::new();
    if !keeps_paths(&crib) {
        return;
    }
    for (link, target, config) in [
        (".agents", "dotfiles", None),
        ("conf", "dotfiles", Some("conf/x.toml")),
    ] {
        put(&crib.root().join("dotfiles/x.toml"), "");
        std::os::unix::fs::symlink(target, crib.root().join(link)).unwrap();
        let config = config.map(|file| format!("--config={}", crib.root().join(file).display()));
        let prompt = format!(r#"exec.run program=rm args='["{link}"]'"#);
        let flags = ["--allow", "exec:write:rm **", "--grant", "fs:*:**"];
        let all = [&["run", "--provider", "direct", &prompt], &flags[..]].concat();
        let ended = agreed_at_home(
            &crib,
            &all.into_iter().chain(config.as_deref()).collect::<Vec<_>>(),
        );
        assert!(
            ended.stdout.contains(&format!("{link} is a symbolic link")),
            "{ended:#?}"
        );
        assert!(
            !ended.stdout.contains("name it"),
            "no clause opens a setting: {ended:#?}"
        );
        assert!(crib.root().join(link).is_symlink());
        std::fs::remove_file(crib.root().join(link)).unwrap();
    }
}

#[test]
fn a_program_cannot_create_the_folders_of_the_user() {
    let crib = Crib::new();
    if !keeps_paths(&crib) {
        return;
    }
    let folders = [
        ".config/toolcrib",
        ".local/state/toolcrib",
        ".local/share/toolcrib",
        ".cache/toolcrib",
        ".agents/skills",
        ".claude/skills",
    ];
    at_home(
        &crib,
        &[
            "run",
            "--provider",
            "direct",
            PROMPT,
            "--allow",
            "exec:write:echo **",
        ],
    )
    .expect(0);
    assert!(!crib.root().join(".claude").exists());
    for folder in folders {
        let place = format!("{folder}/new/file");
        let ended = copy_at_home(&crib, &place);
        assert!(ended.stdout.contains("Read-only"), "{ended:#?}");
        assert!(
            !crib.root().join(place).exists() && crib.root().join(folder).is_dir(),
            "{ended:#?}"
        );
    }
    let ended = copy_at_home(&crib, "else/file").expect(0);
    assert!(crib.root().join("else/file").exists(), "{ended:#?}");
}

#[test]
fn a_program_cannot_create_what_a_link_of_the_user_leads_to() {
    let crib = Crib::new();
    if !keeps_paths(&crib) {
        return;
    }
    let home = crib.dir.path().join("home");
    let link = |link: &str, target: &str| {
        let link = home.join(link);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(crib.root().join(target), link).unwrap();
    };
    let copy = |place: &str| {
        let prompt = format!(r#"exec.run program=install args='["-D","README.md","{place}"]'"#);
        let flags = [
            "--no-journal",
            "--allow",
            "exec:write:install **",
            "--grant",
            "fs:*:**",
        ];
        let mut command =
            crib.command(&[&["run", "--provider", "direct", &prompt], &flags[..]].concat());
        Ended::from(
            command
                .env("HOME", &home)
                .env_remove("XDG_CONFIG_HOME")
                .output()
                .unwrap(),
        )
    };
    link(".agents/skills", "skills");
    link(".claude/skills/moon", "moon");
    link(".config/toolcrib", "config");
    for folder in ["skills", "moon", "config"] {
        let ended = copy(&format!("{folder}/new/file"));
        assert!(
            ended.stdout.contains("Read-only") && !crib.root().join(folder).join("new").exists(),
            "{ended:#?}"
        );
    }
    copy("else/file").expect(0);
    assert!(crib.root().join("else/file").exists());
    // Walls cannot keep a file that is missing.
    link(".config/toolcrib/toolcrib.toml", "settings");
    let ended = copy("settings");
    assert!(
        ended.stdout.contains("leads nowhere") && !crib.root().join("settings").exists(),
        "{ended:#?}"
    );
}

#[test]
fn a_command_that_may_start_is_used_in_the_background_without_questions_until_the_session_ends() {
    let crib = Crib::new();
    if !is_confined(&crib) {
        return;
    }
    let prompts = "exec.start program=cat\nexec.write handle=t1 text=hello\nexec.list\n";
    let chat = ["chat", "--provider", "direct", "--allow", "exec:write:cat"];
    let ended = crib.run_with_input(&chat, prompts.as_bytes()).expect(0);
    assert!(ended.stdout.contains("\nstdout:\nhello\n"), "{ended:#?}");
    assert!(
        ended.stdout.contains("t1: runs for ") && ended.stdout.contains(": cat\n"),
        "{ended:#?}"
    );
}

#[test]
fn the_end_of_a_background_program_is_shown() {
    let crib = Crib::new();
    if !is_confined(&crib) {
        return;
    }
    let prompts = "exec.start program=cat\nexec.write handle=t1 end=true wait=0 ; task.result task=t1 wait=60\ntask.list\n";
    let chat = ["chat", "--provider", "direct", "--allow", "exec:write:cat"];
    let ended = crib.run_with_input(&chat, prompts.as_bytes()).expect(0);
    assert!(
        ended
            .stderr
            .contains("task t1 has ended: exit code 0: exec.start: cat\n"),
        "{ended:#?}"
    );
    assert!(ended.stdout.contains("\n[t1: exit code 0]\n"), "{ended:#?}");
    assert!(
        ended.stdout.contains("t1: exit code 0: exec.start: cat\n"),
        "{ended:#?}"
    );
}

#[test]
fn a_call_without_a_session_says_that_its_program_ends() {
    let crib = Crib::new();
    if !is_confined(&crib) {
        return;
    }
    let grants = ["--grant", "fs:read:**", "--grant", "exec:write:**"];
    let ended = crib
        .run(&[&["call", "exec.start", "program=cat"], &grants[..]].concat())
        .expect(0);
    assert!(
        ended.stdout.contains("[t1: runs for ") && ended.stdout.contains("it ends now"),
        "{ended:#?}"
    );
}

#[cfg(feature = "default")]
#[test]
fn a_program_reaches_a_host_of_the_grant_and_of_the_settings() {
    let crib = Crib::new();
    let is_possible = crib
        .run(&["doctor"])
        .stdout
        .contains("Programs run in bubblewrap.");
    if !is_possible || !std::path::Path::new("/usr/bin/curl").exists() {
        return;
    }
    let server = crate::web::PageServer::new(|_| {
        tools_testkit::http::TestServer::ok("text/plain", "42 hammers")
    });
    let args = serde_json::json!(["-sS", "--noproxy", "", format!("http://{}/", server.host)]);
    let prompt = format!("exec.run program=curl args='{args}'");
    let allow = ["--allow", "exec:write:curl **", "--grant", "fs:read:**"];
    let private = ["--private-host", &*server.host];
    let (clause, named) = (server.clause(), "42 hammers");
    let grant = ["--grant", &*clause];
    for (flags, shown) in [
        ([&allow[..], &private, &grant].concat(), named),
        ([&allow[..], &grant].concat(), "not public"),
        ([&allow[..], &private].concat(), "Failed to connect"),
    ] {
        let ended = run(&crib, &prompt, &flags);
        assert!(ended.stdout.contains(shown), "{shown} {ended:#?}");
        assert_eq!(ended.stdout.contains(named), shown == named);
    }
}

#[cfg(feature = "default")]
#[test]
fn a_program_cannot_create_the_secret_or_the_inbox_of_a_channel() {
    use std::os::unix::fs::PermissionsExt as _;

    let crib = Crib::new();
    let [url, inbox, out] =
        ["deep/url.txt", "in.jsonl", "out.jsonl"].map(|name| crib.root().join(name));
    let settings = format!(
        "[channels.team]\ntype = 'webhook'\nurl_file = '{}'\n[channels.box]\ntype = 'file'\npath = '{}'\ninbox = '{}'\n",
        url.display(),
        out.display(),
        inbox.display()
    );
    write_user(&crib, &settings);
    let script = "mkdir -p deep; for f in deep/url.txt in.jsonl; do rm -f $f; mv -f deep deep2; echo https://evil.example/ > $f; done";
    let prompt = format!(
        "exec.run program=sh args='{}'",
        serde_json::json!(["-c", script])
    );
    let ended = run(
        &crib,
        &prompt,
        &["--allow", "exec:write:**", "--grant", "fs:write:**"],
    );
    for file in [url, inbox, out] {
        assert_eq!(
            std::fs::read_to_string(&file).unwrap(),
            "",
            "{} {ended:#?}",
            file.display()
        );
        assert_eq!(
            file.metadata().unwrap().permissions().mode() & 0o777,
            0o600,
            "{}",
            file.display()
        );
    }
}
