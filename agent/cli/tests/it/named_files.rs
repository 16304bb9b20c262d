//! The files that the user's settings name, which a session must not choose for the next one.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::config::write_user;
use crate::own_files::put;
use crate::{Crib, Ended, ended};

/// Writes a file of the root with every clause, as a session of a home does.
fn write(crib: &Crib, path: &str, flags: &[&str]) -> Ended {
    let call = format!(
        "fs.write {}",
        json!({"path": path, "content": "evil", "parents": true})
    );
    let run = [
        "run",
        &call,
        "--provider",
        "direct",
        "--allow",
        "fs:write:**",
    ];
    let mut command = crib.command(&[&run[..], flags].concat());
    let of_ssh = format!("ssh -F {}", crib.root().join("sc/of-ssh").display());
    command.env("GIT_SSH_COMMAND", of_ssh);
    command.env("GIT_TEMPLATE_DIR", crib.root().join("template"));
    command.env("GIT_EXEC_PATH", crib.root().join("libexec"));
    command
        .env("GIT_PREFIX", "src/")
        .env("GIT_WORK_TREE", crib.root().join("src"));
    ended(command.env("HOME", crib.dir.path().join("home")), b"")
}

/// Asserts that sessions with these flags write none of the files, and write another one.
#[track_caller]
fn assert_protected(crib: &Crib, paths: &[&str], flags: &[&str]) {
    for path in paths {
        let ended = write(crib, path, flags);
        assert!(ended.code != Some(0), "{path} {flags:?}: {ended:#?}");
        assert_ne!(
            fs::read_to_string(crib.root().join(path)).unwrap_or_default(),
            "evil",
            "{path} {flags:?}"
        );
    }
    write(crib, "free.md", flags).expect(0);
}

#[test]
fn what_the_users_settings_name_is_protected_in_sessions_that_do_not_apply_them() {
    let crib = Crib::new();
    for name in ["key", "sk", "ca.pem"] {
        put(&crib.root().join("keys").join(name), "");
    }
    let keys = crib.root().join("keys");
    let settings = format!(
        "provider = 'openai'\nkey_file = {:?}\n[skills]\nfolders = [{:?}]\n[web]\nsearch_key_file = {:?}\n[http]\nca_file = {:?}\n",
        keys.join("key"),
        crib.root().join("skills"),
        keys.join("sk"),
        keys.join("ca.pem"),
    );
    write_user(&crib, &settings);
    let empty = crib.write("empty.toml", "");
    let paths = ["keys/key", "keys/sk", "keys/ca.pem", "skills/two/SKILL.md"];
    for flags in [&["--no-config"][..], &["--config", &empty]] {
        assert_protected(&crib, &paths, flags);
    }
    let without = settings
        .lines()
        .filter(|line| !line.contains("ca.pem") && *line != "[http]");
    write_user(&crib, &without.collect::<Vec<_>>().join("\n"));
    assert_protected(&crib, &["keys/key", "keys/sk", "skills/two/SKILL.md"], &[]);
    // A secret is not read either.
    put(&keys.join("key"), "sk-own");
    for key in ["keys/key", "keys/sk"] {
        let read = crib.run(&["call", "fs.read", &format!("path={key}")]);
        assert!(
            read.code != Some(0) && !read.stdout.contains("sk-own"),
            "{read:#?}"
        );
    }
}

#[test]
fn what_the_approved_settings_of_another_project_name_is_protected() {
    let crib = Crib::new();
    let other = crib.dir.path().join("other");
    let names = |folder: &Path| {
        format!(
            "[skills]\nfolders = [{:?}]\n[web]\nsearch_key_file = {:?}\n",
            folder.join("skills"),
            folder.join("sk")
        )
    };
    put(&other.join("toolcrib.toml"), &names(&crib.root()));
    write_user(&crib, &format!("trusted = [{other:?}]\n"));
    let trust = |arguments: &[&str]| {
        let mut command = crib.command(&[&["trust"], arguments].concat());
        ended(command.current_dir(&other), b"")
    };
    // A project that nobody has approved protects nothing.
    write(&crib, "sk", &[]).expect(0);
    fs::remove_file(crib.root().join("sk")).unwrap();
    let shown = trust(&[]).stdout;
    let digest = shown
        .lines()
        .find_map(|line| line.trim().strip_prefix("digest: "))
        .unwrap();
    trust(&["--digest", digest]).expect(0);
    for flags in [&[][..], &["--no-config"]] {
        assert_protected(&crib, &["sk", "skills/two/SKILL.md"], flags);
    }
    // It may be back in the next session, also with an earlier content.
    put(&other.join("toolcrib.toml"), "select = []\n");
    assert_protected(&crib, &["sk"], &["--no-config"]);
    fs::remove_file(other.join("toolcrib.toml")).unwrap();
    assert_protected(&crib, &["sk", "skills/two/SKILL.md"], &[]);
    fs::rename(&other, crib.dir.path().join("away")).unwrap();
    assert_protected(&crib, &["sk"], &[]);
    fs::rename(crib.dir.path().join("away"), &other).unwrap();
    // So may the entry that trusts it.
    write_user(&crib, "");
    assert_protected(&crib, &["sk", "skills/two/SKILL.md"], &[]);
    trust(&["--revoke"]).expect(0);
    write(&crib, "sk", &[]).expect(0);
}

#[test]
fn settings_with_a_mistake_protect_what_can_be_read_of_them_and_a_warning_says_so() {
    let crib = Crib::new();
    let names = |name: &str| crib.root().join(name);
    let settings = format!(
        "key_file = {:?}\n[skills]\nfolders = [{:?}]\n",
        names("key"),
        names("skills"),
    );
    put(&names("key"), "");
    for mistake in [
        "unheard_of = 1\n",
        "select = 7\n",
        "model = \n",
        "[profiles.q]\nx = 1\n",
    ] {
        let text = if mistake.starts_with('[') {
            format!("{settings}{mistake}")
        } else {
            format!("{mistake}{settings}")
        };
        write_user(&crib, &text);
        let paths = ["key", "skills/two/SKILL.md"];
        assert_protected(&crib, &paths, &["--no-config"]);
        let told = write(&crib, "free.md", &["--no-config"]).stderr;
        assert!(told.contains("may not be protected"), "{mistake}: {told}");
        write(&crib, "free.md", &[]).expect(2);
    }
}

#[test]
fn the_users_settings_of_git_are_protected_wherever_they_are() {
    let crib = Crib::new();
    let home = crib.dir.path().join("home");
    fs::create_dir_all(&home).unwrap();
    let root = crib.root();
    put(
        &root.join("dot/gitconf"),
        &format!(
            "[user]\n\temail = me@example.org\n\tsigningKey = dot/key.pub\n[include] path = {}/dot/inc\n",
            root.display()
        ),
    );
    put(
        &root.join("dot/inc"),
        "[include]\n\tpath = deep\n[core]\n\thooksPath = hooks\n\tpager = ./page\n",
    );
    put(&root.join("dot/page"), "");
    put(&root.join("dot/key.pub"), "");
    std::os::unix::fs::symlink(root.join("dot/gitconf"), home.join(".gitconfig")).unwrap();
    let paths = [
        "dot/gitconf",
        "dot/inc",
        "dot/deep",
        "dot/hooks/pre-push",
        "dot/page",
        "dot/key.pub",
    ];
    for flags in [&[][..], &["--no-config"]] {
        assert_protected(&crib, &paths, flags);
    }
    assert!(!write(&crib, "dot/free", &[]).stderr.contains("control"));
}

#[test]
fn a_relative_path_in_settings_of_git_is_protected_in_each_folder() {
    let settings = "[core]\n\thooksPath = ./hooks\n\tfsmonitor = tools/fsm\n[alias]\n\tci = !./scripts/ci.sh\n\td = !cd src/web\n\
                    [gitflow \"prefix\"]\n\tfeature = feature/\n";
    let of_worktree = "root/.git/worktrees/a/config.worktree";
    for file in ["home/.gitconfig", "root/.git/config", of_worktree] {
        let crib = Crib::new();
        let git = Command::new("git")
            .args(["init", "-q"])
            .arg(crib.root())
            .status();
        assert!(git.unwrap().success());
        let file = match file.strip_prefix("root/") {
            Some(file) => crib.root().join(file),
            None => crib.dir.path().join(file),
        };
        let repository = fs::read_to_string(&file).unwrap_or_default();
        put(&file, &format!("{repository}{settings}"));
        put(&crib.root().join("src/web/file"), "");
        let paths = ["src/hooks/commit-msg", "a/tools/fsm", "a/b/scripts/ci.sh"];
        assert_protected(&crib, &paths, &[]);
        for path in [
            "src/hooks/use-form.ts",
            "src/tools/other",
            "ci.sh",
            "a/src/web",
            "src/feature",
        ] {
            write(&crib, path, &[]).expect(0);
        }
    }
}

#[test]
fn a_file_that_the_users_settings_of_git_name_among_other_words_is_protected() {
    let crib = Crib::new();
    let root = crib.root().canonicalize().unwrap();
    let at = root.display();
    let settings = format!(
        "[alias]\n\tx = \"!{at}/sc/alias --foo\"\n\ty = \"!sh {at}/sc/y.sh\"\n[core]\n\tpager = \\\n\t\t\"{at}/sc/pager\" -R\n\
         \tsshCommand = ssh -F{at}/sc/sshconf -o X=1\n\tfsmonitor = {at}/new/fsm\n\thooksPath = githooks # mine\n\
         [filter \"l=]\"] clean = {at}/sc/clean %f\n[merge \"foo\"]\n\tdriver = \"sh -c '\\\"{at}/sc/m d\\\" $1'\"\n\
         [sequence]\n\teditor = sh -c '{at}/sc/seq $1' --\n[credential]\n\thelper = \"!f() {{ {at}/sc/cred|cat; }}; f\"\n\
         [gpg]\n\tprogram = scripts/gpg -x\n[x]\n\ty = --config={at}/sc/option\n"
    );
    put(&crib.dir.path().join("home/.gitconfig"), &settings);
    let existing = [
        "alias", "y.sh", "pager", "sshconf", "clean", "m d", "seq", "cred", "option",
    ];
    for name in existing {
        put(&root.join("sc").join(name), "");
    }
    let existing = existing.map(|name| format!("sc/{name}"));
    let missing = ["new/fsm", "scripts/gpg", "githooks/pre-push", "sc/of-ssh"].map(str::to_owned);
    let paths: Vec<_> = existing
        .iter()
        .chain(&missing)
        .map(String::as_str)
        .collect();
    assert_protected(&crib, &paths, &[]);
    write(&crib, "f", &[]).expect(0);
    write(&crib, "mine", &[]).expect(0);
}

#[test]
fn what_the_settings_of_the_repository_of_git_dir_name_is_protected() {
    let crib = Crib::new();
    let (dots, hooks) = (crib.dir.path().join("dots"), crib.root().join("checks"));
    put(&hooks.join("pre-commit"), "");
    let settings = format!("[core]\n\thooksPath = {}\n", hooks.display());
    put(&dots.join("config"), &settings);
    let call = "fs.write path=checks/pre-commit content=evil";
    let write = [
        "run",
        call,
        "--provider",
        "direct",
        "--allow",
        "fs:write:**",
    ];
    let mut command = crib.command(&write);
    let refused = ended(command.env("GIT_DIR", &dots), b"");
    assert!(refused.code != Some(0), "{refused:#?}");
    crib.run(&write).expect(0);
}

#[test]
fn a_folder_that_the_users_settings_or_variables_of_git_name_is_protected_with_all_in_it() {
    let crib = Crib::new();
    let root = crib.root().canonicalize().unwrap();
    let at = root.display();
    let settings = format!(
        "[alias]\n\ta = \"!cd {at}/f/cd; ./x\"\n\tb = !make -C {at}/f/make\n\tc = !PYTHONPATH={at}/f/py:$PYTHONPATH python3 -m x\n\
         \td = -c core.hooksPath={at}/f/hooks commit\n\ti = -c core.hooksPath=plain commit\n\tj = !git init --template seed x\n\
         \tk = !ruby -r./lib/start -Isrc2/deep x\n\te = !python3 {at}/f/app\n\tf = !make -C tools/ci\n[init]\n\ttemplateDir = tpl\n\
         [alias]\n\tg = !cd {at} && make\n\th = !git diff origin/main ./ -- \"*.rs\"\n\
         [safe]\n\tdirectory = {at}/src\n[maintenance]\n\trepo = {at}/src\n[url \"x\"]\n\tinsteadOf = {at}/src\n"
    );
    put(&crib.dir.path().join("home/.gitconfig"), &settings);
    for folder in ["cd", "make", "py", "hooks", "app"].map(|name| root.join("f").join(name)) {
        fs::create_dir_all(folder).unwrap();
    }
    for file in [
        "template/hooks/post-checkout",
        "libexec/git-x",
        "tools/ci/Makefile",
        "src/main.rs",
    ] {
        put(&root.join(file), "");
    }
    let paths = [
        "f/cd/x",
        "f/make/Makefile",
        "f/py/deep/m.py",
        "f/hooks/pre-commit",
        "f/app/__main__.py",
        "tools/ci/Makefile",
        "tpl/hooks/post-checkout",
        "template/hooks/post-checkout",
        "libexec/git-x",
        "plain/pre-commit",
        "seed/hooks/post-checkout",
        "lib/start",
        "src2/deep/x",
    ];
    assert_protected(&crib, &paths, &[]);
    for ordinary in ["src/main.rs", "main", "f/other", "Makefile"] {
        write(&crib, ordinary, &[]).expect(0);
    }
    // A clause that names it opens a folder below any root.
    write(
        &crib,
        "tools/ci/Makefile",
        &["--allow", "fs:write:tools/ci/**"],
    )
    .expect(0);
}

#[test]
fn a_file_whose_folder_only_a_shell_knows_is_protected_by_its_name_in_every_folder() {
    let crib = Crib::new();
    let root = crib.root().canonicalize().unwrap();
    let at = root.display();
    let settings = format!(
        "[alias]\n\ta = \"!d={at}/sc; $d/of-variable\"\n\tb = !{at}/s?/of-wildcard\n\
         \tc = \"!\\\"$(git rev-parse --show-toplevel)/of-command\\\"\"\n\td = !\\\"$d\\\"/of-quotes\n\
         \te = !\\\"{at}/q\\\"uoted/alias\n\tlg = log $1/$2 --format='%C(auto)%h' refs/*/x* $(git merge-base a b/main)\n\
         [core]\n\tpager = \"{at}/q\"uoted/pager -R\n"
    );
    put(&crib.dir.path().join("home/.gitconfig"), &settings);
    let paths = [
        "sc/of-variable",
        "deep/down/of-variable",
        "s1/of-wildcard",
        "of-command",
        "sub/of-quotes",
        "quoted/alias",
        "quoted/pager",
    ];
    assert_protected(&crib, &paths, &[]);
    for ordinary in ["main", "x", "quoted/other", "src/x.rs"] {
        write(&crib, ordinary, &[]).expect(0);
    }
}

#[test]
fn a_folder_of_hooks_or_a_template_that_only_a_shell_knows_is_protected_in_every_folder() {
    let crib = Crib::new();
    let commands = [
        ("$PWD/hk", "hk/pre-commit"),
        ("\\\"$PWD\\\"/hk/", "hk/pre-commit"),
        ("${PWD}/deep/hk", "deep/hk/pre-commit"),
        ("$(git rev-parse --show-toplevel)/hk", "new/hk/pre-commit"),
        ("`pwd`/x/../hk", "hk/pre-commit"),
        ("$(echo $PWD/hk)", "hk/pre-commit"),
    ];
    let commands = commands.map(|(folder, path)| {
        let option = format!("!git -c core.hooksPath={folder} commit");
        (option, path)
    });
    let others = [
        (
            "!h=existing; git -c core.hooksPath=$h commit",
            "existing/pre-commit",
        ),
        ("!git init --template=$PWD/tpl", "tpl/hooks/post-checkout"),
        (
            "!git init --template \\\"$(pwd)/tpl\\\"",
            "tpl/hooks/post-checkout",
        ),
        (
            "!git -c init.templateDir=$PWD/tpl init",
            "tpl/hooks/post-checkout",
        ),
        (
            "!GIT_TEMPLATE_DIR=$PWD/tpl git init",
            "tpl/hooks/post-checkout",
        ),
    ];
    put(&crib.root().join("existing/x"), "");
    let others = others.map(|(command, path)| (command.to_owned(), path));
    for (command, path) in commands.into_iter().chain(others) {
        let settings = format!("[alias]\n\tc = \"{command}\"\n");
        put(&crib.dir.path().join("home/.gitconfig"), &settings);
        assert_protected(&crib, &[path], &[]);
    }
    let settings = "[alias]\n\tc = \"!cd $PWD/src/; git -C $PWD/lib/ commit\"\n";
    put(&crib.dir.path().join("home/.gitconfig"), settings);
    write(&crib, "src/main.rs", &[]).expect(0);
    write(&crib, "lib/main.rs", &[]).expect(0);
}

#[test]
fn a_folder_that_variables_of_git_name_without_a_slash_is_protected() {
    let crib = Crib::new();
    for (variables, path) in [
        (&[("GIT_TEMPLATE_DIR", "hk")][..], "hk/hooks/post-checkout"),
        (
            &[
                ("GIT_CONFIG_COUNT", "1"),
                ("GIT_CONFIG_KEY_0", "core.hooksPath"),
                ("GIT_CONFIG_VALUE_0", "hk"),
            ],
            "hk/pre-commit",
        ),
        (
            &[
                ("GIT_CONFIG_COUNT", "1"),
                ("GIT_CONFIG_KEY_0", "init.templateDir"),
                ("GIT_CONFIG_VALUE_0", "hk"),
            ],
            "hk/hooks/x",
        ),
    ] {
        let call = format!("fs.write path={path} content=evil parents=true");
        let run = [
            "run",
            &call,
            "--provider",
            "direct",
            "--allow",
            "fs:write:**",
        ];
        let asked = Ended::from(
            crib.command(&run)
                .envs(variables.iter().copied())
                .output()
                .unwrap(),
        );
        assert!(
            asked.code != Some(0) && !crib.root().join(path).exists(),
            "{asked:#?}"
        );
    }
}

#[test]
fn what_settings_of_git_name_is_protected_in_a_repository_that_git_cannot_read() {
    let hooks = "[core]\n\thooksPath = tools/githooks\n[include]\n\tpath = ../conf/inc\n[alias]\n\tx = !scripts/x\n";
    let named = [
        "tools/githooks/pre-commit",
        "conf/inc",
        "scripts/x",
        "own/hooks/pre-push",
    ];
    let faults: [(&str, &str); 4] = [
        ("config", "[core\n"),
        ("HEAD", "garbage\n"),
        ("commondir", "nowhere\n"),
        ("config", "[core]\n\trepositoryformatversion = 9\n"),
    ];
    for (file, fault) in faults {
        let crib = Crib::new();
        let git = |args: &[&str]| {
            let mut git = Command::new("git");
            let status = git.args(args).current_dir(crib.root()).status();
            assert!(status.unwrap().success());
        };
        git(&["init", "-q"]);
        let own = format!(
            "[core]\n\thooksPath = {}\n",
            crib.root().join("own/hooks").display()
        );
        put(&crib.dir.path().join("home/.gitconfig"), &own);
        for path in named {
            put(&crib.root().join(path), "");
        }
        let config = crib.root().join(".git/config");
        let text = fs::read_to_string(&config).unwrap() + hooks;
        fs::write(&config, text).unwrap();
        let file = crib.root().join(".git").join(file);
        let former = fs::read_to_string(&file).unwrap_or_default();
        // Git reads nothing behind a mistake at the start.
        fs::write(&file, format!("{fault}{former}")).unwrap();
        assert_protected(&crib, &named, &[]);
    }
}
