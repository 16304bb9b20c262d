//! [`Session`]: calls that share background programs.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tools::{Tasks, ToolError};
use tools_exec::Sandbox;
use tools_testkit::{TempWorkspace, TestHost};

use crate::setup;

/// How long a test waits for a condition before it fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// The grants of the tests.
pub(crate) const ALL: [&str; 5] = [
    "fs:read:**",
    "fs:write:**",
    "exec:write:**",
    "program:read:**",
    "program:write:**",
];

/// A session with background programs.
pub(crate) struct Session {
    pub(crate) host: TestHost,
    pub(crate) runtime: Arc<Runtime>,
}

impl Session {
    pub(crate) fn new(workspace: &TempWorkspace, grant: &[&str]) -> Self {
        Self::with_sandbox(workspace, grant, Sandbox::default())
    }

    pub(crate) fn with_sandbox(
        workspace: &TempWorkspace,
        grant: &[&str],
        sandbox: Sandbox,
    ) -> Self {
        let host = setup::host_with(workspace, grant, sandbox).with_context(|cx| {
            let mut services = cx.services().clone();
            Tasks::offer(&mut services);
            cx.with_services(services)
        });
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        Self {
            host,
            runtime: runtime.into(),
        }
    }

    /// Returns the session of a sub-agent.
    pub(crate) fn sub_agent(&self) -> Self {
        let host = self.host.clone().with_context(|cx| {
            let services = cx.services().for_sub_agent();
            cx.with_services(services)
        });
        Self {
            host,
            runtime: self.runtime.clone(),
        }
    }

    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Result<String, ToolError> {
        self.block_on(self.host.call(tool, arguments))
            .map(|result| result.to_text())
    }

    pub(crate) fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    pub(crate) fn start(&self, program: &str, args: &[&str]) -> String {
        self.call("exec.start", json!({"program": program, "args": args}))
            .unwrap()
    }

    pub(crate) fn sh(&self, script: &str) -> String {
        self.start("sh", &["-c", script])
    }

    /// Starts a program on a terminal.
    pub(crate) fn terminal(&self, program: &str, args: &[&str]) -> String {
        self.call(
            "exec.start",
            json!({"program": program, "args": args, "terminal": true}),
        )
        .unwrap()
    }

    /// Writes a text and returns the output until it contains `answer`.
    pub(crate) fn ask(&self, handle: &str, text: &str, answer: &str) -> String {
        let written = self
            .call("exec.write", json!({"handle": handle, "text": text}))
            .unwrap();
        self.read_on(written, handle, answer)
    }

    /// Reads until the output, which begins with `text`, contains `answer`.
    pub(crate) fn read_on(&self, mut text: String, handle: &str, answer: &str) -> String {
        let start = Instant::now();
        while !text.contains(answer) {
            assert!(start.elapsed() < PATIENCE, "{answer:?} is not in {text}");
            let more = self
                .call("exec.read", json!({"handle": handle, "wait": 5}))
                .unwrap();
            let is_over = !more.contains(": runs for ");
            text += &more;
            assert!(
                !is_over || text.contains(answer),
                "{answer:?} is not in {text}"
            );
        }
        text
    }
}

/// The argument of a `sleep` that no other process has.
pub(crate) struct Marker(String);

impl Marker {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        Self(format!(
            "9{}{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        ))
    }

    /// A script of bash with processes that try to outlive it.
    pub(crate) fn evader(&self) -> String {
        let Self(time) = self;
        format!(
            "trap '' TERM INT HUP QUIT; setsid sleep {time} & ( (sleep {time} &) & ); (setsid bash -c '(sleep {time} &)' &); \
             sleep .2; echo ready; while :; do sleep {time}; done"
        )
    }

    /// Returns the number of processes with this argument.
    pub(crate) fn count(&self) -> usize {
        let found = Command::new("pgrep")
            .args(["-f", &format!("^sleep {}$", self.0)])
            .output()
            .unwrap();
        found.stdout.iter().filter(|byte| **byte == b'\n').count()
    }

    /// Kills the processes with this argument.
    pub(crate) fn kill(&self) {
        Command::new("pkill")
            .args(["-9", "-f", &format!("^sleep {}$", self.0)])
            .status()
            .unwrap();
    }

    /// Waits until no process is left.
    pub(crate) fn assert_gone(&self) {
        until("no process is left", || self.count() == 0);
    }
}

/// Waits until a condition holds.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
