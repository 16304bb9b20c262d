//! `exec.start`: starts a background program.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use tools::protocol::{TargetError, Words};
use tools::{JsonSchema, Preview, Targets, Tasks, ToolContext, ToolError, tool, visible_line};
use tools_workspace::Workspace;

use super::interpreted::Interpreted;
use super::program::Program;
use crate::command::{command, target};
use crate::prepare::{Prepared, Streams, fail};
use crate::request::{BACKGROUND, Input, Request};
use crate::run::root;
use crate::sandbox::Sandbox;

/// The time in which the first output has to come to be in the answer.
const FIRST: Duration = Duration::from_secs(1);

/// The characters of a command line that are shown.
const SHOWN: usize = 200;

/// The note of a call whose program nobody can reach.
const FOR_ONE_CALL: &str =
    "it ends now, because this call belongs to no session; start it in one to go on with it";

/// Starts a program that runs beside the next calls: a server, a watcher, an interpreter. The answer has its first output, and a handle to
/// read from it, to write to it and to stop it. It ends with the session.
///
/// There is no shell. The program sees only the files that this session may read now, writes only those that it may write, and
/// reaches only the hosts that the grant names. A program that ends by itself within minutes is better run in one call.
#[tool(
    name = "exec.start",
    title = "Start a background program",
    writes = "exec:{*}",
    targets = targets,
    needs(Sandbox, Tasks, Workspace),
    preview = describe,
    tags = ["programs"],
    max_output = "64KiB",
    timeout = "60s",
    example({"program": "python3", "args": ["-i"], "terminal": true}),
    example({"program": "tail", "args": ["-F", "build.log"]}),
)]
pub(crate) async fn start(
    cx: &ToolContext,
    #[args] call: StartArguments,
) -> Result<String, ToolError> {
    let tasks = cx.need::<Tasks>()?;
    tasks.check_room()?;
    let words = call.words().map_err(fail)?;
    let input = Interpreted::new(&words, call.terminal);
    let command = visible_line(&words.to_string(), SHOWN);
    let request = Request {
        program: call.program,
        args: call.args,
        env: call.env,
        cwd: call.cwd,
        script: None,
        input: Input::Later,
    };
    let streams = if call.terminal {
        Streams::Terminal
    } else {
        Streams::Pipes
    };
    let prepared = Prepared::for_call(cx, request, streams).await?;
    let program = Arc::new(Program::start(prepared, command, input, call.terminal).await?);
    program.watch_disk();
    program.settle(FIRST).await;
    // A call that was dropped until now has ended the program.
    let handle = tasks.insert(cx, program.clone())?;
    tasks.set_told(&handle);
    let mut notes = program.prepared.notes.clone();
    notes.extend(tasks.is_for_one_call().then(|| FOR_ONE_CALL.to_owned()));
    program.report(cx, &handle, &notes).await
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "tools::schemars")]
pub(crate) struct StartArguments {
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
    /// True for a terminal of 80 columns and 24 rows instead of pipes. Programs that ask or wait for keys need one.
    #[serde(default)]
    terminal: bool,
}

impl StartArguments {
    /// Returns the command of the call.
    fn words(&self) -> Result<Words, TargetError> {
        command(&self.env, &self.program, &self.args)
    }
}

async fn describe(cx: &ToolContext, call: StartArguments) -> Result<Preview, ToolError> {
    let command = call.words().map_err(fail)?;
    crate::preview::preview(cx, command, &format!("{BACKGROUND}\n"), &call.cwd, None).await
}

fn targets(call: StartArguments) -> Targets {
    Ok(vec![target(&call.words()?)?])
}
