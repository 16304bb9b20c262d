//! The walls that follow from the grant.

use std::net::TcpListener;

use libtest_mimic::Trial;
use serde_json::json;
use tools::Answer;
use tools::policy::SensitivePaths;
use tools_exec::Sandbox;
use tools_exec::walls::Layers;
use tools_testkit::{RecordingPerson, TempWorkspace, TestHost};
use tools_workspace::Workspace;

use crate::setup::{ALL, host, host_with, may_write, run, sh, text, trial};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("only_granted_files_are_read", || {
            let workspace = TempWorkspace::from_files([
                ("a/in", "seen"),
                ("b/out", "unseen"),
                ("hidden/key", "unseen"),
            ]);
            for (grant, path, is_read) in [
                ("fs:read:a/**", "a/in", true),
                ("fs:read:a/**", "b/out", false),
                ("fs:read:**", "b/out", true),
                ("fs:read:**", "hidden/key", false),
                ("fs:read:b/*", "b/out", false),
            ] {
                let host = host(&workspace, &[grant, "exec:write:**", "fs:read:a/**"]);
                let script = format!("cd {}; cat {path}", workspace.path().display());
                assert_eq!(
                    sh(&host, &script).contains("seen"),
                    is_read,
                    "{grant} {path}"
                );
            }
        }),
        trial(
            "a_program_that_may_write_the_home_of_the_user_asks_first",
            || {
                if !may_write() {
                    return;
                }
                for (home, writable, answer, is_written) in [
                    (".", "fs:write:**", None, false),
                    (".", "fs:write:**", Some(false), false),
                    (".", "fs:write:**", Some(true), true),
                    ("link", "fs:write:**", Some(true), true),
                    ("users/me", "fs:write:users/**", Some(true), true),
                    (".", "fs:write:users/**", None, true),
                    ("..", "fs:write:**", None, true),
                ] {
                    let workspace = TempWorkspace::from_files([("users/me/a", "")]);
                    std::os::unix::fs::symlink("users/me", workspace.join("link")).unwrap();
                    let home = workspace.join(home);
                    let sandbox = Sandbox {
                        cache: home.clone(),
                        home: home.clone(),
                        ..Sandbox::default()
                    };
                    let grant = ["fs:read:**", "exec:write:**", writable];
                    let person = RecordingPerson::new(answer.map(Answer::Confirmation));
                    let mut host = host_with(&workspace, &grant, sandbox);
                    if answer.is_some() {
                        host = host.with_person(person.clone());
                    }
                    let result = sh(&host, "echo > users/me/new");
                    assert_eq!(
                        (
                            workspace.contains("users/me/new"),
                            result.contains("read-only")
                        ),
                        (is_written, !is_written),
                        "{home:?} {writable} {answer:?}: {result}"
                    );
                    assert_eq!(person.questions().len(), usize::from(answer.is_some()));
                }
            },
        ),
        trial("a_new_cache_in_the_home_of_the_user_is_told", || {
            if !may_write() {
                return;
            }
            for (home, is_told) in [("users/me", true), ("users/other", false)] {
                let workspace = TempWorkspace::from_files([("users/me/a", "")]);
                let host = host(&workspace, &ALL).with_context(|host| {
                    host.with_sensitive_paths(SensitivePaths::default().with_home(home))
                });
                let result = sh(&host, "mkdir -p .cache users/me/.cache users/me/a/.cache");
                let told = "have changed: users/me/.cache]";
                assert_eq!(result.contains(told), is_told, "{result}");
            }
        }),
        trial("only_granted_files_are_written", || {
            let workspace =
                TempWorkspace::from_files([("a/f", "old"), ("b/f", "old"), ("b/only", "old")]);
            let host = host(
                &workspace,
                &["fs:read:**", "fs:write:a/**", "exec:write:**"],
            );
            sh(
                &host,
                "for f in a/f b/f a/new b/new; do echo new > $f; done; mv a/f a/g; rm -f b/only; chmod 777 b/f",
            );
            assert_eq!(workspace.contains("a/g"), may_write());
            assert_eq!(workspace.contains("a/new"), may_write());
            assert_eq!(workspace.read("b/f"), "old");
            assert!(!workspace.contains("b/new") && workspace.contains("b/only"));
        }),
        trial(
            "files_that_run_by_themselves_are_not_written_unless_the_grant_names_them",
            || {
                let workspace = TempWorkspace::from_files([
                    (".git/config", "old"),
                    ("sub/.git/hooks/x", "old"),
                    ("f", "old"),
                ]);
                let script = "for f in .git/config sub/.git/hooks/x f; do echo new > $f; done; mv .git g; mv sub s; mkdir -p new/.git; echo > .git/commondir; ln -s ../f .git/COMMIT_EDITMSG";
                let answer = sh(&host(&workspace, &ALL), script);
                assert_eq!(workspace.read(".git/config"), "old", "{answer}");
                assert_eq!(workspace.read("sub/.git/hooks/x"), "old", "{answer}");
                assert_eq!(workspace.read("f") == "new\n", may_write(), "{answer}");
                assert_eq!(answer.contains("new/.git"), may_write(), "{answer}");
                for new in [".git/commondir", ".git/COMMIT_EDITMSG"] {
                    assert!(!workspace.contains(new), "{answer}");
                }
                if may_write() {
                    let grant = [&ALL[..], &["fs:write:**/.git/**", "fs:write:.git/**"]].concat();
                    sh(&host(&workspace, &grant), script);
                    assert_eq!(workspace.read("g/config"), "new\n");
                }
            },
        ),
        trial("there_is_no_network", || {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = listener.local_addr().unwrap().port();
            listener.set_nonblocking(true).unwrap();
            let script = format!("bash -c 'echo x > /dev/tcp/127.0.0.1/{port}' || echo failed");
            let control = std::process::Command::new("sh")
                .args(["-c", &script])
                .output()
                .unwrap();
            assert!(
                !String::from_utf8_lossy(&control.stdout).contains("failed")
                    && listener.accept().is_ok()
            );
            let workspace = TempWorkspace::new();
            let grant = [&ALL[..], &["net:*:**"]].concat();
            let answer = sh(&host(&workspace, &grant), &script);
            assert!(
                answer.contains("failed") && listener.accept().is_err(),
                "{answer}"
            );
        }),
        trial("files_processes_and_processor_time_are_limited", || {
            let workspace = TempWorkspace::new();
            let script =
                json!({"program": "bash", "args": ["-c", "ulimit -f; ulimit -t; ulimit -u"]});
            let answer = text(run(&host(&workspace, &ALL), script).unwrap());
            assert!(
                answer.contains("\n3600\n") && !answer.contains("unlimited"),
                "{answer}"
            );
        }),
        trial(
            "a_workspace_in_a_folder_for_temporary_files_is_a_place_to_work",
            || {
                for folder in ["/tmp", "/var/tmp"] {
                    let workspace = tempfile::tempdir_in(folder).unwrap();
                    std::fs::write(workspace.path().join("file"), "text").unwrap();
                    let host = TestHost::new(tools_exec::register)
                        .with_grant(&ALL)
                        .with_service(Workspace::open(workspace.path()).unwrap())
                        .with_service(Sandbox::default());
                    let answer = sh(
                        &host,
                        "cat file && echo a > /var/tmp/f && cat /tmp/f && touch new && ls",
                    );
                    assert!(
                        !may_write() || answer.ends_with("texta\nfile\nnew\n"),
                        "{folder} {answer}"
                    );
                    assert!(answer.contains("text"), "{folder} {answer}");
                }
            },
        ),
        trial(
            "the_private_home_of_a_program_lies_in_a_hidden_folder",
            || {
                for layers in [Layers::probe(), Layers::probe().without_bubblewrap()] {
                    if layers.confinement().is_err() {
                        continue;
                    }
                    let workspace = TempWorkspace::from_files([("hidden/key", "unseen")]);
                    let homes = workspace.join("hidden/homes");
                    let sandbox = Sandbox {
                        layers: layers.into(),
                        private_homes: Some(homes.clone()),
                        ..Sandbox::default()
                    };
                    let script = "echo kept > $TMPDIR/f && cat ~/f; cat ~/../../key hidden/key; find . -name f";
                    let answer = sh(&host_with(&workspace, &ALL, sandbox), script);
                    assert!(answer.contains("kept"), "{answer}");
                    assert!(
                        !answer.contains("unseen") && !answer.contains("./hidden/homes/"),
                        "{answer}"
                    );
                    assert_eq!(std::fs::read_dir(&homes).unwrap().count(), 0);
                }
            },
        ),
        trial("temporary_files_are_private_and_removed", || {
            let workspace = TempWorkspace::new();
            let host = host(&workspace, &ALL);
            assert!(sh(&host, "echo kept > $TMPDIR/f && cat $TMPDIR/f").contains("kept"));
            // The folder also has the mount point of this workspace, which lies in `/tmp` too.
            assert!(sh(&host, "test -e $TMPDIR/f || echo gone").contains("gone"));
        }),
    ]
}
