//! This program as a host of its own, which a test kills.

use std::ffi::OsStr;
use std::io::{ErrorKind, Write as _, stdout};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use libtest_mimic::Trial;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, Command};
use tools_exec::supervise::{Capture, Launch, start};

use crate::evaders::Evader;
use crate::marker::Marker;
use crate::modes::{Mode, run};

const HOST: &str = "host";
pub(crate) const WITHOUT_ENTER: &str = "without-enter";

/// A process that runs one evader.
pub(crate) struct Host(Child);

impl Host {
    /// Returns when the evader has its descendants.
    pub(crate) async fn start(mode: Mode, marker: &Marker, evader: Evader) -> Self {
        let program = std::env::current_exe().expect("this program");
        let mut host = Self::spawn(&program, mode, marker, evader).await;
        host.go_on().await;
        host
    }

    async fn spawn(program: &Path, mode: Mode, marker: &Marker, evader: Evader) -> Self {
        let mut command = Command::new(program);
        command
            .args([HOST, mode.name(), evader.name, marker.path()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        command.kill_on_drop(true);
        loop {
            match command.spawn() {
                // A copy that was just written is open for writing in the children of other tests, until they run their programs.
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                spawned => return Self(spawned.expect("the host starts")),
            }
        }
    }

    async fn go_on(&mut self) {
        let stdin = self.0.stdin.as_mut().expect("a pipe");
        stdin.write_all(b"start\n").await.expect("the host reads");
        assert_eq!(self.line().await, "ready\n");
    }

    async fn line(&mut self) -> String {
        let mut line = String::new();
        let stdout = self.0.stdout.as_mut().expect("a pipe");
        BufReader::new(stdout)
            .read_line(&mut line)
            .await
            .expect("the host writes");
        line
    }

    /// Kills it by `SIGKILL`.
    pub(crate) async fn kill(&mut self) {
        self.0.kill().await.expect("the host ends");
    }
}

/// Returns true if this process was started as a host.
pub(crate) fn is_host() -> bool {
    std::env::args().nth(1).as_deref() == Some(HOST)
}

#[expect(clippy::print_stdout, reason = "the test reads it")]
pub(crate) fn serve() {
    let args: Vec<String> = std::env::args().skip(2).collect();
    let [mode, evader, marker] = args.as_slice() else {
        panic!("mode, evader, marker")
    };
    let (mode, evader) = (
        Mode::from_name(mode).expect("a mode"),
        Evader::from_name(evader).expect("an evader"),
    );
    let marker = Marker::from_path(marker.clone());
    std::io::stdin()
        .read_line(&mut String::new())
        .expect("a line");
    run(async {
        let _running = evader.start(mode, &marker).await;
        println!("ready");
        stdout().flush().expect("a reader");
        std::future::pending::<()>().await;
    });
}

/// Tries to start a program from a process that has not called `enter`.
#[expect(clippy::print_stdout, reason = "the test reads it")]
pub(crate) fn without_enter() {
    let started = run(start(
        &Launch::new("true"),
        Capture::new(0),
        Capture::new(0),
    ));
    println!(
        "{}",
        started
            .err()
            .map_or_else(|| "started".to_owned(), |error| error.to_string())
    );
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Mode::Bare.trial(
            "hosts::a_replaced_file_does_not_matter",
            async |mode, marker| {
                let folder = tempfile::tempdir().expect("a folder");
                let copy = folder.path().join("host");
                std::fs::copy(std::env::current_exe().expect("this program"), &copy)
                    .expect("a copy");
                let mut host = Host::spawn(&copy, mode, &marker, crate::evaders::EVADERS[0]).await;
                std::fs::remove_file(&copy).expect("the copy");
                host.go_on().await;
            },
        ),
        Mode::Bare.trial("hosts::without_enter_nothing_is_started", async |_, _| {
            let mut command = Command::new(std::env::current_exe().expect("this program"));
            let output = command
                .arg(OsStr::new(WITHOUT_ENTER))
                .output()
                .await
                .expect("the host starts");
            let said = String::from_utf8(output.stdout).expect("text");
            assert!(said.contains("tools_exec::enter()"), "{said}");
        }),
    ]
}
