//! `exec.shell`: runs a script.

use std::sync::Arc;

use serde::Deserialize;
use tools::protocol::{Access, InvalidTarget, Normaliser, Target, TargetError, Word, Words};
use tools::schemars::JsonSchema;
use tools::{Preview, Targets, ToolContext, ToolError, tool, visible_line};
use tools_workspace::Workspace;

use crate::command::{target, variables};
use crate::prepare::{Prepared, Streams, fail};
use crate::preview::{EVERY_FOLDER, input, mark_lines, summary};
use crate::request::{Input, Request};
use crate::run::{default_seconds, root, run_prepared};
use crate::sandbox::Sandbox;
use crate::script::{Reason, Script, Shell};

/// Variables that make a shell run or read something else than its script.
const OF_SHELLS: [&str; 5] = ["BASHOPTS", "BASH_ENV", "ENV", "PS4", "SHELLOPTS"];

/// The characters of a path that a question shows.
const SHOWN: usize = 200;

/// Runs a script by a shell. It sees only the files that this session may read, writes only those that it may write, and reaches only the
/// hosts that the grant names, by HTTP and HTTPS through a proxy that its variables name.
/// Plain commands with `&&`, `||`, `;`, `|` and redirections to files of the workspace run by the rules for their commands. A person is
/// asked about any other script: one with variables, `$(…)`, assignments, loops, patterns of file names or here-documents. Instead of
/// a here-document, use `stdin`. A non-zero exit code is an answer, not an error.
#[tool(
    name = "exec.shell",
    title = "Run a script",
    reads = "fs:{*}",
    writes = ["exec:{*}", "fs:{*}"],
    targets = targets,
    needs(Sandbox, Workspace),
    preview = describe,
    tags = ["programs"],
    max_output = "64KiB",
    timeout = "610s",
    example({"script": "cargo fmt --check && cargo test 2>&1 | tail -n 20"}),
    example({"script": "sort | uniq -c > counts.txt", "shell": "sh", "stdin": "b\na\nb\n"}),
)]
pub(crate) async fn shell(
    cx: &ToolContext,
    #[args] call: ShellArguments,
) -> Result<String, ToolError> {
    let read = call.read().map_err(fail)?;
    // A transparent script runs in the form in which all its words are in quotes, so that it is what was read.
    let quoted = read.quoted.as_ref().unwrap_or(&call.script);
    let request = Request {
        program: call.shell.program(),
        args: call.shell.args(quoted.clone()),
        env: call.env,
        cwd: call.cwd,
        script: Some(call.script),
        input: Input::Text(call.stdin),
    };
    let prepared = Prepared::for_call(cx, request, Streams::Pipes).await?;
    run_prepared(cx, prepared, call.timeout).await
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(crate = "tools::schemars")]
pub(crate) struct ShellArguments {
    /// The script.
    #[schemars(length(max = 16384))]
    script: String,
    /// The shell: `bash`, or `sh` for any POSIX shell.
    #[serde(default)]
    shell: Shell,
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

impl ShellArguments {
    /// Reads the script.
    fn read(&self) -> Result<Arc<Script>, TargetError> {
        let cwd = Normaliser::Path.apply(&self.cwd);
        let cwd = cwd.map_err(|reason| TargetError::argument("cwd", reason))?;
        let read = Script::read(&self.script, self.shell, &cwd);
        let mut read = read.map_err(|error| TargetError::Function {
            reason: error.to_string(),
        })?;
        let env = self.env.iter();
        let mut names = env.filter_map(|variable| variable.split('=').next());
        if names.any(|name| OF_SHELLS.contains(&name)) {
            Arc::make_mut(&mut read)
                .make_opaque("a variable by which shells run or read something else");
        }
        if !self.stdin.is_empty() && read.commands.iter().any(Words::runs_programs) {
            Arc::make_mut(&mut read).make_opaque("standard input, which a command can run as code");
        }
        Ok(read)
    }
}

impl Shell {
    fn program(self) -> String {
        match self {
            Self::Bash => "bash".to_owned(),
            Self::Sh => "sh".to_owned(),
        }
    }

    /// Returns the arguments that run a script. After `--`, a script that begins with `-` is not an option.
    fn args(self, script: String) -> Vec<String> {
        let options: &[&str] = match self {
            Self::Bash => &["--noprofile", "--norc", "-c", "--"],
            Self::Sh => &["-c", "--"],
        };
        let options = options.iter().map(|option| (*option).to_owned());
        options.chain([script]).collect()
    }
}

fn targets(call: ShellArguments) -> Targets {
    let read = call.read()?;
    let mut targets = Vec::new();
    for (access, path) in &read.files {
        targets.push(Target::new(*access, "fs", path.as_str()).map_err(script_fault)?);
    }
    let whole = read.quoted.is_none().then(|| {
        let shell = [call.shell.program(), "-c".to_owned()].map(Word::Known);
        shell.into_iter().chain([whole(&read)]).collect::<Vec<_>>()
    });
    let commands = read.commands.iter();
    let commands = commands.map(|words| words.iter().cloned().collect());
    for words in commands.chain(whole) {
        // As in `exec.run`, variables are part of the command.
        let variables = variables(&call.env).map(|word| Word::Known(word.to_owned()));
        targets.push(target(
            &Words::new(variables.chain(words)).map_err(script_fault)?,
        )?);
    }
    Ok(targets)
}

fn script_fault(reason: InvalidTarget) -> TargetError {
    TargetError::argument("script", reason)
}

/// Returns the word for an opaque script. Its text has the reasons, so that a model whose call is refused knows what to write otherwise.
fn whole(script: &Script) -> Word {
    let places: Vec<String> = script.reasons.iter().map(Reason::place).collect();
    Word::Unknown(format!("$script: {}", places.join("; ")))
}

async fn describe(cx: &ToolContext, call: ShellArguments) -> Result<Preview, ToolError> {
    let read = call.read().map_err(fail)?;
    let cwd = &*call.cwd;
    let mut text = format!(
        "runs by {}:\n{}{}",
        call.shell.program(),
        mark_lines(&call.script),
        input(&call.stdin)
    );
    if cwd != "." {
        text += &format!("in: {}, {EVERY_FOLDER}\n", visible_line(cwd, SHOWN));
    }
    for reason in &read.reasons {
        text += &format!("asked about, because {reason}\n");
    }
    for variable in &call.env {
        text += &format!("variable: {}\n", Word::Known(variable.clone()));
    }
    for command in &read.commands {
        text += &format!("command: {command}\n");
    }
    for (access, path) in &read.files {
        let verb = match access {
            Access::Read => "reads",
            _ => "writes",
        };
        text += &format!("{verb}: {}\n", visible_line(path, SHOWN));
    }
    let commands = read.commands.clone();
    summary(cx, text, commands, call.script, cwd, Some(call.timeout)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_outside_of_a_script_is_for_one_call() {
        let read = |env: &[&str], stdin: &str| {
            let call = ShellArguments {
                script: "sh".to_owned(),
                shell: Shell::Bash,
                env: env.iter().map(|variable| (*variable).to_owned()).collect(),
                cwd: ".".to_owned(),
                stdin: stdin.to_owned(),
                timeout: 1,
            };
            call.read().unwrap()
        };
        let plain = read(&[], "");
        for opaque in [read(&["BASH_ENV=a"], ""), read(&[], "id")] {
            assert_eq!((opaque.quoted.as_deref(), opaque.reasons.len()), (None, 1));
        }
        assert!(Arc::ptr_eq(&plain, &read(&[], "")) && plain.quoted.is_some());
    }
}
