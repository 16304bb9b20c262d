//! The grant and the approval of a command.

use libtest_mimic::Trial;
use serde_json::json;
use tools::policy::{Policy, Rule, Verdict};
use tools::{Decision, ErrorCode};
use tools_exec::Sandbox;
use tools_exec::walls::{Layers, Limits};
use tools_testkit::{HouseRules, RecordingApprover, TempWorkspace};

use crate::background::session::Session;
use crate::setup::{host, host_with, may_write, run, sh, text, trial};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a_clause_covers_the_words_that_it_spells", || {
            let workspace = TempWorkspace::new();
            let host = host(
                &workspace,
                &["fs:read:**", "exec:write:echo a", "exec:write:printf **"],
            );
            for (program, args, is_run) in [
                ("echo", &["a"] as &[&str], true),
                ("echo", &["a", "b"], false),
                ("echo", &["a;", "id"], false),
                ("echo", &["a b"], false),
                ("echo", &[], false),
                ("/bin/echo", &["a"], false),
                ("printf", &["%s", "a; b"], true),
                ("env", &["echo", "a"], false),
                ("sh", &["-c", "echo a"], false),
            ] {
                let ended = run(&host, json!({"program": program, "args": args}));
                assert_eq!(ended.is_ok(), is_run, "{program} {args:?}");
                if let Err(error) = ended {
                    assert_eq!(error.code(), ErrorCode::PermissionDenied);
                }
            }
        }),
        trial("variables_are_part_of_the_command", || {
            let workspace = TempWorkspace::new();
            let granted = [
                "fs:read:**",
                "exec:write:sh -c **",
                "exec:write:env COLOR=* sh -c **",
            ];
            let host = host(&workspace, &granted);
            let ended = |env: &[&str]| {
                let script = "echo $COLOR$GIT_PAGER";
                run(
                    &host,
                    json!({"program": "sh", "args": ["-c", script], "env": env}),
                )
                .map(text)
                .map_err(|error| error.code())
            };
            assert!(ended(&["COLOR=red and blue"]).is_ok_and(|text| text.contains("red and blue")));
            for env in [
                &["GIT_PAGER=x"] as &[&str],
                &["COLOR=a", "GIT_PAGER=x"],
                &["color=a"],
            ] {
                assert_eq!(ended(env), Err(ErrorCode::PermissionDenied), "{env:?}");
            }
            for env in ["COLOR", "=x", "A B=c", "1A=b", "-S=x"] {
                assert_eq!(ended(&[env]), Err(ErrorCode::InvalidArguments), "{env:?}");
            }
        }),
        trial(
            "input_that_a_program_can_run_is_asked_about_each_time",
            || {
                let workspace = TempWorkspace::new();
                let approver = RecordingApprover::new(Decision::Allow);
                let host = host(&workspace, &["fs:read:**", "exec:write:**"])
                    .with_approver(approver.clone());
                for (program, stdin, is_asked) in [
                    ("sh", "echo a", true),
                    ("sh", "", false),
                    ("cat", "a", false),
                    ("python3", "print(1)", true),
                ] {
                    let before = approver.requests().len();
                    run(&host, json!({"program": program, "stdin": stdin})).unwrap();
                    assert_eq!(
                        approver.requests().len() - before,
                        usize::from(is_asked),
                        "{program} {stdin}"
                    );
                }
            },
        ),
        trial("an_approval_shows_the_command_and_its_walls", || {
            let workspace = TempWorkspace::from_files([("src/a", "")]);
            let grant = ["fs:read:**", "fs:write:src/**"];
            let alone = Layers::probe().without_bubblewrap();
            let limits = Limits {
                memory: Some(3 << 30),
                processes: Some(700),
                ..Limits::default()
            };
            for layers in [Layers::probe(), alone]
                .into_iter()
                .filter(|layers| layers.confinement().is_ok())
            {
                let approver = RecordingApprover::new(Decision::Allow);
                let is_kept = layers.confinement().unwrap().keeps_protected_paths();
                let sandbox = Sandbox {
                    layers: layers.into(),
                    limits,
                    ..Sandbox::default()
                };
                let host = host_with(&workspace, &grant, sandbox).with_approver(approver.clone());
                run(
                    &host,
                    json!({"program": "echo", "args": ["a b"], "cwd": "src", "timeout": 9}),
                )
                .unwrap();
                let preview = approver.requests().remove(0).preview.unwrap().unwrap();
                let lines: Vec<_> = preview.text().lines().collect();
                let [
                    runs,
                    place,
                    reads,
                    changes,
                    protected,
                    network,
                    walls,
                    limits,
                ] = lines[..]
                else {
                    panic!("{lines:?}")
                };
                assert_eq!(
                    [runs, place],
                    [
                        "runs: echo 'a b'",
                        "in: src, but an approval for the session covers every folder"
                    ]
                );
                assert_eq!(
                    [reads, network],
                    [
                        "reads: the workspace, the folders of the system",
                        "network: none"
                    ]
                );
                assert!(
                    changes.starts_with("changes: src/**, also by rename and removal"),
                    "{changes}"
                );
                assert_eq!(
                    protected == "protected: .git and files that run by themselves",
                    is_kept,
                    "{protected}"
                );
                assert_eq!(walls.starts_with("walls: bubblewrap, "), is_kept, "{walls}");
                assert_eq!(
                    limits,
                    "limits: 9 s, 700 processes (not root's), 3 GiB of memory"
                );
            }
        }),
        trial(
            "a_program_that_takes_too_much_of_the_disk_is_stopped",
            || {
                if !may_write() {
                    return;
                }
                let limits = Limits {
                    disk: Some(64 << 20),
                    ..Limits::default()
                };
                let sandbox = || Sandbox {
                    limits,
                    ..Sandbox::default()
                };
                let fill = "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do head -c 30000000 /dev/urandom > f$i; sleep 0.5; done; echo end";
                let workspace = TempWorkspace::new();
                let granted = ["fs:read:**", "fs:write:**", "exec:write:**", "program:*:**"];
                let ended = sh(&host_with(&workspace, &granted, sandbox()), fill);
                assert!(
                    ended.contains("stopped because") && !ended.contains("\nend\n"),
                    "{ended}"
                );
                assert!(workspace.files().len() < 12);
                let small = sh(
                    &host_with(&workspace, &granted, sandbox()),
                    "head -c 1000 /dev/zero > f; sleep 1; echo end",
                );
                assert!(small.contains("\nend\n"), "{small}");

                let workspace = TempWorkspace::new();
                let session = Session::with_sandbox(&workspace, &granted, sandbox());
                let started = session.start("sh", &["-c", fill]);
                let ended = session.read_on(started, "t1", "stopped because");
                assert!(!ended.contains("\nend\n"), "{ended}");
            },
        ),
        trial(
            "a_granted_path_that_does_not_exist_is_named_and_not_promised",
            || {
                let workspace = TempWorkspace::from_files([("there.txt", ""), ("sub/a", "")]);
                let grant = [
                    "fs:read:**",
                    "fs:write:there.txt",
                    "fs:write:new.txt",
                    "fs:write:sub/**",
                    "fs:write:out/**",
                ];
                let alone = Layers::probe().without_bubblewrap();
                for layers in [Layers::probe(), alone]
                    .into_iter()
                    .filter(|layers| layers.confinement().is_ok())
                {
                    let approver = RecordingApprover::new(Decision::Allow);
                    // Without them, nobody here lets a program write.
                    let is_kept = layers.confinement().unwrap().keeps_protected_paths();
                    let host = host_with(
                        &workspace,
                        &grant,
                        Sandbox {
                            layers: layers.into(),
                            ..Sandbox::default()
                        },
                    );
                    let host = host.with_approver(approver.clone());
                    let answer = sh(&host, "echo a >> there.txt; echo a >> new.txt");
                    let preview = approver.requests().remove(0).preview.unwrap().unwrap();
                    for shown in [&*answer, preview.text()] {
                        assert!(
                            shown.contains("that exist: new.txt, out/**; create them first"),
                            "{shown}"
                        );
                    }
                    let changes = preview
                        .text()
                        .lines()
                        .find(|line| line.starts_with("changes: "))
                        .unwrap()
                        .to_owned();
                    assert!(
                        changes.starts_with("changes: sub/**, there.txt, also"),
                        "{changes}"
                    );
                    assert_eq!(workspace.read("there.txt") == "a\n", is_kept);
                    assert!(!workspace.join("new.txt").exists());
                    ["new.txt", "out/a"]
                        .iter()
                        .for_each(|path| workspace.write(path, ""));
                    let answer = sh(&host, "echo a >> new.txt; echo a >> out/b");
                    assert!(!answer.contains("that exist"), "{answer}");
                    assert_eq!(workspace.read("new.txt") == "a\n", is_kept);
                    std::fs::remove_dir_all(workspace.join("out")).unwrap();
                    std::fs::remove_file(workspace.join("new.txt")).unwrap();
                    workspace.write("there.txt", "");
                }
            },
        ),
        trial(
            "an_approval_names_the_clauses_and_rules_that_open_protected_files",
            || {
                let opens = "fs:write:.git/**";
                let rule = || Rule::for_target(Verdict::Allow, opens.parse().unwrap());
                for (clauses, rules, is_open) in [
                    (&["fs:*:**"] as &[&str], vec![], false),
                    (&["fs:*:**", opens], vec![], true),
                    (&["fs:*:**"], vec![rule()], true),
                    (
                        &["fs:*:**"],
                        vec![Rule::new(Verdict::Allow, Some("fs.*"), opens.parse().ok()).unwrap()],
                        false,
                    ),
                ] {
                    let workspace = TempWorkspace::from_files([(".git/hooks/a", "old")]);
                    let approver = RecordingApprover::new(Decision::Allow);
                    let policy = Policy::new().with_rules(rules);
                    let host = host(&workspace, clauses).with_approver(approver.clone());
                    let host = host.with_context(move |cx| cx.with_policy(policy.clone()));
                    sh(&host, "echo new > .git/hooks/a");
                    let preview = approver.requests().remove(0).preview.unwrap().unwrap();
                    if !may_write() {
                        return;
                    }
                    let lines: Vec<_> = preview
                        .text()
                        .lines()
                        .filter(|line| line.starts_with("protected: "))
                        .collect();
                    let shown = if is_open {
                        "protected: files that run by themselves, but not those that these name: fs:write:.git/**"
                    } else {
                        "protected: .git and files that run by themselves"
                    };
                    assert_eq!(lines, [shown]);
                    assert_eq!(workspace.read(".git/hooks/a") == "new\n", is_open);
                }
            },
        ),
        trial(
            "an_approval_names_no_hosts_that_programs_cannot_reach",
            || {
                let workspace = TempWorkspace::new();
                let approver = RecordingApprover::new(Decision::Allow);
                let granted = ["fs:read:**", "net:*:example.org"];
                let host = host(&workspace, &granted).with_approver(approver.clone());
                let answer = text(run(&host, json!({"program": "true"})).unwrap());
                assert!(answer.contains("the program had no network"), "{answer}");
                let preview = approver.requests().pop().unwrap().preview.unwrap().unwrap();
                assert!(
                    preview
                        .text()
                        .contains("network: none, because the host has no HTTP client\n"),
                    "{}",
                    preview.text()
                );
            },
        ),
        trial("the_house_rules_hold", || {
            HouseRules::new()
                .with_prefix("exec")
                .assert(tools_exec::register)
        }),
    ]
}
