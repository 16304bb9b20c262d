//! This program as a host of its own, which a test kills.

use std::io::{Write as _, stdout};
use std::process::Stdio;

use libtest_mimic::Trial;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;

use tools_mcp::client::StdioServer;

use crate::setup::{FAMILY, pids, run, runs, script, script_command, trial, until};

pub(crate) const HOST: &str = "host";
pub(crate) const WITHOUT_ENTER: &str = "without-enter";

#[expect(clippy::print_stdout, reason = "the test reads it")]
pub(crate) fn serve() {
    let file = std::env::args().nth(2).unwrap();
    run(async {
        let command = script_command(&format!(
            "{FAMILY}trap '' TERM HUP; while :; do sleep 1; done"
        ))
        .with_env("PIDS", &file);
        let server = StdioServer::new("script", command);
        let _connection = server.connect().await.unwrap();
        println!("ready");
        stdout().flush().unwrap();
        std::future::pending::<()>().await;
    });
}

#[expect(clippy::print_stdout, reason = "the test reads it")]
pub(crate) fn without_enter() {
    println!(
        "{}",
        run(script("true").connect())
            .err()
            .map_or("started".to_owned(), |error| error.to_string())
    );
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a_killed_host_leaves_no_process_of_its_servers",
            async || {
                let folder = tempfile::tempdir().unwrap();
                let file = folder.path().join("pids");
                let mut command = Command::new(std::env::current_exe().unwrap());
                command
                    .arg(HOST)
                    .arg(&file)
                    .stdout(Stdio::piped())
                    .kill_on_drop(true);
                let mut host = command.spawn().unwrap();
                let mut ready = String::new();
                BufReader::new(host.stdout.take().unwrap())
                    .read_line(&mut ready)
                    .await
                    .unwrap();
                assert_eq!(ready, "ready\n");
                let family = pids(&file, 2).await;
                assert!(family.iter().all(|pid| runs(*pid)));
                host.kill().await.unwrap();
                until("the servers are gone", || {
                    !family.iter().any(|pid| runs(*pid))
                })
                .await;
            },
        ),
        trial(
            "a_host_without_enter_starts_no_server_and_says_why",
            async || {
                let mut command = Command::new(std::env::current_exe().unwrap());
                let output = command.arg(WITHOUT_ENTER).output().await.unwrap();
                let said = String::from_utf8(output.stdout).unwrap();
                assert!(said.contains("tools_exec::enter()"), "{said}");
            },
        ),
    ]
}
