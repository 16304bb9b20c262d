//! [`RemoteTools`]: tools of servers that the user has configured.

use std::fmt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;
use tools::tasks::{Lost, StoredTask};
use tools::{CancellationToken, Clause, Effects, Host, SharedCatalog, Task, ToolContext, ToolName};

use crate::exit::Exit;
use crate::extension::CommandError;
use crate::settings::Settings;

/// A future of [`RemoteTools`].
pub type RemoteFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Tools of servers that the user has configured. The default methods are those of a program without servers. Its methods take the root
/// of the session.
pub trait RemoteTools: Sync {
    /// Returns the clauses of the calls that the user permits beside the servers: of tools that only read, and of those whose calls need no
    /// question.
    fn clauses(&self, _root: &Path) -> (Vec<Clause>, Vec<Clause>) {
        Default::default()
    }

    /// Returns the files of servers that a session may start. They run without a question, so replacing one needs approval.
    fn control_files(&self, _root: &Path) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Returns the effects that the user declared for tools of servers.
    fn declared_effects(&self, _root: &Path) -> Vec<Effects> {
        Vec::new()
    }

    /// Returns true if [`permit`](Self::permit) can permit all calls of a tool.
    fn may_permit(&self, _tool: &ToolName) -> bool {
        false
    }

    /// Writes that calls of a tool need no question, and returns the path of the file.
    ///
    /// # Errors
    /// Returns an error if there is no such server, or if the file cannot be changed.
    fn permit(&self, _root: &Path, _tool: &ToolName) -> Result<PathBuf, CommandError> {
        Err(no_servers())
    }

    /// Returns the glob of the tools that come with this one, if it is one of a server.
    fn glob_for(&self, _tool: &str) -> Option<String> {
        None
    }

    /// Offers the tools of the servers of a root that the selection may match. A server that cannot be used is reported and affects no
    /// other.
    fn attach<'a>(
        &'a self,
        _root: &'a Path,
        _request: AttachRequest<'a>,
    ) -> RemoteFuture<'a, Box<dyn AttachedTools>> {
        Box::pin(async { Box::new(NoServers) as Box<dyn AttachedTools> })
    }
}

/// The tools of servers that a session has. They end when this is dropped. The default methods are those of a session without servers.
pub trait AttachedTools: fmt::Debug + Send + Sync {
    /// Returns the note about a tool that waits for approval. Returns `None` for other tools.
    fn waiting(&self, _tool: &str) -> Option<String> {
        None
    }

    /// Returns the reasons why the session has not all servers, each as a sentence with the next step.
    fn left_out(&self) -> Vec<String> {
        Vec::new()
    }

    /// Adds the reasons why the session has no tool of a name.
    fn with_reasons(&self, host: Host) -> Host {
        host
    }

    /// Returns the commands of the prompts that servers list, with their descriptions. Servers that were not needed yet are connected
    /// if `connects` is true, and left out otherwise. The second list has the reasons of those that cannot be listed.
    fn prompts(&self, _connects: bool) -> RemoteFuture<'_, (Vec<[String; 2]>, Vec<String>)> {
        Box::pin(async { Default::default() })
    }

    /// Returns the text of a prompt of a server, marked as that server's.
    fn prompt<'a>(
        &'a self,
        _call: &'a PromptCall,
        _cx: &'a ToolContext,
    ) -> RemoteFuture<'a, Result<String, CommandError>> {
        Box::pin(async { Err(no_servers()) })
    }

    /// Finds a task of an earlier process at its server.
    fn restore(&self, task: &StoredTask) -> Arc<dyn Task> {
        Arc::new(Lost::unreachable(task, "the session has no servers"))
    }
}

/// Makes a context over the root of a session.
pub type ContextSource = Arc<dyn Fn() -> Result<Host, CommandError> + Send + Sync>;

/// The request for the tools of a session.
#[derive(Clone)]
pub struct AttachRequest<'a> {
    /// The settings of the session.
    pub settings: &'a Settings,
    /// Makes the context of a program that is no call, such as of a server.
    pub context: ContextSource,
    /// Returns true if the session may select a tool whose name begins so.
    pub may_match: Arc<dyn Fn(&str) -> bool + Send + Sync>,
    /// The catalog of the session's own, which no other session sees. `None` is the process-wide one.
    pub catalog: Option<SharedCatalog>,
    /// The servers that an editor passes, as the object `mcpServers` of a file of servers. They are approved as those of a project. `None` for
    /// other sessions.
    pub given: Option<Value>,
    /// The wait for tools that are not known yet.
    pub first: FirstList,
    /// Ends the wait.
    pub cancellation: &'a CancellationToken,
}

/// Whether a command waits for servers whose tools are not known yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstList {
    /// The command is about their tools.
    Needed,
    /// The tools are offered to a session, which may not use them.
    Offered,
    /// The list may come later.
    Later,
}

/// The servers of a program that has none.
#[derive(Clone, Copy, Debug)]
pub struct NoServers;

impl RemoteTools for NoServers {}

impl AttachedTools for NoServers {}

fn no_servers() -> CommandError {
    let reason =
        "this program was built without servers of tools; rebuild it with its default features";
    CommandError::new(Exit::Usage, reason)
}

/// A prompt of a server that a person chose in a chat.
#[derive(Debug, PartialEq, Eq)]
pub struct PromptCall {
    /// The name of the server.
    pub server: String,
    /// The name of the prompt.
    pub prompt: String,
    /// The arguments, each with its name.
    pub arguments: Vec<(String, String)>,
}

impl PromptCall {
    /// Parses the words of a command such as `/server:prompt name=value`. Returns `None` if it has another form.
    ///
    /// # Errors
    /// Returns the reason if a word is not an argument.
    pub fn parse(words: &[String]) -> Result<Option<Self>, String> {
        let Some((command, words)) = words.split_first() else {
            return Ok(None);
        };
        let Some((server, prompt)) = command
            .strip_prefix('/')
            .and_then(|name| name.split_once(':'))
        else {
            return Ok(None);
        };
        let arguments = words.iter().map(|word| match word.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
            _ => Err(format!(
                "{word:?} is not an argument of a prompt; write NAME=VALUE"
            )),
        });
        Ok(Some(Self {
            server: server.to_owned(),
            prompt: prompt.to_owned(),
            arguments: arguments.collect::<Result<_, _>>()?,
        }))
    }
}
