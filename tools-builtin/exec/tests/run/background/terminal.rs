//! Background programs on a terminal.

use libtest_mimic::Trial;
use serde_json::json;
use tools_exec::Sandbox;
use tools_exec::walls::Layers;
use tools_testkit::TempWorkspace;

use super::session::{ALL, Session};
use crate::setup::{may_write, trial};

/// A test of a machine that has terminals for programs.
fn on_terminal(name: &str, test: fn(&Session)) -> Trial {
    let test = move || {
        // The same machines keep protected paths.
        if may_write() {
            test(&Session::new(&TempWorkspace::new(), &ALL));
        }
    };
    trial(&format!("background::terminal::{name}"), test)
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        on_terminal(
            "all_streams_are_a_terminal_that_the_program_controls",
            |session| {
                let script =
                    "test -t 0 && test -t 1 && test -t 2 && stty size < /dev/tty; echo end";
                let answer = session.terminal("sh", &["-c", script]);
                let answer = session.read_on(answer, "t1", "end");
                assert!(answer.contains("\nterminal:\n24 80\nend\n"), "{answer}");
                assert_eq!(
                    session
                        .read_on(answer, "t1", "exit code 0")
                        .matches("terminal:")
                        .count(),
                    1
                );
            },
        ),
        on_terminal("without_it_there_is_none", |session| {
            let answer =
                session.sh("test -t 0 || test -t 1 || test -t 2 || cat /dev/tty || echo none");
            assert!(answer.contains("none"), "{answer}");
        }),
        trial(
            "background::terminal::without_bubblewrap_it_is_refused_and_pipes_work",
            || {
                let layers = Layers::probe().without_bubblewrap();
                if layers.confinement().is_err() {
                    return;
                }
                let workspace = TempWorkspace::from_files([(".git/config", "old")]);
                let session = Session::with_sandbox(
                    &workspace,
                    &ALL,
                    Sandbox {
                        layers: layers.into(),
                        ..Sandbox::default()
                    },
                );
                let arguments = json!({"program": "cat", "terminal": true});
                let refused = session
                    .call("exec.start", arguments)
                    .unwrap_err()
                    .to_string();
                assert!(
                    refused.contains("no terminal without bubblewrap"),
                    "{refused}"
                );
                assert!(session.start("cat", &[]).contains("read-only"));
                session.ask("t1", "line\n", "stdout:\nline\n");
                let ended = session.call("exec.stop", json!({"handle": "t1"})).unwrap();
                assert!(!ended.contains("have changed"), "{ended}");
            },
        ),
        on_terminal("an_interpreter_prompts", |session| {
            let answer = session.terminal("python3", &["-q", "-i"]);
            assert!(session.read_on(answer, "t1", ">>> ").ends_with(">>> "));
            let answer = session.ask("t1", "6 * 7\n", "42");
            let answer = session.read_on(answer, "t1", ">>> ");
            assert!(answer.ends_with("\nterminal:\n6 * 7\n42\n>>> "), "{answer}");
        }),
        on_terminal("ctrl_c_interrupts_the_program_in_front", |session| {
            let script = "trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 1000; done";
            // Bash would take the terminal by itself.
            let answer = session.terminal("sh", &["-c", script]);
            session.read_on(answer, "t1", "ready");
            let answer = session.ask("t1", "\u{3}", "exit code 5");
            assert!(answer.contains("caught"), "{answer}");
        }),
        on_terminal("ctrl_d_ends_the_input", |session| {
            session.terminal("cat", &[]);
            session.ask("t1", "line\n", "line\nline\n");
            let answer = session
                .call("exec.write", json!({"handle": "t1", "end": true}))
                .unwrap();
            session.read_on(answer, "t1", "exit code 0");
        }),
        on_terminal("a_shell_has_job_control", |session| {
            let answer = session.terminal("bash", &["--norc", "-i"]);
            assert!(
                !session
                    .read_on(answer, "t1", "bash-")
                    .contains("no job control")
            );
            session.ask("t1", "sleep 1000\n", "");
            session.ask("t1", "\u{1a}", "Stopped");
            session.ask("t1", "jobs; kill %1; exit 7\n", "exit");
        }),
        on_terminal("colours_and_rewritten_lines_become_text", |session| {
            let script = r"printf '\033[31mred\033[0m\n'; for i in 1 50 100; do printf '\r%s%%' $i; done; echo";
            let answer = session.terminal("sh", &["-c", script]);
            let answer = session.read_on(answer, "t1", "100%");
            assert!(answer.ends_with("terminal:\nred\n100%\n"), "{answer}");
        }),
        on_terminal("nothing_is_typed_into_it_by_the_program", |session| {
            let script = "import fcntl\ntry: fcntl.ioctl(0, 0x5412, b'x')\nexcept OSError as error: print(error.errno)";
            let answer = session.terminal("python3", &["-c", script]);
            // Where the kernel refuses it by itself, the number is 5.
            assert!(
                session
                    .read_on(answer, "t1", "exit code 0")
                    .contains("terminal:\n1\n")
            );
        }),
    ]
}
