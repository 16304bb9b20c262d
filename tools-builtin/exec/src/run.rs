//! `exec.run`: runs a program.

use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;
use tools::protocol::{TargetError, Words};
use tools::{JsonSchema, Preview, Targets, ToolContext, ToolError, tool};
use tools_workspace::Workspace;

use crate::command::{command, target, with_stdin};
use crate::live_output::report_output;
use crate::prepare::{Prepared, Streams, fail, not_started, settle_at_end};
use crate::preview;
use crate::report::{end, report};
use crate::request::{Input, Request};
use crate::sandbox::Sandbox;
use crate::supervise::{self, Capture};

/// The bytes of each stream that are kept. The pipeline shows less and stores the rest for `tools.output`.
const KEPT: usize = 4 * 1024 * 1024;

/// The time limit of a program, in seconds, if the call does not say another one.
const DEFAULT_SECONDS: u32 = 120;

/// Runs a program without a shell: `args` are passed as they are, so that no `*`, `$`, `|` or quotation mark has a meaning. The program
/// sees only the files that this session may read, writes only those that it may write, and reaches only the
/// hosts that the grant names, by HTTP and HTTPS through a proxy that its variables name. A non-zero exit code is an
/// answer, not an error. Processes that the program leaves behind are ended.
#[tool(
    name = "exec.run",
    title = "Run a program",
    writes = "exec:{*}",
    targets = targets,
    needs(Sandbox, Workspace),
    preview = describe,
    tags = ["programs"],
    max_output = "64KiB",
    timeout = "610s",
    example({"program": "cargo", "args": ["test", "--workspace"]}),
    example({"program": "cargo", "args": ["test"], "env": ["RUST_BACKTRACE=1"]}),
    example({"program": "python3", "args": ["-c", "print(6 * 7)"], "timeout": 10}),
)]
pub(crate) async fn run(cx: &ToolContext, #[args] call: RunArguments) -> Result<String, ToolError> {
    let request = Request {
        program: call.program,
        args: call.args,
        env: call.env,
        cwd: call.cwd,
        script: None,
        input: Input::Text(call.stdin),
    };
    let prepared = Prepared::for_call(cx, request, Streams::Pipes).await?;
    run_prepared(cx, prepared, call.timeout).await
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "tools::schemars")]
pub(crate) struct RunArguments {
    /// The name of the program, or its path below the workspace root, such as `./configure`, whatever `cwd` is.
    program: String,
    /// The arguments.
    #[serde(default)]
    args: Vec<String>,
    /// More environment variables, each as `NAME=VALUE`.
    #[serde(default)]
    #[schemars(inner(regex(pattern = "^[A-Za-z_][A-Za-z0-9_]*=")))]
    env: Vec<String>,
    /// The working directory, relative to the workspace root.
    #[serde(default = "root")]
    cwd: String,
    /// The text of standard input.
    #[serde(default)]
    stdin: String,
    /// The time limit in seconds.
    #[serde(default = "default_seconds")]
    #[schemars(range(min = 1, max = 600))]
    timeout: u32,
}

impl RunArguments {
    /// Returns the command of the call.
    fn words(&self) -> Result<Words, TargetError> {
        with_stdin(command(&self.env, &self.program, &self.args)?, &self.stdin)
    }
}

/// Runs a program to its end, or to its time limit in seconds.
pub(crate) async fn run_prepared(
    cx: &ToolContext,
    prepared: Prepared,
    timeout: u32,
) -> Result<String, ToolError> {
    let mut prepared = prepared.record().await?;
    let started = Instant::now();
    let limit = Duration::from_secs(timeout.into());
    let running = supervise::start(&prepared.launch, Capture::new(KEPT), Capture::new(KEPT)).await;
    let running = running.map_err(not_started)?;
    running.feed(mem::take(&mut prepared.stdin).into_bytes());
    let prepared = Arc::new(prepared);
    settle_at_end(&prepared, &running);
    let stopped = tokio::select! {
        ended = running.wait() => Ok(ended.map_err(fail)?),
        () = tokio::time::sleep(limit) => Err(format!("after its time limit of {timeout} s")),
        never = report_output(cx, &running) => match never {},
        reason = prepared.disk.watch_limit() => Err(format!("because {reason}")),
    };
    let how = match stopped {
        Ok(ended) => end(ended),
        Err(reason) => {
            running.stop();
            let ended = running.wait().await.map_err(fail)?;
            format!("stopped {reason} ({})", end(ended))
        }
    };
    let stdout = running.stdout();
    let stderr = running.stderr();
    let took = started.elapsed();
    prepared.record_contents(cx).await?;
    let changes = prepared.changes(cx).await?;
    let notes: Vec<String> = prepared.remarks().into_iter().chain(changes).collect();
    Ok(report(&how, took, &stdout, &stderr, &notes))
}

pub(crate) fn root() -> String {
    ".".to_owned()
}

pub(crate) fn default_seconds() -> u32 {
    DEFAULT_SECONDS
}

async fn describe(cx: &ToolContext, call: RunArguments) -> Result<Preview, ToolError> {
    let command = call.words().map_err(fail)?;
    let input = preview::input(&call.stdin);
    preview::preview(cx, command, &input, &call.cwd, Some(call.timeout)).await
}

fn targets(call: RunArguments) -> Targets {
    Ok(vec![target(&call.words()?)?])
}
