//! [`Prepared`]: a program that is ready to start behind its walls.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tools::protocol::Normaliser;
use tools::{ToolContext, ToolError, ToolErrorKind};
use tools_fs::Workspace;

use crate::environment::environment;
use crate::lookup;
use crate::network::Network;
use crate::protected::{Protected, shown};
use crate::report::NARROWER;
use crate::sandbox::{Granted, Sandbox};
use crate::supervise::{Launch, StartError};
use crate::walls::{self, Confined, Confinement, HOST_NAME};

/// The most changed files that a result names.
const NAMED: usize = 10;

/// A program to start, as a call names it.
pub(crate) struct Request {
    pub(crate) program: String,
    pub(crate) args: Vec<String>,
    /// Variables in addition to those that every program gets, each as `NAME=VALUE`.
    pub(crate) env: Vec<String>,
    /// The working directory, relative to the workspace root.
    pub(crate) cwd: String,
}

/// A program that is ready to start.
pub(crate) struct Prepared {
    pub(crate) launch: Launch,
    root: PathBuf,
    granted: Granted,
    protected: Protected,
    /// True if the walls keep the protected paths.
    keeps_protected: bool,
    /// Notes about the walls.
    notes: Vec<String>,
    /// `None` if the program has none.
    network: Option<Network>,
    /// The folder for temporary files, which is removed with this value.
    _scratch: TempDir,
}

impl Prepared {
    /// Makes the walls of a program, and serves its network. Blocks. Must be called in a Tokio runtime.
    ///
    /// # Errors
    /// Returns an error if this machine cannot confine programs, if there is no such program, or if the grant leaves out its working
    /// directory.
    pub(crate) fn new(
        cx: &ToolContext,
        sandbox: &Sandbox,
        workspace: &Workspace,
        request: Request,
    ) -> Result<Self, ToolError> {
        let confinement = sandbox.confinement()?;
        let cwd = Normaliser::Path.apply(&request.cwd).map_err(|error| failed(&error))?;
        let granted = Granted::from_context(cx);
        let keeps_protected = confinement.keeps_protected_paths();
        let root = workspace.root();
        // Landlock cannot take a path back out of a writable tree, so nothing is writable then.
        let protected =
            if keeps_protected { Protected::find(cx, root, &granted.writable)? } else { Protected::default() };
        protected.check(root)?;
        let scratch = TempDir::new().map_err(|error| failed(&error))?;
        let mut walls = sandbox.walls(&granted, workspace, scratch.path(), protected.paths());
        let mut notes = Vec::new();
        if granted.is_narrower() {
            notes.push(NARROWER.to_owned());
        }
        if !keeps_protected && !walls.write.is_empty() {
            walls.read.append(&mut walls.write);
            notes.push(
                "without bubblewrap the workspace was read-only; install it so that programs can write".to_owned(),
            );
        }
        let network = Network::start(cx, &confinement).unwrap_or_else(|reason| {
            notes.push(reason);
            None
        });
        if network.is_some() {
            walls.network = walls::Network::Proxy;
        }
        let clause = if cwd == "." { "fs:read:**".to_owned() } else { format!("fs:read:{cwd}/**") };
        let cwd = if cwd == "." { root.to_owned() } else { root.join(cwd) };
        if !walls.read.iter().any(|path| cwd.starts_with(path) || path.starts_with(&cwd)) {
            return Err(ToolError::execution_failed(format!(
                "programs may not read their working directory; choose another cwd, or ask for the grant {clause}"
            )));
        }
        let home = match confinement {
            Confinement::Bubblewrap(_) => Path::new("/tmp"),
            _ => scratch.path(),
        };
        let confined = Confined {
            program: lookup::program(&request.program, root)?,
            args: request.args,
            env: environment(home, network.as_ref().map(Network::variables), &request.env),
            cwd,
            walls,
            layers: sandbox.layers().clone(),
            terminal: false,
        };
        let launch = Launch::from_command(&confined.command().map_err(|error| failed(&error))?);
        let launch = match confinement {
            Confinement::Bubblewrap(_) => launch.with_death_of_parent(),
            _ => launch.with_name(HOST_NAME),
        };
        let launch = match &network {
            Some(network) => network.attach(launch),
            None => launch,
        };
        let root = root.to_owned();
        Ok(Self { launch, root, granted, protected, keeps_protected, notes, network, _scratch: scratch })
    }

    /// Returns notes about the run for the model. Blocks.
    pub(crate) fn notes(mut self, cx: &ToolContext) -> Vec<String> {
        self.notes.extend(self.network.iter().flat_map(Network::notes));
        if !self.keeps_protected {
            return self.notes;
        }
        match Protected::find(cx, &self.root, &self.granted.writable) {
            Ok(now) => self.notes.extend(changes(&now, &self.protected, &self.root)),
            // The program has run, so its result matters more.
            Err(error) => self.notes.push(format!("changes of files that run programs are unknown: {error}")),
        }
        self.notes
    }
}

/// Returns the error of a tool whose program did not start.
pub(crate) fn not_started(error: StartError) -> ToolError {
    match error {
        StartError::NotEntered | StartError::Unsupported => {
            ToolErrorKind::Unavailable { reason: error.to_string() }.into()
        }
        error => failed(&error),
    }
}

/// Returns the error of a tool.
pub(crate) fn failed(error: &dyn Display) -> ToolError {
    ToolError::execution_failed(error.to_string())
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
pub(crate) async fn blocking<T: Send + 'static>(
    code: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let ended = tokio::task::spawn_blocking(code).await;
    ended.map_err(|error| ToolErrorKind::Internal { message: error.to_string() })?
}
