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
use crate::unprotected;
use crate::walls::{self, Confined, Confinement, HOST_NAME, WallsError};

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

/// A program that is ready to start behind the walls of a context: its grant, [`Sandbox`] and [`Workspace`].
pub struct Prepared {
    pub(crate) launch: Launch,
    root: PathBuf,
    granted: Granted,
    protected: Protected,
    /// False if the workspace was read-only.
    may_write: bool,
    /// Notes about the walls.
    pub(crate) notes: Vec<String>,
    /// `None` if the program has none.
    network: Option<Network>,
    /// The folder for temporary files, which is removed with this value.
    _scratch: TempDir,
}

impl Prepared {
    /// Makes the walls of a program that is no call of a tool, such as a server. `env` are variables in addition to those that every
    /// program gets, each as `NAME=VALUE`, and `cwd` is relative to the workspace root. Keep the value while the program runs: a drop
    /// ends its network and removes its temporary files.
    ///
    /// # Errors
    /// Returns an error if a service is missing, if this machine cannot confine programs, if there is no such program, or if the grant
    /// leaves out its working directory.
    pub async fn new(
        cx: &ToolContext,
        program: &str,
        args: &[String],
        env: &[String],
        cwd: &str,
    ) -> Result<Self, ToolError> {
        let (program, cwd) = (program.to_owned(), cwd.to_owned());
        Self::for_call(cx, Request { program, args: args.to_vec(), env: env.to_vec(), cwd }).await
    }

    /// Returns the command that starts the program.
    pub fn launch(&self) -> &Launch {
        &self.launch
    }

    /// Makes the walls of a program, and serves its network. Asks the person at the host whether it may write the workspace, if the
    /// walls cannot keep the protected paths in it.
    ///
    /// # Errors
    /// Returns an error if this machine cannot confine programs, if there is no such program, or if the grant leaves out its working
    /// directory.
    pub(crate) async fn for_call(cx: &ToolContext, request: Request) -> Result<Self, ToolError> {
        Self::with_streams(cx, request, false).await
    }

    /// Makes the walls of a program that has a terminal instead of pipes.
    ///
    /// # Errors
    /// Returns the errors of [`for_call`](Self::for_call), and an error without bubblewrap.
    pub(crate) async fn for_terminal(cx: &ToolContext, request: Request) -> Result<Self, ToolError> {
        Self::with_streams(cx, request, true).await
    }

    async fn with_streams(cx: &ToolContext, request: Request, terminal: bool) -> Result<Self, ToolError> {
        let (sandbox, workspace) = (cx.need::<Sandbox>()?, cx.need::<Workspace>()?);
        let confinement = {
            let sandbox = sandbox.clone();
            blocking(move || sandbox.confinement()).await?
        };
        if terminal && !matches!(confinement, Some(Confinement::Bubblewrap(_))) {
            return Err(failed(&WallsError::NoTerminal));
        }
        let may_write = match confinement {
            Some(Confinement::LandlockAlone) => unprotected::may_write(cx, &request.program).await?,
            _ => true,
        };
        let cx = cx.clone();
        blocking(move || Self::confined(&cx, &sandbox, &workspace, confinement, request, may_write, terminal)).await
    }

    /// Makes the walls of a program. Blocks. Must be called in a Tokio runtime.
    fn confined(
        cx: &ToolContext,
        sandbox: &Sandbox,
        workspace: &Workspace,
        confinement: Option<Confinement>,
        request: Request,
        may_write: bool,
        terminal: bool,
    ) -> Result<Self, ToolError> {
        let cwd = Normaliser::Path.apply(&request.cwd).map_err(|error| failed(&error))?;
        let granted = Granted::from_context(cx);
        let root = workspace.root();
        let protected = if may_write { Protected::find(cx, root, &granted.writable)? } else { Protected::default() };
        if confinement.as_ref().is_some_and(Confinement::keeps_protected_paths) {
            protected.check(root)?;
        }
        let scratch = TempDir::new().map_err(|error| failed(&error))?;
        let toolchains = sandbox.toolchains(workspace);
        let mut walls = sandbox.walls(&granted, workspace, &toolchains, scratch.path(), protected.paths());
        let mut notes = Vec::new();
        if granted.is_narrower() {
            notes.push(NARROWER.to_owned());
        }
        if confinement.is_none() {
            notes.push("it ran without walls, because this machine cannot confine programs".to_owned());
        }
        if !may_write && !walls.write.is_empty() {
            walls.read.append(&mut walls.write);
            notes.push(unprotected::READ_ONLY.to_owned());
        }
        for folders in &toolchains {
            let cache = folders.cache().map_err(|error| failed(&error))?;
            walls.write.push(cache);
        }
        let network = Network::start(cx, confinement.as_ref()).unwrap_or_else(|reason| {
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
            Some(Confinement::Bubblewrap(_)) => Path::new("/tmp"),
            _ => scratch.path(),
        };
        let search = lookup::folders(&toolchains);
        let variables = network.as_ref().map(Network::variables).unwrap_or_default();
        let confined = Confined {
            program: lookup::program(&request.program, root, &search)?,
            args: request.args,
            env: environment(&toolchains, &search, home, variables, &request.env),
            cwd,
            walls,
            layers: sandbox.layers().clone(),
            terminal,
        };
        let command = || confined.command().map_err(|error| failed(&error));
        let launch = match confinement {
            Some(Confinement::Bubblewrap(_)) => Launch::from_command(&command()?).with_death_of_parent(),
            Some(_) => Launch::from_command(&command()?).with_name(HOST_NAME),
            None => unconfined(&confined),
        };
        let launch = if terminal { launch.with_terminal() } else { launch };
        let launch = match &network {
            Some(network) => network.attach(launch),
            None => launch,
        };
        let root = root.to_owned();
        Ok(Self { launch, root, granted, protected, may_write, notes, network, _scratch: scratch })
    }

    /// Returns notes about the run for the model. Blocks.
    pub(crate) fn notes(mut self, cx: &ToolContext) -> Vec<String> {
        self.notes.extend(self.refused());
        self.notes.extend(self.changes(cx));
        self.notes
    }

    /// Returns notes about the requests of the program that were refused so far.
    pub(crate) fn refused(&self) -> Vec<String> {
        self.network.as_ref().map(Network::notes).unwrap_or_default()
    }

    /// Returns a note that names the protected files that have changed since. Blocks.
    pub(crate) fn changes(&self, cx: &ToolContext) -> Option<String> {
        if !self.may_write {
            return None;
        }
        match Protected::find(cx, &self.root, &self.granted.writable) {
            Ok(now) => changes(&now, &self.protected, &self.root),
            // The program has run, so its result matters more.
            Err(error) => Some(format!("changes of files that run programs are unknown: {error}")),
        }
    }
}

/// Returns the launch of a program without walls.
fn unconfined(confined: &Confined) -> Launch {
    let launch = Launch::new(&confined.program).with_args(&confined.args).with_cwd(&confined.cwd);
    confined.env.iter().fold(launch, |launch, (name, value)| launch.with_env(name, value))
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
