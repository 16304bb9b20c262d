//! `exec.run`: runs a program.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tools::protocol::Normaliser;
use tools::{Preview, ToolContext, ToolError, ToolErrorKind, tool};
use tools_fs::Workspace;

use crate::Sandbox;
use crate::environment::environment;
use crate::lookup;
use crate::protected::{Protected, shown};
use crate::report::{NARROWER, end, report};
use crate::sandbox::Granted;
use crate::supervise::{self, Capture, StartError};
use crate::walls::{Confined, Confinement};

/// The bytes of each stream that are kept. The pipeline shows less and stores the rest for `tools.output`.
const KEPT: usize = 4 * 1024 * 1024;

/// The most changed files that a result names.
const NAMED: usize = 10;

/// The time limit of a program, in seconds, if the call does not say another one.
const DEFAULT_SECONDS: u32 = 120;

/// Runs a program without a shell: `args` are passed as they are, so that no `*`, `$`, `|` or quotation mark has a meaning. The program
/// sees only the files that this session may read, writes only those that it may write, and has no network. A non-zero exit code is an
/// answer, not an error. Processes that the program leaves behind are ended.
#[tool(
    name = "exec.run",
    title = "Run a program",
    writes = "exec:{program|word} {args|words}",
    needs(Sandbox, Workspace),
    preview = describe,
    tags = ["programs"],
    max_output = "64KiB",
    timeout = "610s",
    example({"program": "cargo", "args": ["test", "--workspace"]}),
    example({"program": "python3", "args": ["-c", "print(6 * 7)"], "timeout": 10}),
)]
pub(crate) async fn run(
    cx: &ToolContext,
    /// The name of the program, or its path below the workspace root, such as `./configure`, whatever `cwd` is.
    program: String,
    /// The arguments.
    #[serde(default)]
    args: Vec<String>,
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
) -> Result<String, ToolError> {
    let (sandbox, workspace) = (cx.need::<Sandbox>()?, cx.need::<Workspace>()?);
    let prepared = {
        let cx = cx.clone();
        blocking(move || prepare(&cx, &sandbox, &workspace, &program, args, &cwd)).await?
    };
    let started = Instant::now();
    let limit = Duration::from_secs(timeout.into());
    let running = supervise::start(&prepared.launch, Capture::new(KEPT), Capture::new(KEPT)).await;
    let running = running.map_err(|error| match error {
        StartError::NotEntered | StartError::Unsupported => {
            ToolErrorKind::Unavailable { reason: error.to_string() }.into()
        }
        error => ToolError::execution_failed(error.to_string()),
    })?;
    running.feed(stdin.into_bytes());
    let in_time = tokio::time::timeout(limit, running.wait()).await;
    let how = match in_time {
        Ok(ended) => end(ended.map_err(|error| ToolError::execution_failed(error.to_string()))?),
        Err(_) => {
            running.stop();
            let ended = running.wait().await.map_err(|error| ToolError::execution_failed(error.to_string()))?;
            format!("stopped after its time limit of {timeout} s ({})", end(ended))
        }
    };
    let (stdout, stderr) = (running.stdout(), running.stderr());
    let took = started.elapsed();
    let notes = {
        let cx = cx.clone();
        blocking(move || Ok(prepared.notes(&cx))).await?
    };
    Ok(report(&how, took, &stdout, &stderr, &notes))
}

fn root() -> String {
    ".".to_owned()
}

fn default_seconds() -> u32 {
    DEFAULT_SECONDS
}

async fn describe(
    cx: &ToolContext,
    program: String,
    args: Vec<String>,
    _cwd: String,
    _stdin: String,
    _timeout: u32,
) -> Result<Preview, ToolError> {
    crate::preview::preview(cx, &program, &args)
}

/// A program that is ready to start.
struct Prepared {
    launch: supervise::Launch,
    root: PathBuf,
    protected: Protected,
    /// True if the walls keep the protected paths.
    keeps_protected: bool,
    /// Notes about the walls.
    notes: Vec<String>,
    /// The folder for temporary files, which is removed with this value.
    _scratch: TempDir,
}

fn prepare(
    cx: &ToolContext,
    sandbox: &Sandbox,
    workspace: &Workspace,
    program: &str,
    args: Vec<String>,
    cwd: &str,
) -> Result<Prepared, ToolError> {
    let failed = |error: &dyn std::fmt::Display| ToolError::execution_failed(error.to_string());
    let confinement = sandbox.confinement()?;
    let cwd = Normaliser::Path.apply(cwd).map_err(|error| failed(&error))?;
    let granted = Granted::from_context(cx);
    let keeps_protected = confinement.keeps_protected_paths();
    let root = workspace.root();
    // Landlock cannot take a path back out of a writable tree, so nothing is writable then.
    let protected = if keeps_protected { Protected::find(cx, root, &granted.writable)? } else { Protected::default() };
    protected.check(root)?;
    let scratch = TempDir::new().map_err(|error| failed(&error))?;
    let mut walls = sandbox.walls(cx, workspace, scratch.path(), protected.paths());
    let mut notes = Vec::new();
    if granted.is_narrower() {
        notes.push(NARROWER.to_owned());
    }
    if !keeps_protected && !walls.write.is_empty() {
        walls.read.append(&mut walls.write);
        notes.push("without bubblewrap the workspace was read-only; install it so that programs can write".to_owned());
    }
    let clause = if cwd == "." { "fs:read:**".to_owned() } else { format!("fs:read:{cwd}/**") };
    let cwd = if cwd == "." { root.to_owned() } else { root.join(cwd) };
    if !walls.read.iter().any(|path| cwd.starts_with(path) || path.starts_with(&cwd)) {
        return Err(ToolError::execution_failed(format!(
            "programs may not read their working directory; choose another cwd, or ask for the grant {clause}"
        )));
    }
    let program = lookup::program(program, root)?;
    let home = match confinement {
        Confinement::Bubblewrap(_) => Path::new("/tmp"),
        _ => scratch.path(),
    };
    let confined = Confined {
        program,
        args,
        env: environment(home),
        cwd,
        walls,
        layers: sandbox.layers().clone(),
        terminal: false,
    };
    let command = confined.command().map_err(|error| failed(&error))?;
    let mut launch = supervise::Launch::from_command(&command);
    launch = match confinement {
        Confinement::Bubblewrap(_) => launch.with_death_of_parent(),
        _ => launch.with_name(crate::walls::HOST_NAME),
    };
    Ok(Prepared { launch, root: root.to_owned(), protected, keeps_protected, notes, _scratch: scratch })
}

impl Prepared {
    /// Returns notes about the run for the model. Blocks.
    fn notes(mut self, cx: &ToolContext) -> Vec<String> {
        if !self.keeps_protected {
            return self.notes;
        }
        match Protected::find(cx, &self.root, &Granted::from_context(cx).writable) {
            Ok(now) => self.notes.extend(changes(&now, &self.protected, &self.root)),
            // The program has run, so its result matters more.
            Err(error) => self.notes.push(format!("changes of files that run programs are unknown: {error}")),
        }
        self.notes
    }
}

/// Names the files that have changed.
fn changes(now: &Protected, before: &Protected, root: &Path) -> Option<String> {
    let changed: Vec<&Path> = now.changed_since(before).collect();
    let mut names: Vec<String> = changed.iter().take(NAMED).map(|path| shown(path, root)).collect();
    if changed.len() > NAMED {
        names.push(format!("{} more", changed.len() - NAMED));
    }
    let text = || format!("these files run or configure programs and have changed: {}", names.join(", "));
    (!names.is_empty()).then(text)
}

/// Runs code that blocks on a thread of its own.
async fn blocking<T: Send + 'static>(
    code: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let ended = tokio::task::spawn_blocking(code).await;
    ended.map_err(|error| ToolErrorKind::Internal { message: error.to_string() })?
}
