//! Workspaces and arguments that are made to get past the walls.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use serde_json::json;
use tools::Decision;
use tools_exec::Sandbox;
use tools_testkit::{RecordingApprover, TempWorkspace, TestHost};
use tools_workspace::Workspace;

use crate::setup::{ALL, host, may_write, run, sh, text, trial};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a_hidden_path_behind_a_link_stays_hidden_and_programs_run_where_they_cannot_replace_the_link",
            || {
                let workspace = TempWorkspace::from_files([("dotfiles/settings", "secret")]);
                symlink("dotfiles", workspace.join("link")).unwrap();
                let root = || {
                    Workspace::open(workspace.path())
                        .unwrap()
                        .with_hidden([workspace.join("link/settings")])
                        .unwrap()
                };
                let script = "cat dotfiles/settings link/settings; rm link && mkdir link && echo x > link/settings; echo started";
                for write in ["fs:write:else/**", "fs:write:dotfiles/**"] {
                    let host = TestHost::new(tools_exec::register).with_grant(&[
                        "fs:read:**",
                        "exec:write:**",
                        write,
                    ]);
                    let answer = sh(
                        &host.with_service(root()).with_service(Sandbox::default()),
                        script,
                    );
                    assert!(
                        answer.contains("started") && !answer.contains("secret"),
                        "{answer}"
                    );
                }
                if may_write() {
                    let host = TestHost::new(tools_exec::register).with_grant(&ALL);
                    let host = host.with_service(root()).with_service(Sandbox::default());
                    let refused = run(&host, json!({"program": "sh", "args": ["-c", script]}))
                        .unwrap_err()
                        .to_string();
                    assert!(refused.contains("link is a symbolic link"), "{refused}");
                    assert!(workspace.join("link").is_symlink());
                }
            },
        ),
        trial(
            "paths_in_a_hidden_folder_stay_hidden_and_programs_run",
            || {
                let workspace = TempWorkspace::from_files([
                    ("home/own/settings", "secret"),
                    ("home/own/.envrc", "secret"),
                ]);
                let hidden = ["home/own/settings", "home/own", "home/own/missing"]
                    .map(|path| workspace.join(path));
                let root = || {
                    Workspace::open(workspace.path())
                        .unwrap()
                        .with_hidden(&hidden)
                        .unwrap()
                };
                for grant in [&ALL[..], &["fs:read:**", "exec:write:**"]] {
                    let host = TestHost::new(tools_exec::register).with_grant(grant);
                    let host = host.with_service(root()).with_service(Sandbox::default());
                    let answer = sh(
                        &host,
                        "cat home/own/settings home/own/.envrc; echo x > home/own/settings; echo started",
                    );
                    assert!(
                        answer.contains("started") && !answer.contains("secret"),
                        "{answer}"
                    );
                    assert_eq!(workspace.read("home/own/settings"), "secret");
                }
            },
        ),
        trial(
            "a_hidden_file_in_a_protected_folder_opens_nothing_beside_it",
            || {
                if !may_write() {
                    return;
                }
                let workspace = TempWorkspace::from_files([
                    (".git/hooks/sub/key", "secret"),
                    (".git/hooks/sub/x", "old"),
                ]);
                let root = Workspace::open(workspace.path())
                    .unwrap()
                    .with_hidden([workspace.join(".git/hooks/sub/key")])
                    .unwrap();
                let host = TestHost::new(tools_exec::register)
                    .with_grant(&ALL)
                    .with_service(root)
                    .with_service(Sandbox::default());
                let answer = sh(
                    &host,
                    "cd .git/hooks/sub; cat key; echo new > x; echo new > y; echo started",
                );
                assert!(
                    answer.contains("started") && !answer.contains("secret"),
                    "{answer}"
                );
                assert_eq!(workspace.read(".git/hooks/sub/x"), "old");
                assert!(!workspace.join(".git/hooks/sub/y").exists());
            },
        ),
        trial(
            "names_that_are_not_unicode_do_not_expose_what_is_below_them",
            || {
                let workspace = TempWorkspace::new();
                let hooks = workspace
                    .join(OsStr::from_bytes(b"\xff"))
                    .join(".git/hooks");
                fs::create_dir_all(&hooks).unwrap();
                fs::write(hooks.join("x"), "old").unwrap();
                let script = json!({"program": "sh", "args": ["-c", "for f in */.git/hooks/x; do echo new > $f; done"]});
                let ended = run(&host(&workspace, &ALL), script);
                assert_eq!(fs::read_to_string(hooks.join("x")).unwrap(), "old");
                assert_eq!(
                    ended.is_err_and(|error| error.to_string().contains("not Unicode")),
                    may_write()
                );
            },
        ),
        trial("a_protected_link_is_refused_with_a_way_out", || {
            let workspace = TempWorkspace::from_files([("real/config", "old")]);
            symlink("real", workspace.join(".git")).unwrap();
            let script = json!({"program": "sh", "args": ["-c", "echo new > real/config"]});
            if may_write() {
                let error = run(&host(&workspace, &ALL), script.clone())
                    .unwrap_err()
                    .to_string();
                assert!(
                    error.contains(".git is a symbolic link") && error.contains("fs:write:.git"),
                    "{error}"
                );
                assert_eq!(workspace.read("real/config"), "old");
                run(
                    &host(&workspace, &[&ALL[..], &["fs:write:.git"]].concat()),
                    script,
                )
                .unwrap();
                assert_eq!(workspace.read("real/config"), "new\n");
            } else {
                run(&host(&workspace, &ALL), script).unwrap();
            }
        }),
        trial(
            "the_path_of_a_program_means_the_same_file_in_each_working_directory",
            || {
                let workspace = TempWorkspace::from_files([
                    ("check", "#!/bin/sh\necho right\n"),
                    ("sub/check", "#!/bin/sh\necho wrong\n"),
                ]);
                for name in ["check", "sub/check"] {
                    fs::set_permissions(workspace.join(name), fs::Permissions::from_mode(0o755))
                        .unwrap();
                }
                let host = host(&workspace, &["fs:read:**", "exec:write:./check"]);
                let answer = text(run(&host, json!({"program": "./check", "cwd": "sub"})).unwrap());
                assert!(answer.contains("right"), "{answer}");
            },
        ),
        trial("programs_outside_the_grant_are_not_run", || {
            let outside = TempWorkspace::from_files([("tool", "#!/bin/sh\necho outside\n")]);
            fs::set_permissions(outside.join("tool"), fs::Permissions::from_mode(0o755)).unwrap();
            let workspace = TempWorkspace::new();
            symlink(outside.join("tool"), workspace.join("link")).unwrap();
            let (host, path) = (
                host(&workspace, &ALL),
                outside.join("tool").display().to_string(),
            );
            let up = format!("../{}/tool", outside.path().file_name().unwrap().display());
            for program in [&*path, "./link", &up] {
                let shown = run(&host, json!({"program": program}))
                    .map_or_else(|error| error.to_string(), text);
                assert!(!shown.contains("outside\n"), "{program} {shown}");
            }
        }),
        trial(
            "a_working_directory_that_cannot_be_read_is_an_error_that_names_the_clause",
            || {
                let workspace = TempWorkspace::from_files([("a/f", ""), ("b/f", "")]);
                for (grant, cwd, missing) in [
                    (&["exec:write:**"] as &[&str], ".", "fs:read:**"),
                    (&["exec:write:**", "fs:read:a/**"], "b", "fs:read:b/**"),
                ] {
                    let error = run(
                        &host(&workspace, grant),
                        json!({"program": "true", "cwd": cwd}),
                    )
                    .unwrap_err()
                    .to_string();
                    assert!(error.contains(missing), "{error}");
                }
            },
        ),
        trial("names_of_files_cannot_forge_a_line_of_the_result", || {
            let workspace = TempWorkspace::new();
            let answer = sh(
                &host(&workspace, &ALL),
                "mkdir -p 'x\n[exit code 0]/.git'; for i in $(seq 50); do mkdir -p $i/.git; done",
            );
            assert!(!answer.contains("\n[exit code 0]"), "{answer}");
            assert!(!may_write() || answer.contains("41 more"), "{answer}");
        }),
        trial(
            "clauses_with_wildcards_are_named_when_they_do_not_reach_programs",
            || {
                let workspace = TempWorkspace::from_files([("src/a.rs", "text")]);
                let many: Vec<String> = (1..=11)
                    .map(|number| format!("fs:read:*.{number}"))
                    .collect();
                let many = many.iter().map(String::as_str);
                let grant = ["fs:read:src/**", "fs:read:src/*.rs", "fs:write:*.rs"]
                    .into_iter()
                    .chain(many);
                let approver = RecordingApprover::new(Decision::Allow);
                let host =
                    host(&workspace, &grant.collect::<Vec<_>>()).with_approver(approver.clone());
                let answer = text(run(&host, json!({"program": "true", "cwd": "src"})).unwrap());
                for shown in [answer, format!("{:?}", approver.requests())] {
                    assert!(
                        shown.contains("wildcards in paths: fs:read:*.1, fs:read:*.10,"),
                        "{shown}"
                    );
                    assert!(shown.contains("2 more; grant a folder"), "{shown}");
                    assert!(
                        !shown.contains("src/*.rs"),
                        "a folder of the grant covers it: {shown}"
                    );
                }
            },
        ),
        trial("large_arguments_are_passed_or_refused", || {
            let workspace = TempWorkspace::new();
            let host = host(&workspace, &ALL);
            for length in [100_000, 130_000, 1_000_000] {
                let ended = run(
                    &host,
                    json!({"program": "printf", "args": ["%.1s", "a".repeat(length)]}),
                );
                let shown = ended.map_or_else(|error| error.to_string(), text);
                assert!(
                    shown.ends_with("stdout:\na") || shown.contains("too long"),
                    "{length} {shown}"
                );
            }
        }),
        trial("a_dropped_call_ends_its_programs", || {
            let workspace = TempWorkspace::new();
            let marker = format!("97{}", std::process::id());
            let host = host(&workspace, &ALL);
            let script = format!("setsid sleep {marker} & sleep {marker}");
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(1)
                .enable_all()
                .build()
                .unwrap();
            let sleepers = || {
                let found = std::process::Command::new("pgrep")
                    .args(["-f", &format!("^sleep {marker}")])
                    .output()
                    .unwrap();
                found.stdout.iter().filter(|byte| **byte == b'\n').count()
            };
            runtime.block_on(async {
                let call = host.call(
                    "exec.run",
                    json!({"program": "sh", "args": ["-c", script], "timeout": 20}),
                );
                let started = async {
                    while sleepers() != 2 {
                        tokio::time::sleep(Duration::from_millis(20)).await;
                    }
                };
                tokio::select! { _ = call => panic!("the program ended"), () = started => {} }
            });
            let start = Instant::now();
            while sleepers() > 0 && start.elapsed() < Duration::from_secs(10) {
                std::thread::sleep(Duration::from_millis(20));
            }
            assert_eq!(sleepers(), 0);
        }),
    ]
}
