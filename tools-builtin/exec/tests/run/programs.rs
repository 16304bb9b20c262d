//! Programs: their output, their end and their input.

use libtest_mimic::Trial;
use serde_json::json;
use tools::ErrorCode;
use tools_testkit::TempWorkspace;

use crate::setup::{ALL, host, run, sh, text, trial};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial(
            "an_exit_code_is_an_answer_and_both_streams_are_shown",
            || {
                let workspace = TempWorkspace::new();
                let answer = sh(&host(&workspace, &ALL), "echo one; echo two >&2; exit 3");
                assert!(answer.starts_with("[exit code 3, "), "{answer}");
                assert!(
                    answer.contains("\nstdout:\none\n") && answer.contains("\nstderr:\ntwo\n"),
                    "{answer}"
                );
            },
        ),
        trial("arguments_are_passed_as_they_are", || {
            let workspace = TempWorkspace::new();
            let args = ["%s|", "*", "$HOME", "a b", "", "`id`", "'\"\\", "é\n"];
            let answer = text(
                run(
                    &host(&workspace, &ALL),
                    json!({"program": "printf", "args": args}),
                )
                .unwrap(),
            );
            assert!(
                answer.ends_with("stdout:\n*|$HOME|a b||`id`|'\"\\|é\n|"),
                "{answer}"
            );
        }),
        trial("standard_input_is_passed_and_ends", || {
            let workspace = TempWorkspace::new();
            let input = "line\n".repeat(50_000);
            let answer = run(
                &host(&workspace, &ALL),
                json!({"program": "wc", "args": ["-l"], "stdin": input}),
            )
            .unwrap();
            assert!(text(answer).ends_with("stdout:\n50000\n"));
        }),
        trial("the_working_directory_is_one_of_the_workspace", || {
            let workspace = TempWorkspace::from_files([("sub/a", "")]);
            let host = host(&workspace, &ALL);
            let answer = text(run(&host, json!({"program": "ls", "cwd": "sub"})).unwrap());
            assert!(answer.ends_with("stdout:\na\n"), "{answer}");
            for cwd in ["..", "/", "sub/../.."] {
                assert!(
                    run(&host, json!({"program": "ls", "cwd": cwd})).is_err(),
                    "{cwd}"
                );
            }
        }),
        trial(
            "a_program_is_stopped_at_its_limit_with_its_descendants",
            || {
                let workspace = TempWorkspace::new();
                let marker = format!("98{}", std::process::id());
                let script = format!("echo started; setsid sleep {marker} & sleep {marker}");
                let arguments = json!({"program": "sh", "args": ["-c", script], "timeout": 1});
                let answer = text(run(&host(&workspace, &ALL), arguments).unwrap());
                assert!(
                    answer.starts_with("[stopped after ") && answer.contains("started"),
                    "{answer}"
                );
                let left = std::process::Command::new("pgrep")
                    .args(["-f", &format!("^sleep {marker}")])
                    .output()
                    .unwrap();
                assert!(left.stdout.is_empty(), "{left:?}");
            },
        ),
        trial("long_output_keeps_its_beginning_and_its_end", || {
            let workspace = TempWorkspace::new();
            let answer = sh(
                &host(&workspace, &ALL),
                "echo begin; yes | head -c 20000000; echo; echo end",
            );
            assert!(
                answer.contains("begin")
                    && answer.trim_end().ends_with("end")
                    && answer.len() < 80_000
            );
        }),
        trial("an_unknown_program_is_an_error_that_names_it", || {
            let workspace = TempWorkspace::new();
            let error = run(
                &host(&workspace, &ALL),
                json!({"program": "no-such-program"}),
            )
            .unwrap_err();
            assert_eq!(error.code(), ErrorCode::ExecutionFailed);
            assert!(error.to_string().contains("no-such-program"));
        }),
        trial("the_environment_of_the_host_is_not_passed", || {
            let workspace = TempWorkspace::new();
            let answer = sh(&host(&workspace, &ALL), "env");
            // Cargo sets it for tests.
            assert!(
                std::env::var_os("CARGO_MANIFEST_DIR").is_some() && !answer.contains("CARGO"),
                "{answer}"
            );
        }),
    ]
}
