//! How a test is made, and a server that is a script.

use std::future::Future;
use std::path::Path;
use std::time::Duration;

use libtest_mimic::Trial;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tools_exec::supervise::Launch;
use tools_mcp::client::{BoxedRead, StdioServer, server_command};

/// How long a test waits for a condition before it fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// Makes a test, on a runtime of its own.
pub(crate) fn trial<F>(name: &str, test: impl FnOnce() -> F + Send + 'static) -> Trial
where
    F: Future<Output = ()>,
{
    Trial::test(name, move || {
        run(test());
        Ok(())
    })
}

/// Runs a future to its end on this thread.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        tokio::time::timeout(PATIENCE * 5, future)
            .await
            .expect("a test that ends")
    })
}

/// Returns a server that is a script of `sh`.
pub(crate) fn script(script: &str) -> StdioServer {
    StdioServer::new("script", script_command(script))
}

pub(crate) fn script_command(script: &str) -> Launch {
    server_command("sh").with_args(["-c", script])
}

/// Reads all lines.
pub(crate) async fn lines(read: BoxedRead) -> Vec<String> {
    let mut text = String::new();
    BufReader::new(read)
        .read_to_string(&mut text)
        .await
        .unwrap();
    text.lines().map(str::to_owned).collect()
}

/// Reads a line.
pub(crate) async fn line(read: &mut BufReader<BoxedRead>) -> String {
    let mut line = String::new();
    read.read_line(&mut line).await.unwrap();
    line
}

/// Waits until a condition holds.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    assert!(
        tokio::time::timeout(PATIENCE, waiting).await.is_ok(),
        "waited in vain until {what}"
    );
}

/// Returns the processes in a file, once it has this number of lines.
pub(crate) async fn pids(file: &Path, number: usize) -> Vec<u32> {
    let read = || std::fs::read_to_string(file).unwrap_or_default();
    until("the server has written its processes", || {
        read().lines().count() >= number
    })
    .await;
    read()
        .lines()
        .map(|pid| pid.trim().parse().unwrap())
        .collect()
}

/// Returns true if the process runs.
pub(crate) fn runs(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')')
        .is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

/// Returns a script whose process, and a descendant that left its session and group, write their numbers to the file `$1`.
pub(crate) const FAMILY: &str = r#"echo $$ >>"$PIDS"; (setsid sh -c 'echo $$ >>"$PIDS"; sleep 1000' >/dev/null 2>&1 </dev/null &); "#;
