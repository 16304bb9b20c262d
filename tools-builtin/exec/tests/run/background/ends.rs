//! The ways in which a session ends, with programs that try to outlive it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use libtest_mimic::Trial;
use serde_json::json;
use tools_testkit::TempWorkspace;

use super::session::{ALL, Marker, Session, until};
use crate::setup::trial;

const HOST: &str = "host";

/// Returns true if this process was started as a host.
pub(crate) fn is_host() -> bool {
    std::env::args().nth(1).as_deref() == Some(HOST)
}

/// Starts a program in the background and waits to be killed.
#[expect(clippy::print_stdout, reason = "the test reads it")]
pub(crate) fn serve() {
    let script = std::env::args().nth(2).unwrap();
    let workspace = TempWorkspace::new();
    let session = Session::new(&workspace, &ALL);
    let answer = session.start("bash", &["-c", &script]);
    session.read_on(answer, "t1", "ready");
    println!("ready");
    std::io::stdout().flush().unwrap();
    std::thread::park();
}

fn evader(session: &Session, marker: &Marker, handle: &str) {
    let answer = session.start("bash", &["-c", &marker.evader()]);
    session.read_on(answer, handle, "ready");
    until("its processes run", || marker.count() >= 4);
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("background::ends::stop_leaves_no_process", || {
            let (workspace, marker) = (TempWorkspace::new(), Marker::new());
            let session = Session::new(&workspace, &ALL);
            evader(&session, &marker, "t1");
            session.call("exec.stop", json!({"handle": "t1"})).unwrap();
            assert_eq!(marker.count(), 0);
        }),
        trial(
            "background::ends::a_program_that_ends_leaves_no_process",
            || {
                let (workspace, marker) = (TempWorkspace::new(), Marker::new());
                let session = Session::new(&workspace, &ALL);
                let script = marker
                    .evader()
                    .replace("while :", "read line; exit 0; while :");
                let answer = session.start("bash", &["-c", &script]);
                session.read_on(answer, "t1", "ready");
                session.ask("t1", "go\n", "exit code 0");
                assert_eq!(marker.count(), 0);
            },
        ),
        trial(
            "background::ends::the_end_of_the_session_leaves_no_process",
            || {
                let (workspace, marker) = (TempWorkspace::new(), Marker::new());
                let session = Session::new(&workspace, &ALL);
                evader(&session, &marker, "t1");
                // A program and a call that still waits for it.
                session.start("cat", &[]);
                drop(
                    session
                        .host
                        .call("exec.read", json!({"handle": "t1", "wait": 60})),
                );
                drop(session);
                marker.assert_gone();
            },
        ),
        trial(
            "background::ends::the_end_of_a_session_with_a_network_leaves_no_process",
            || {
                let (workspace, marker) = (TempWorkspace::new(), Marker::new());
                let mut session =
                    Session::new(&workspace, &[&ALL[..], &["net:*:example.org"]].concat());
                session.host = session.host.with_service(tools_http::HttpClient::default());
                evader(&session, &marker, "t1");
                // The tasks of the network go on until they are dropped.
                let runtime = session.runtime.clone();
                drop(session);
                marker.assert_gone();
                drop(runtime);
            },
        ),
        trial(
            "background::ends::the_end_of_a_sub_agent_leaves_no_process_of_it",
            || {
                let (workspace, own, other) = (TempWorkspace::new(), Marker::new(), Marker::new());
                let session = Session::new(&workspace, &ALL);
                let child = session.sub_agent();
                evader(&child, &own, "t1");
                evader(&session, &other, "t2");
                drop(child);
                own.assert_gone();
                assert!(other.count() >= 4);
                session.call("exec.read", json!({"handle": "t2"})).unwrap();
            },
        ),
        trial(
            "background::ends::a_start_that_is_given_up_leaves_no_process",
            || {
                let (workspace, marker) = (TempWorkspace::new(), Marker::new());
                let session = Session::new(&workspace, &ALL);
                // It is never quiet, so its start takes as long as it may.
                let script = marker
                    .evader()
                    .replace("while :; do", "while echo x; do")
                    .replace("sleep .2;", "yes &");
                let start = session.host.call(
                    "exec.start",
                    json!({"program": "bash", "args": ["-c", script]}),
                );
                session.block_on(async {
                    let started = async {
                        while marker.count() < 4 {
                            tokio::time::sleep(std::time::Duration::from_millis(5)).await
                        }
                    };
                    tokio::select! { answer = start => panic!("{answer:?}"), () = started => {} }
                });
                marker.assert_gone();
                assert_eq!(
                    session.call("exec.list", json!({})).unwrap(),
                    "[no background programs]"
                );
            },
        ),
        trial(
            "background::ends::a_read_that_is_given_up_leaves_the_program",
            || {
                let workspace = TempWorkspace::new();
                let session = Session::new(&workspace, &ALL);
                session.start("cat", &[]);
                let read = session
                    .host
                    .call("exec.read", json!({"handle": "t1", "wait": 60}));
                session.block_on(async {
                    let _ = tokio::time::timeout(std::time::Duration::from_millis(300), read).await;
                });
                session.ask("t1", "still here\n", "still here");
            },
        ),
        trial("background::ends::a_killed_host_leaves_no_process", || {
            let marker = Marker::new();
            let mut command = Command::new(std::env::current_exe().unwrap());
            let mut host = command
                .args([HOST, &marker.evader()])
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let mut line = String::new();
            BufReader::new(host.stdout.take().unwrap())
                .read_line(&mut line)
                .unwrap();
            assert_eq!(line, "ready\n");
            until("its processes run", || marker.count() >= 4);
            host.kill().unwrap();
            host.wait().unwrap();
            marker.assert_gone();
        }),
        trial(
            "background::ends::an_evader_outlives_its_parent_without_a_supervisor",
            || {
                let marker = Marker::new();
                let mut alone = Command::new("bash")
                    .args(["-c", &marker.evader()])
                    .stdout(Stdio::null())
                    .spawn()
                    .unwrap();
                until("it has its processes", || marker.count() >= 4);
                alone.kill().unwrap();
                alone.wait().unwrap();
                assert!(marker.count() > 0);
                while marker.count() > 0 {
                    marker.kill();
                }
            },
        ),
    ]
}
