//! The streams and the end of background programs.

use libtest_mimic::Trial;
use serde_json::json;
use tools_testkit::TempWorkspace;

use super::session::{ALL, Session, until};
use crate::setup::{may_write, trial};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial(
            "background::the_first_output_and_a_handle_are_returned_while_the_program_runs",
            || {
                let workspace = TempWorkspace::new();
                let answer = Session::new(&workspace, &ALL).sh("echo ready; sleep 1000");
                assert!(
                    answer.starts_with("[t1: runs for ") && answer.ends_with("\nstdout:\nready\n"),
                    "{answer}"
                );
            },
        ),
        trial("background::an_interpreter_answers_line_by_line", || {
            let workspace = TempWorkspace::new();
            let session = Session::new(&workspace, &ALL);
            session.start("python3", &["-u", "-i", "-c", ""]);
            session.ask("t1", "x = 6\n", "");
            let answer = session.ask("t1", "print(x * 7)\n", "42");
            assert!(answer.contains("stdout:\n42"), "{answer}");
        }),
        trial("background::each_answer_has_what_is_new", || {
            let workspace = TempWorkspace::new();
            let session = Session::new(&workspace, &ALL);
            assert!(session.start("cat", &[]).ends_with("[no new output]"));
            assert!(
                session
                    .ask("t1", "one\n", "one")
                    .ends_with("\nstdout:\none\n")
            );
            assert!(
                session
                    .ask("t1", "two\n", "two")
                    .ends_with("\nstdout:\ntwo\n")
            );
            assert!(
                session
                    .call("exec.read", json!({"handle": "t1", "wait": 0}))
                    .unwrap()
                    .ends_with("[no new output]")
            );
        }),
        trial(
            "background::the_exit_code_and_both_streams_are_shown_until_the_handle_is_stopped",
            || {
                let workspace = TempWorkspace::new();
                let session = Session::new(&workspace, &ALL);
                session.sh("read line; echo out; echo err >&2; exit 3");
                let answer = session.ask("t1", "go\n", "exit code 3");
                assert!(
                    answer.contains("\nstdout:\nout\n") && answer.contains("\nstderr:\nerr\n"),
                    "{answer}"
                );
                let again = session
                    .call("exec.read", json!({"handle": "t1", "wait": 60}))
                    .unwrap();
                assert_eq!(again, "[t1: exit code 3]\n[no new output]");
                assert!(
                    session
                        .call("exec.write", json!({"handle": "t1", "text": "more\n"}))
                        .is_err()
                );
                assert!(
                    session
                        .call("exec.stop", json!({"handle": "t1"}))
                        .unwrap()
                        .starts_with("[t1: exit code 3]")
                );
                let error = session
                    .call("exec.read", json!({"handle": "t1"}))
                    .unwrap_err()
                    .to_string();
                assert!(
                    error.contains("\"t1\"") && error.contains("start one"),
                    "{error}"
                );
            },
        ),
        trial("background::the_end_of_input_reaches_the_program", || {
            let workspace = TempWorkspace::new();
            let session = Session::new(&workspace, &ALL);
            session.start("sort", &[]);
            session.ask("t1", "b\n", "");
            let answer = session.call(
                "exec.write",
                json!({"handle": "t1", "text": "a\n", "end": true, "wait": 60}),
            );
            assert!(
                session
                    .read_on(answer.unwrap(), "t1", "exit code 0")
                    .contains("stdout:\na\nb\n")
            );
        }),
        trial("background::a_read_waits_for_output", || {
            let workspace = TempWorkspace::new();
            let session = Session::new(&workspace, &ALL);
            assert!(
                session
                    .sh("sleep 3; echo late; sleep 20; echo later; sleep 1000")
                    .ends_with("[no new output]")
            );
            let answer = session
                .call("exec.read", json!({"handle": "t1", "wait": 60}))
                .unwrap();
            assert!(answer.ends_with("\nstdout:\nlate\n"), "{answer}");
        }),
        trial(
            "background::output_that_nobody_reads_makes_room_and_is_counted",
            || {
                let workspace = TempWorkspace::new();
                let session = Session::new(&workspace, &ALL);
                session.sh("read line; yes | head -c 9000000; echo; echo end");
                session
                    .call(
                        "exec.write",
                        json!({"handle": "t1", "text": "go\n", "wait": 0}),
                    )
                    .unwrap();
                until("it has ended", || {
                    session
                        .call("exec.list", json!({}))
                        .unwrap()
                        .contains("exit code 0")
                });
                let answer = session.call("exec.read", json!({"handle": "t1"})).unwrap();
                assert!(
                    answer.contains(" bytes were not kept …]\n") && answer.ends_with("\nend\n"),
                    "{answer}"
                );
            },
        ),
        trial(
            "background::protected_files_that_changed_are_named_at_the_end",
            || {
                let workspace = TempWorkspace::from_files([(".git/config", "old")]);
                let session = Session::new(&workspace, &ALL);
                let started =
                session.sh("echo new > .git/config; mkdir -p sub/.git/hooks; echo new > sub/.git/hooks/x; read line");
                assert!(!started.contains("sub/.git"), "{started}");
                let answer = session
                    .call(
                        "exec.write",
                        json!({"handle": "t1", "end": true, "wait": 60}),
                    )
                    .unwrap();
                assert!(answer.starts_with("[t1: exit code "), "{answer}");
                assert_eq!(
                    answer.contains("have changed: sub/.git"),
                    may_write(),
                    "{answer}"
                );
                assert_eq!(workspace.read(".git/config"), "old");
            },
        ),
        trial(
            "background::a_running_program_does_not_hold_up_other_calls",
            || {
                let workspace = TempWorkspace::new();
                let session = Session::new(&workspace, &ALL);
                session.sh("while :; do sleep .1; echo tick >> log; done");
                let answer = session
                    .call("exec.run", json!({"program": "echo", "args": ["beside"]}))
                    .unwrap();
                assert!(answer.contains("beside"), "{answer}");
            },
        ),
    ]
}
