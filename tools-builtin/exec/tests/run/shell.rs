//! Scripts: what they run, what a person sees, and what is refused.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use libtest_mimic::Trial;
use serde_json::{Value, json};
use tools::{Decision, ErrorCode};
use tools_testkit::{RecordingApprover, TempWorkspace, TestHost};

use crate::setup::{ALL, host, may_write, text, trial};

/// Runs a script that may be asked about, and returns the answer.
fn shell(host: &TestHost, arguments: Value) -> String {
    text(host.call_blocking("exec.shell", arguments).unwrap())
}

/// Returns a host that says yes to all questions.
fn agreeing(workspace: &TempWorkspace, grant: &[&str]) -> (TestHost, RecordingApprover) {
    let approver = RecordingApprover::new(Decision::Allow);
    (
        host(workspace, grant).with_approver(approver.clone()),
        approver,
    )
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a_transparent_script_runs_without_a_question", || {
            let workspace = TempWorkspace::from_files([("sub/a", "one\ntwo\n")]);
            let host = host(&workspace, &ALL);
            for (script, shown) in [
                (
                    "cd sub && cat a | tail -n 1; false || echo 'it'\\''s $x'",
                    "stdout:\ntwo\nit's $x\n",
                ),
                ("printf '%s|' a \"b c\" '' d\\ne", "stdout:\na|b c||dne|"),
                ("cat < sub/a 2>&1 && exit 3", "[exit code 3, "),
                ("echo error >&2", "stderr:\nerror\n"),
            ] {
                for name in ["bash", "sh"] {
                    let answer = shell(&host, json!({"script": script, "shell": name}));
                    assert!(answer.contains(shown), "{answer}");
                }
            }
        }),
        trial(
            "redirections_write_files_below_the_working_directory",
            || {
                let workspace = TempWorkspace::from_files([("sub/a", "")]);
                let host = host(&workspace, &ALL);
                shell(
                    &host,
                    json!({"script": "echo one > 'b c' && echo two >> b\\ d", "cwd": "sub"}),
                );
                if may_write() {
                    assert_eq!(workspace.read("sub/b c"), "one\n");
                }
            },
        ),
        trial("a_redirection_needs_the_grant_of_its_file", || {
            let workspace = TempWorkspace::from_files([("in/a", "")]);
            let host = host(
                &workspace,
                &["fs:read:in/**", "fs:write:in/**", "exec:write:**"],
            );
            for (script, is_run) in [
                ("cat < a", true),
                ("echo x > b", true),
                ("echo x > c/../../b", false),
            ] {
                let ended =
                    host.call_blocking("exec.shell", json!({"script": script, "cwd": "in"}));
                assert_eq!(ended.is_ok(), is_run, "{script} {ended:?}");
            }
            let narrow = agreeing(
                &workspace,
                &["fs:read:**", "fs:write:in/**", "exec:write:**"],
            );
            shell(&narrow.0, json!({"script": "echo x > out"}));
            assert_eq!(
                narrow.1.requests()[0].targets[0].to_string(),
                "fs:write:out"
            );
            assert!(
                !workspace.join("out").exists(),
                "the walls follow the grant"
            );
        }),
        trial(
            "an_opaque_script_runs_as_it_is_written_after_a_question_each_time",
            || {
                let workspace = TempWorkspace::new();
                let (host, approver) = agreeing(&workspace, &ALL);
                let script = "for i in 1 2; do echo \"$i$((i + 1))\"; done";
                for count in 1..3 {
                    assert!(shell(&host, json!({"script": script})).ends_with("stdout:\n12\n23\n"));
                    assert_eq!(approver.requests().len(), count);
                }
            },
        ),
        trial(
            "a_question_shows_the_script_its_reasons_its_commands_and_the_walls",
            || {
                let workspace = TempWorkspace::new();
                let (host, approver) = agreeing(&workspace, &["fs:read:**"]);
                shell(
                    &host,
                    json!({"script": "true $(true x)\nnetwork: all", "env": ["A=b c"]}),
                );
                let requests = approver.requests();
                let targets: Vec<String> = requests[0]
                    .targets
                    .iter()
                    .map(ToString::to_string)
                    .collect();
                assert!(
                    targets.contains(&"exec:write:env 'A=b c' true x".to_owned()),
                    "{targets:?}"
                );
                let whole = "exec:write:env 'A=b c' bash -c \"$script: a command substitution in line 1, column 6\"";
                assert!(targets.contains(&whole.to_owned()), "{targets:?}");
                let preview = requests[0].preview.clone().unwrap().unwrap();
                for line in [
                    "  | true $(true x)",
                    "  | network: all",
                    "asked about, because line 1 has a command substitution: $(true x)",
                    "variable: 'A=b c'",
                    "command: true x",
                    "network: none",
                ] {
                    assert!(
                        preview.text().lines().any(|shown| shown == line),
                        "{line} {}",
                        preview.text()
                    );
                }
                assert!(!preview.text().lines().any(|line| line == "network: all"));
            },
        ),
        trial(
            "a_refusal_of_an_opaque_script_names_the_places_that_make_it_opaque",
            || {
                let workspace = TempWorkspace::new();
                let refusal = |grant: &[&str], arguments: Value| {
                    host(&workspace, grant)
                        .call_blocking("exec.shell", arguments)
                        .unwrap_err()
                };
                let script = json!({"script": "true &&\n  é \"$HOME\" | true `true`", "stdin": ""});
                for (grant, code) in [
                    (&ALL as &[&str], ErrorCode::Unapproved),
                    (&["exec:write:true **"], ErrorCode::PermissionDenied),
                ] {
                    let error = refusal(grant, script.clone());
                    let places = "a variable in line 2, column 6; a command substitution in line 2, column 20";
                    assert!(
                        error.code() == code && error.to_string().contains(places),
                        "{error}"
                    );
                }
                let error = refusal(&ALL, json!({"script": "sh", "stdin": "id"})).to_string();
                assert!(
                    error.contains("$script: standard input, which a command can run as code"),
                    "{error}"
                );
            },
        ),
        trial("files_of_the_user_are_not_read_at_the_start", || {
            let workspace = TempWorkspace::from_files([
                ("rc", "echo from a file"),
                (".bashrc", "echo from a file"),
            ]);
            let (host, approver) = agreeing(&workspace, &ALL);
            for name in ["bash", "sh"] {
                assert!(
                    !shell(&host, json!({"script": "echo a", "shell": name}))
                        .contains("from a file")
                );
                assert_eq!(approver.requests(), []);
            }
            for variable in ["BASH_ENV=rc", "ENV=rc", "SHELLOPTS=xtrace", "PS4=$(id)"] {
                shell(&host, json!({"script": "true", "env": [variable]}));
                let text = approver
                    .requests()
                    .pop()
                    .unwrap()
                    .preview
                    .unwrap()
                    .unwrap()
                    .text()
                    .to_owned();
                assert!(
                    text.contains("asked about, because the call has a variable"),
                    "{text}"
                );
            }
        }),
        trial("a_script_is_never_an_option_of_its_shell", || {
            let workspace = TempWorkspace::new();
            let (host, _) = agreeing(&workspace, &ALL);
            for name in ["bash", "sh"] {
                for script in ["-x", "--version", "--version $x", "+e $(true)"] {
                    let answer = shell(&host, json!({"script": script, "shell": name}));
                    assert!(answer.starts_with("[exit code 127, "), "{script} {answer}");
                }
            }
        }),
        trial(
            "a_relative_program_means_one_file_or_is_asked_about",
            || {
                let workspace = TempWorkspace::from_files([
                    ("check", "#!/bin/sh\necho right\n"),
                    ("sub/check", "#!/bin/sh\necho wrong\n"),
                ]);
                for name in ["check", "sub/check"] {
                    fs::set_permissions(workspace.join(name), fs::Permissions::from_mode(0o755))
                        .unwrap();
                }
                let (host, approver) = agreeing(&workspace, &ALL);
                assert!(shell(&host, json!({"script": "./check"})).ends_with("right\n"));
                assert_eq!(approver.requests(), []);
                shell(&host, json!({"script": "./check", "cwd": "sub"}));
                shell(&host, json!({"script": "cd sub && ./check"}));
                assert_eq!(approver.requests().len(), 2);
            },
        ),
        trial("scripts_that_no_shell_can_run_are_refused", || {
            let workspace = TempWorkspace::new();
            let host = host(&workspace, &ALL);
            for script in [
                &*"a".repeat(16_385),
                &"é".repeat(8_193),
                "",
                "# nothing",
                "a\0b",
                &"a b;".repeat(3_000),
            ] {
                let ended = host.call_blocking("exec.shell", json!({"script": script}));
                let is_run = ended.as_ref().is_ok_and(|result| !result.is_error);
                assert_eq!(
                    is_run,
                    script.starts_with("a b;"),
                    "{:.20} {ended:?}",
                    script
                );
            }
            let many: String = (0..1_100).map(|number| format!("a {number}\n")).collect();
            let ended = host.call_blocking("exec.shell", json!({"script": many}));
            assert_eq!(ended.unwrap_err().code(), ErrorCode::InvalidArguments);
        }),
    ]
}
