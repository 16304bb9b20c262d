//! [`StdioServer`]: a server that is a child process.

mod alive;
mod error;
mod lines;
mod log;
mod messages;
mod pipe;
mod spread;

use std::any::Any;
use std::ffi::OsString;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncWrite};
use tools::{IgnorePoison as _, ToolError};
use tools_exec::supervise::{Launch, start};

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

/// A server that is a child process and speaks over its standard streams.
///
/// - The process ends with all its descendants when the connection ends and when this process dies. The first line of `main` must be
///   `tools_exec::enter()`.
/// - Lines that are no messages go to the log, and so does its standard error, both with the target `tools_mcp::server`.
///
/// ```
/// use tools_mcp::client::{StdioServer, server_command};
///
/// let server = StdioServer::new("time", server_command("uvx").with_args(["mcp-server-time"]));
/// # let _ = server;
/// ```
#[derive(Clone)]
pub struct StdioServer {
    name: Arc<str>,
    launcher: Arc<Launcher>,
    /// The remarks of the latest start.
    latest: Arc<Mutex<Option<Arc<Remarks>>>>,
}

impl From<Launch> for Launched {
    fn from(launch: Launch) -> Self {
        Self {
            launch,
            kept: Arc::new(()),
            remarks: None,
        }
    }
}

// Shows the program alone.
tools::debug_fields!(self: Launched { launch });

impl StdioServer {
    /// Creates a server from a command, such as a [`server_command`]. The log shows the name.
    pub fn new(name: &str, launch: Launch) -> Self {
        Self::from_launcher(name, move || std::future::ready(Ok(launch.clone().into())))
    }

    /// Creates a server whose command is made anew for each connection, such as one with walls around it, or one that is checked
    /// before each start. The function may block for a short time.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use tools::ToolContext;
    /// use tools_mcp::client::{Launched, StdioServer};
    ///
    /// // The context has a grant, and the services `Sandbox` and `Workspace`. The crate exec has the feature `tools`.
    /// # #[expect(dead_code)]
    /// fn confine(cx: ToolContext) -> StdioServer {
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
        Self {
            name: name.into(),
            launcher: Arc::new(move || Box::pin(launcher())),
            latest: Arc::default(),
        }
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
        } = (self.launcher)().await?;
        *self.latest.lock().ignore_poison() = remarks.clone();
        let (sink, source) = pipe();
        let log = Log::new(self.name.clone(), "stderr");
        let running = start(&launch, Output::Messages(sink), Output::Log(log)).await?;
        let stdin = running.take_stdin().ok_or(StdioError::Lost)?;
        // The walls last until the process is gone, also if the connection is dropped before.
        let ended = running.watch_end();
        let of_process = kept.clone();
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
}

// Shows the name alone.
tools::debug_fields!(self: StdioServer { name });

/// The variables of this process that a server gets. The others may hold secrets.
const PASSED: &str = "HOME LANG LANGUAGE LC_ALL LC_CTYPE LC_MESSAGES LOGNAME PATH SHELL TEMP TERM TMP TMPDIR TZ \
    USER";

/// Returns a command with those variables of this process that programs need to find files and speak the user's language. Variables
/// that are added to it may replace them.
pub fn server_command(program: impl Into<OsString>) -> Launch {
    let passed = filter_passed(std::env::vars_os());
    passed.fold(Launch::new(program), |launch, (name, value)| {
        launch.with_env(name, value)
    })
}

fn filter_passed(
    host: impl Iterator<Item = (OsString, OsString)>,
) -> impl Iterator<Item = (OsString, OsString)> {
    host.filter(|(name, value)| {
        // A shell would read such a value as a function.
        let is_function = value.as_encoded_bytes().starts_with(b"()");
        !is_function && PASSED.split(' ').any(|passed| name == passed)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_the_variables_of_the_list() {
        let host = [
            ("PATH", "/bin"),
            ("HOME", "/home/ada"),
            ("SHELL", "() { :; }"),
            ("LD_PRELOAD", "/x"),
            ("API_KEY", "key"),
            ("NODE_OPTIONS", "x"),
            ("path", "x"),
            ("http_proxy", "http://u:p@proxy"),
        ];
        let host = host
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()));
        let all: Vec<_> = filter_passed(host).collect();
        assert_eq!(
            all,
            [("PATH", "/bin"), ("HOME", "/home/ada")].map(|(n, v)| (n.into(), v.into()))
        );
    }
}
