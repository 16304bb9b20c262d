//! [`StdioServer`]: a server that is a child process.

mod alive;
mod environment;
mod error;
mod lines;
mod log;
mod messages;
mod pipe;
mod spread;

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncWrite};
use tools::IgnorePoison as _;
use tools::{Secret, ToolError};
use tools_exec::supervise::{Launch, start};

use crate::client::stdio::environment::environment;
use crate::client::stdio::log::Log;
use crate::client::stdio::messages::Messages;
use crate::client::stdio::pipe::{Output, pipe};

pub use self::alive::{Alive, Remarks};
pub use self::error::StdioError;

/// The stream of messages from a server.
pub type BoxedRead = Box<dyn AsyncRead + Send + Unpin>;

/// The stream of messages to a server. A drop closes its standard input.
pub type BoxedWrite = Box<dyn AsyncWrite + Send + Unpin>;

/// A command that is ready to start.
pub struct Launched {
    /// The command.
    pub launch: Launch,
    /// Dropped after the process has ended, such as `tools_exec::Prepared`.
    pub kept: Arc<dyn Any + Send + Sync>,
    /// Says why the process may fail, such as requests that its walls have refused. Errors of the server show it. The function outlives
    /// the process, so it holds what is kept by a [`Weak`](std::sync::Weak) alone.
    pub remarks: Option<Arc<Remarks>>,
}

type Launcher =
    dyn Fn() -> Pin<Box<dyn Future<Output = Result<Launched, ToolError>> + Send>> + Send + Sync;

type Check = dyn Fn() -> Result<(), ToolError> + Send + Sync;

/// A server that is a child process and speaks over its standard streams.
///
/// - The process ends with all its descendants when the connection ends and when this process dies. The first line of `main` must be
///   `tools_exec::enter()`.
/// - Of this process's environment, it has the variables that programs need to find files and speak the user's language.
/// - Lines that are no messages go to the log, and so does its standard error, both with the target `tools_mcp::server`.
///
/// ```
/// use tools_mcp::client::StdioServer;
///
/// let server = StdioServer::new("uvx").with_args(["mcp-server-time"]).with_name("time");
/// # let _ = server;
/// ```
#[derive(Clone)]
pub struct StdioServer {
    name: Arc<str>,
    origin: Origin,
    check: Option<Arc<Check>>,
    /// The remarks of the latest start.
    latest: Arc<Mutex<Option<Arc<Remarks>>>>,
}

/// Where the command comes from.
#[derive(Clone)]
enum Origin {
    Command {
        command: String,
        args: Vec<String>,
        env: Vec<(String, Secret)>,
        cwd: Option<PathBuf>,
    },
    Launcher(Arc<Launcher>),
}

/// Shows the program alone.
impl fmt::Debug for Launched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Launched")
            .field("launch", &self.launch)
            .finish_non_exhaustive()
    }
}

impl StdioServer {
    /// Creates a server from a program. A name without `/` is looked up in `PATH`.
    pub fn new(command: &str) -> Self {
        let origin = Origin::Command {
            command: command.to_owned(),
            args: Vec::new(),
            env: Vec::new(),
            cwd: None,
        };
        Self {
            name: command.into(),
            origin,
            check: None,
            latest: Arc::default(),
        }
    }

    /// Creates a server whose command is made anew for each connection, such as one with walls around it. Other settings have no effect
    /// on it.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use tools::ToolContext;
    /// use tools_mcp::client::{Launched, StdioServer};
    ///
    /// // The context has a grant, and the services `Sandbox` and `Workspace`. The crate exec has the feature `tools`.
    /// # #[expect(dead_code)]
    /// fn confined(cx: ToolContext) -> StdioServer {
    ///     StdioServer::from_launcher("files", move || {
    ///         let cx = cx.clone();
    ///         async move {
    ///             let prepared = Arc::new(tools_exec::Prepared::new(&cx, "file-server", &[], &[], ".").await?);
    ///             let walls = Arc::downgrade(&prepared);
    ///             let remarks = move || walls.upgrade().map(|walls| walls.remarks()).unwrap_or_default();
    ///             Ok(Launched { launch: prepared.launch().clone(), kept: prepared, remarks: Some(Arc::new(remarks)) })
    ///         }
    ///     })
    /// }
    /// ```
    pub fn from_launcher<F>(name: &str, launcher: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Launched, ToolError>> + Send + 'static,
    {
        let origin = Origin::Launcher(Arc::new(move || Box::pin(launcher())));
        Self {
            name: name.into(),
            origin,
            check: None,
            latest: Arc::default(),
        }
    }

    /// Sets the name that the log shows, which is otherwise the command.
    #[must_use]
    pub fn with_name(mut self, name: &str) -> Self {
        self.name = name.into();
        self
    }

    /// Appends arguments.
    #[must_use]
    pub fn with_args(mut self, more: impl IntoIterator<Item = impl Into<String>>) -> Self {
        if let Origin::Command { args, .. } = &mut self.origin {
            args.extend(more.into_iter().map(Into::into));
        }
        self
    }

    /// Sets a variable of the environment.
    #[must_use]
    pub fn with_env(mut self, name: &str, value: &str) -> Self {
        if let Origin::Command { env, .. } = &mut self.origin {
            env.push((name.to_owned(), Secret::new(value)));
        }
        self
    }

    /// Sets the working directory, which is otherwise that of this process.
    #[must_use]
    pub fn with_cwd(mut self, path: impl Into<PathBuf>) -> Self {
        if let Origin::Command { cwd, .. } = &mut self.origin {
            *cwd = Some(path.into());
        }
        self
    }

    /// Sets a check that is made before each start. Its error takes the place of the start. It may block for a short time.
    #[must_use]
    pub fn with_check(
        mut self,
        check: impl Fn() -> Result<(), ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.check = Some(Arc::new(check));
        self
    }

    /// Starts the process. Must be called in a Tokio runtime with I/O. Its messages are lines of JSON-RPC of at most 16 MiB; a longer one
    /// ends the connection. While they are not read, the process waits.
    ///
    /// # Errors
    /// Returns an error if the command cannot be made or started.
    pub async fn connect(&self) -> Result<(BoxedRead, BoxedWrite, Alive), StdioError> {
        let Launched {
            launch,
            kept,
            remarks,
        } = self.make_launch().await?;
        *self.latest.lock().ignore_poison() = remarks.clone();
        let (sink, source) = pipe();
        let log = Log::new(self.name.clone(), "stderr");
        let running = start(&launch, Output::Messages(sink), Output::Log(log)).await?;
        let stdin = running.take_stdin().ok_or(StdioError::Lost)?;
        let (ended, of_process) = (running.ended(), kept.clone());
        tokio::spawn(async move {
            ended.await;
            drop(of_process);
        });
        let alive = Alive {
            running,
            fault: Arc::default(),
            _kept: kept,
            remarks,
            output: Log::new(self.name.clone(), "stdout"),
        };
        let messages = Messages::new(source, alive.output.clone(), alive.fault.clone());
        Ok((Box::new(messages), Box::new(stdin), alive))
    }

    /// Returns the remarks on the latest start.
    pub(in crate::client) fn remarks(&self) -> Vec<String> {
        let latest = self.latest.lock().ignore_poison().clone();
        latest.map(|remarks| remarks()).unwrap_or_default()
    }

    async fn make_launch(&self) -> Result<Launched, StdioError> {
        self.check.as_ref().map_or(Ok(()), |check| check())?;
        let (command, args, more, cwd) = match &self.origin {
            Origin::Launcher(launcher) => return Ok(launcher().await?),
            Origin::Command {
                command,
                args,
                env,
                cwd,
            } => (command, args, env, cwd),
        };
        let mut launch = Launch::new(command).with_args(args);
        for (name, value) in environment(std::env::vars_os(), more) {
            launch = launch.with_env(name, value);
        }
        if let Some(cwd) = cwd {
            launch = launch.with_cwd(cwd);
        }
        Ok(Launched {
            launch,
            kept: Arc::new(()),
            remarks: None,
        })
    }
}

/// Shows the name alone.
impl fmt::Debug for StdioServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StdioServer")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
