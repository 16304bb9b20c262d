//! [`Prepared`]: a program that is ready to start behind its walls.

use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tools::context::WriteWatch;
use tools::protocol::Normaliser;
use tools::{ToolContext, ToolError, ToolErrorKind};
use tools_workspace::Workspace;

use crate::blocking::blocking;
use crate::consent::Consent;
use crate::disk::Disk;
use crate::hidden::Shown;
use crate::lookup;
use crate::network::Network;
use crate::private_home::PrivateHome;
use crate::protected::author_settings;
use crate::report::{left_out, missing};
use crate::request::{Input, Request};
use crate::reserved::reserve;
use crate::sandbox::{Granted, Sandbox};
use crate::supervise::{Launch, Running, StartError};
use crate::toolchain::Folders;
use crate::toolchain::environment;
use crate::walls::{self, Confined, Confinement, HOST_NAME, WallsError};
use crate::watch::Watch;

/// The standard streams of a program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Streams {
    Pipes,
    /// A terminal, which needs bubblewrap.
    Terminal,
}

/// The files of a program, which are found before anybody is asked about it.
struct Place {
    request: Request,
    cwd: PathBuf,
    program: PathBuf,
    toolchains: Vec<Folders>,
    /// The folders in which programs are looked up.
    search: Vec<PathBuf>,
    /// Notes on the arguments that walls would hide.
    hidden: Vec<String>,
}

impl Place {
    /// Looks for the files, also those that walls would hide. Blocks.
    fn look(
        cx: &ToolContext,
        sandbox: &Sandbox,
        workspace: &Workspace,
        request: Request,
        has_walls: bool,
    ) -> Result<Self, ToolError> {
        let root = workspace.root();
        let cwd = Normaliser::Path.apply(&request.cwd).map_err(fail)?;
        let (clause, cwd) = match &*cwd {
            "." => ("fs:read:**".to_owned(), root.to_owned()),
            cwd => (format!("fs:read:{cwd}/**"), root.join(cwd)),
        };
        let toolchains = sandbox.toolchains(workspace);
        let read = Granted::from_context(cx).on_disk(workspace, &toolchains);
        if !read
            .iter()
            .any(|path| cwd.starts_with(path) || path.starts_with(&cwd) && path.exists())
        {
            return Err(ToolError::execution_failed(format!(
                "programs may not read their working directory; choose another cwd, or ask for the grant {clause}"
            )));
        }
        let search = lookup::folders(&toolchains);
        let program = lookup::program(&request.program, root, &search, || {
            sandbox.other_toolchain(&request.program)
        })?;
        let mut hidden = Vec::new();
        if has_walls {
            let shown = Shown {
                sandbox,
                root,
                read: &read,
            };
            if request.program.contains('/') {
                shown.check(&program)?;
            }
            hidden = shown.notes(&request.args, &cwd);
        }
        Ok(Self {
            request,
            cwd,
            program,
            toolchains,
            search,
            hidden,
        })
    }
}

/// A program that is ready to start behind the walls of a context: its grant, [`Sandbox`] and [`Workspace`].
pub struct Prepared {
    pub(crate) launch: Launch,
    /// The text of standard input.
    pub(crate) stdin: String,
    /// `None` if the workspace was read-only, or if the program is no call.
    watch: Option<Watch>,
    /// Notes about the walls.
    pub(crate) notes: Vec<String>,
    /// Notes on the arguments that the walls hide.
    hidden: Vec<String>,
    /// The disks that the program writes.
    pub(crate) disk: Disk,
    /// `None` if the program has none.
    network: Option<Network>,
    /// The paths that the program may read beside those of the system and of installed tools.
    readable: Vec<PathBuf>,
    /// The folder for temporary files, which is removed with this value.
    _scratch: PrivateHome,
    /// The time in which the program may write.
    _writing: WriteWatch,
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
        let request = Request {
            program: program.to_owned(),
            args: args.to_vec(),
            env: env.to_vec(),
            cwd: cwd.to_owned(),
            script: None,
            input: Input::Text(String::new()),
        };
        let mut prepared = Self::for_call(cx, request, Streams::Pipes).await?;
        prepared.notes.append(&mut prepared.hidden);
        prepared.record().await
    }

    /// Returns notes on what the walls keep from the program: clauses that they cannot enforce, arguments that they hide, and requests that
    /// they have refused so far.
    pub fn remarks(&self) -> Vec<String> {
        self.notes.iter().cloned().chain(self.requests()).collect()
    }

    /// Returns the command that starts the program.
    pub fn launch(&self) -> &Launch {
        &self.launch
    }

    /// Makes the walls of a program, and serves its network. Asks the person at the host about the parts of the grant that the walls
    /// cannot enforce.
    ///
    /// # Errors
    /// Returns an error if this machine cannot confine programs or give them a terminal, if there is no such program, or if the grant
    /// leaves out its working directory.
    pub(crate) async fn for_call(
        cx: &ToolContext,
        request: Request,
        streams: Streams,
    ) -> Result<Self, ToolError> {
        let sandbox = cx.need::<Sandbox>()?;
        let workspace = cx.need::<Workspace>()?;
        let confinement = {
            let sandbox = sandbox.clone();
            blocking(move || sandbox.confinement()).await?
        };
        if streams == Streams::Terminal && !matches!(confinement, Some(Confinement::Bubblewrap(_)))
        {
            return Err(fail(WallsError::NoTerminal));
        }
        let place = {
            let cx = cx.clone();
            let sandbox = sandbox.clone();
            let workspace = workspace.clone();
            let has_walls = confinement.is_some();
            blocking(move || Place::look(&cx, &sandbox, &workspace, request, has_walls)).await?
        };
        let request = &place.request;
        let consent = match confinement {
            Some(Confinement::LandlockAlone) => Some(Consent::ask(cx, &workspace, request).await?),
            Some(_) if sandbox.opens_home(cx, &workspace) => {
                Some(Consent::ask_about_home(cx, request).await?)
            }
            _ => None,
        };
        let cx = cx.clone();
        blocking(move || {
            Self::confine(
                &cx,
                &sandbox,
                &workspace,
                confinement,
                place,
                consent,
                streams,
            )
        })
        .await
    }

    /// Makes the walls of a program. `consent` is `None` if nothing was asked. Blocks. Must be called in a Tokio runtime.
    fn confine(
        cx: &ToolContext,
        sandbox: &Sandbox,
        workspace: &Workspace,
        confinement: Option<Confinement>,
        place: Place,
        consent: Option<Consent>,
        streams: Streams,
    ) -> Result<Self, ToolError> {
        let request = place.request;
        let toolchains = &place.toolchains;
        let mut granted = Granted::from_context(cx);
        let absent = if confinement.is_some() {
            granted.take_missing(workspace)
        } else {
            Vec::new()
        };
        let root = workspace.root();
        let may_write = consent.as_ref().is_none_or(|consent| consent.may_write);
        let is_kept = confinement
            .as_ref()
            .is_some_and(Confinement::keeps_protected_paths);
        // Errors and output can show all that the program may read. Earlier programs have written the caches.
        let caches = toolchains.iter().map(|folders| folders.cache.clone());
        let readable: Vec<PathBuf> = granted
            .on_disk(workspace, &[])
            .into_iter()
            .chain(caches)
            .collect();
        cx.record_contents(|| readable.clone());
        if may_write && confinement.is_some() {
            let writable = granted.writable_on_disk(workspace);
            reserve(workspace, &writable, &sandbox.reserved)?;
        }
        let watch = if may_write {
            Some(Watch::begin(
                cx, sandbox, workspace, &granted, is_kept, &request,
            )?)
        } else {
            None
        };
        if let Some(watch) = watch.as_ref().filter(|_| is_kept) {
            watch.before.check(root)?;
        }
        let protected = watch.as_ref().map(|watch| watch.before.paths());
        let protected = protected.unwrap_or_default();
        let written = match (&confinement, may_write) {
            (None, _) => vec![PathBuf::from("/")],
            (Some(_), true) => granted.writable_on_disk(workspace),
            (Some(_), false) => Vec::new(),
        };
        let kept = if is_kept { &*protected } else { &[] };
        let writing = cx.watch_writes(&written, kept).map_err(fail)?;
        let scratch = sandbox.private_home().map_err(fail)?;
        // Commits have the author that they have outside, unless the repository names another one.
        let author = author_settings(root);
        if !author.is_empty() {
            fs::write(scratch.path.join(".gitconfig"), author).map_err(fail)?;
        }
        let mut walls = sandbox.walls(&granted, workspace, toolchains, &scratch.path, protected);
        let mut notes: Vec<String> = left_out(granted.left_out())
            .into_iter()
            .chain(missing(&absent))
            .collect();
        if confinement.is_none() {
            notes.push(
                "it ran without walls, because this machine cannot confine programs".to_owned(),
            );
        }
        if !may_write {
            walls.read.append(&mut walls.write);
        }
        if let Some(consent) = consent {
            notes.extend(consent.notes);
            if consent.has_network {
                walls.network = walls::Network::Machine;
            }
        }
        for folders in toolchains {
            let cache = folders.cache().map_err(fail)?;
            walls.write.push(cache.to_owned());
        }
        let written = walls.write.iter();
        let written = written.filter(|path| !path.starts_with(root)).cloned();
        let disk = Disk::new(
            [root.to_owned(), scratch.path.clone()]
                .into_iter()
                .chain(written),
            walls.limits.disk,
        );
        let proxied = match confinement {
            Some(Confinement::Bubblewrap(_)) => Network::start(cx),
            _ => Ok(None),
        };
        let network = proxied.unwrap_or_else(|reason| {
            notes.push(reason);
            None
        });
        if network.is_some() {
            walls.network = walls::Network::Proxy;
        }
        // The program can pass on text of strangers.
        if confinement.is_none() || !matches!(walls.network, walls::Network::None) {
            cx.record_exposure();
        }
        // Bubblewrap mounts the private folder there.
        let home = match confinement {
            Some(Confinement::Bubblewrap(_)) => Path::new("/tmp"),
            _ => &scratch.path,
        };
        let variables = network.as_ref().map(Network::variables).unwrap_or_default();
        let confined = Confined {
            program: place.program,
            args: request.args,
            env: environment(toolchains, &place.search, home, variables, &request.env),
            cwd: place.cwd,
            walls,
            layers: sandbox.layers().clone(),
            terminal: streams == Streams::Terminal,
        };
        let command = match &confinement {
            Some(_) => Launch::from_command(&confined.command().map_err(fail)?),
            None => launch_bare(&confined),
        };
        let launch = Launch {
            name: (confinement == Some(Confinement::LandlockAlone)).then(|| HOST_NAME.into()),
            ends_with_parent: matches!(confinement, Some(Confinement::Bubblewrap(_))),
            has_terminal: confined.terminal,
            gate: network.as_ref().map(Network::gate),
            ..command
        };
        let stdin = match request.input {
            Input::Text(text) => text,
            Input::Later => String::new(),
        };
        Ok(Self {
            launch,
            stdin,
            watch,
            notes,
            hidden: place.hidden,
            disk,
            network,
            readable,
            _scratch: scratch,
            _writing: writing,
        })
    }

    /// Records that the output of the program is shown, which may have the text of all files that it may read.
    pub(crate) async fn record_contents(
        self: &Arc<Self>,
        cx: &ToolContext,
    ) -> Result<(), ToolError> {
        let prepared = self.clone();
        let cx = cx.clone();
        blocking(move || {
            cx.record_contents(|| prepared.readable.clone());
            Ok(())
        })
        .await
    }

    /// Returns notes about the requests of the program so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.network
            .as_ref()
            .map(Network::notes)
            .unwrap_or_default()
    }

    /// Writes what there is before the program, for a host that dies while it runs. Call it before the start.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub(crate) async fn record(self) -> Result<Self, ToolError> {
        blocking(move || {
            self.watch
                .as_ref()
                .map_or(Ok(()), Watch::record)
                .map(|()| self)
        })
        .await
    }

    /// Looks at the protected files after the program, unless that was done, and moves aside what it planted. Blocks.
    pub(crate) fn settle(&self) {
        self.watch.iter().for_each(Watch::settle);
    }

    /// Returns notes about the protected files that the program created or changed. The first call asks about those that were moved aside.
    pub(crate) async fn changes(
        self: &Arc<Self>,
        cx: &ToolContext,
    ) -> Result<Vec<String>, ToolError> {
        let prepared = self.clone();
        let settled = tokio::task::spawn_blocking(move || prepared.settle()).await;
        settled.map_err(ToolErrorKind::internal)?;
        Ok(match self.watch.as_ref().and_then(Watch::take) {
            Some(settled) => settled.finish(cx).await,
            None => Vec::new(),
        })
    }
}

/// Returns the launch of a program without walls.
fn launch_bare(confined: &Confined) -> Launch {
    let mut launch = Launch::new(&confined.program).with_args(&confined.args);
    launch.cwd = Some(confined.cwd.clone());
    let env = confined.env.iter();
    env.fold(launch, |launch, (name, value)| launch.with_env(name, value))
}

/// Returns the error of a tool whose program did not start.
pub(crate) fn not_started(error: StartError) -> ToolError {
    match error {
        StartError::NotEntered | StartError::Unsupported => {
            ToolErrorKind::unavailable(error).into()
        }
        error => fail(error),
    }
}

/// Returns the error of a tool.
pub(crate) fn fail(error: impl Display) -> ToolError {
    ToolError::execution_failed(error.to_string())
}

/// Looks at the files as soon as the program has ended, also if nobody waits for it.
pub(crate) fn settle_at_end<C>(prepared: &Arc<Prepared>, running: &Running<C>) {
    let prepared = prepared.clone();
    let ended = running.watch_end();
    tokio::spawn(async move {
        ended.await;
        // The next session looks if this process has no time for it.
        let _ = tokio::task::spawn_blocking(move || prepared.settle()).await;
    });
}
