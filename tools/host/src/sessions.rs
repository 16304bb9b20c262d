//! [`Sessions`]: the sessions that a command of a family runs, in which nobody is asked.

use std::any::Any;
use std::fmt::Debug;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;
use tools::call::CallPlace;
use tools::protocol::Message;
use tools::{CancellationToken, Content, Host, Json, Target, ToolCall, ToolContext};

use crate::extension::CommandError;
use crate::retention::Retention;
use crate::settings::Settings;
use crate::ungranted::Ungranted;

/// A future of [`Sessions`].
pub type SessionFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, CommandError>> + Send + 'a>>;

/// The sessions of a command with [`Argument::Sessions`](crate::Argument::Sessions), in which nobody is asked. With
/// [`Argument::Output`](crate::Argument::Output), the program shows their progress and their answers.
pub trait Sessions: Send + Sync {
    /// Returns today's settings of sessions, or of one with this scope.
    fn settings(&self, scope: Option<Arc<dyn SessionScope>>) -> SessionFuture<'_, Settings>;

    /// Returns true if the settings name a provider. Without one, prompts are read as calls.
    fn has_provider(&self, settings: &Settings) -> bool;

    /// Checks the provider, its model and the limits before a session is opened. Notes the choice once.
    ///
    /// # Errors
    /// Returns the error that opening a session would return.
    fn check_model(&self, settings: &Settings) -> Result<(), CommandError>;

    /// Returns the limits of the recorded sessions. Returns `None` if sessions are not recorded.
    fn retention(&self, settings: &Settings) -> Option<Retention>;

    /// Offers the tools of servers, and exports spans, for all sessions that [share](SessionScope::is_shared) them, until the value is
    /// dropped.
    fn share<'a>(
        &'a self,
        settings: &'a Settings,
        cancellation: &'a CancellationToken,
    ) -> SessionFuture<'a, Box<dyn Any + Send>>;

    /// Returns the recorded sessions of a workspace, or of all, the newest first. Sessions without a prompt and those of jobs are left out.
    fn list(&self, workspace: Option<String>) -> SessionFuture<'_, Vec<RecordedSession>>;

    /// Returns the recorded session with this whole ID. Returns `None` if there is none that could go on.
    fn find(&self, id: String) -> SessionFuture<'_, Option<RecordedSession>>;

    /// Opens a session, which goes on if its journal has it already. Cancelling the token ends its calls.
    fn open(
        &self,
        scope: Arc<dyn SessionScope>,
        cancellation: CancellationToken,
    ) -> SessionFuture<'_, Box<dyn CommandSession>>;
}

/// The limits and the marks of a session that a command runs.
pub trait SessionScope: Debug + Send + Sync {
    /// Returns the settings of the session.
    ///
    /// # Errors
    /// Returns an error if the session cannot run with these settings, such as without a provider.
    fn settings(&self, settings: Settings, has_provider: bool) -> Result<Settings, CommandError>;

    /// Returns the context of the session.
    fn enter(&self, host: Host) -> Host;

    /// Returns the hint about refused targets: the next step of the person who runs the program.
    fn how_to_grant(&self, refused: &Ungranted<'_>) -> String;

    /// Returns true if the session may have a tool of this name.
    fn has_tool(&self, _name: &str) -> bool {
        true
    }

    /// Returns true if the work of the session is a call, so that it needs no model.
    fn is_call(&self) -> bool {
        false
    }

    /// Returns the id of the job that the session runs.
    fn job(&self) -> Option<i64> {
        None
    }

    /// Returns the journal and the name of the session in it. The journal has the session already, or begins with it. Returns `None` if the
    /// session is new, and recorded as the settings say.
    fn journal(&self) -> Option<(PathBuf, String)> {
        None
    }

    /// Returns the root of the session. Returns `None` if it is that of the command.
    fn root(&self) -> Option<PathBuf> {
        None
    }

    /// Returns the ID of the recorded session that goes on. Returns `None` for a new one, and if it has a [journal](Self::journal) of its
    /// own.
    fn recorded(&self) -> Option<String> {
        None
    }

    /// Returns the MCP servers that an editor passes, as the object `mcpServers` of a file of servers. They are approved as those of a
    /// project. Returns `None` if the session has none but those of files.
    fn servers(&self) -> Option<Value> {
        None
    }

    /// Returns true if a person answers the questions of the session, as at a terminal.
    fn is_attended(&self) -> bool {
        false
    }

    /// Returns true if the session uses the tools of servers that the command [shares](Sessions::share).
    fn is_shared(&self) -> bool {
        false
    }
}

/// An open session of a command.
pub trait CommandSession: Send + Sync {
    /// Returns the context of its calls.
    fn context(&self) -> &ToolContext;

    /// Returns the number of messages of the conversation, without the system text.
    fn length(&self) -> usize;

    /// Returns the conversation, without the system text. If a run of an earlier process is unfinished, its conversation counts.
    fn messages(&self) -> Vec<Message>;

    /// Returns the arguments of a call with secrets masked, and its targets.
    fn shown_call(&self, call: &ToolCall) -> (Json, Vec<Target>);

    /// Returns the reasons why the session has not all MCP servers, each as a sentence with the next step.
    fn left_out(&self) -> Vec<String>;

    /// Returns the place behind the last turn, which names a call there in the journal.
    fn next_place(&self) -> CallPlace;

    /// Returns the run of an earlier process, which is [resumed](Self::resume) or [given up](Self::give_up) before another one begins.
    fn earlier_run(&self) -> Option<UnfinishedRun>;

    /// Returns false if nothing of the session is recorded. Its id is then free.
    fn is_stored(&self) -> Pin<Box<dyn Future<Output = bool> + Send + '_>>;

    /// Runs a prompt or a call to its end, also if the output fails.
    fn run(&mut self, input: SessionInput) -> SessionFuture<'_, SessionEnd>;

    /// Finishes the run of an earlier process. If it fails, the conversation goes on behind its prompt.
    fn resume(&mut self) -> SessionFuture<'_, SessionEnd>;

    /// Goes on behind the prompt of the run of an earlier process. None of its open calls runs.
    fn give_up(&mut self) -> SessionFuture<'_, ()>;
}

/// The input of a run.
#[derive(Clone, Debug)]
pub enum SessionInput {
    /// A prompt.
    Prompt(String),
    /// The content of a prompt.
    Content(Vec<Content>),
    /// Compacts the conversation. The model is asked for a summary of older messages.
    Compact,
    /// A call, for the session of a [scope](SessionScope::is_call) that has no model.
    Call(ToolCall),
}

/// A recorded session.
#[derive(Clone, Debug)]
pub struct RecordedSession {
    /// The ID.
    pub id: String,
    /// The path of its workspace.
    pub workspace: String,
    /// The first prompt.
    pub title: String,
    /// The time of the last change, as in RFC 3339.
    pub changed: String,
}

/// The run of an earlier process.
#[derive(Clone, Copy, Debug)]
pub struct UnfinishedRun {
    /// The number of messages of its conversation, without the system text.
    pub length: usize,
    /// True if it has its answer.
    pub is_answered: bool,
}

/// The end of a run.
#[derive(Debug)]
pub struct SessionEnd {
    /// The text of the answer, or the reason that there is none.
    pub answer: Result<String, CommandError>,
    /// The error of the first failed call, if there is no model that could react to it.
    pub failure: Option<String>,
    /// The hints about refused calls.
    pub hints: Vec<String>,
    /// The protected files that programs created or changed, each as a sentence.
    pub protected: Vec<String>,
    /// The first error of the output.
    pub output: Result<(), CommandError>,
}

impl SessionEnd {
    /// Creates the end of a run without calls that fails with this error.
    pub fn failed(error: CommandError) -> Self {
        Self {
            answer: Err(error),
            failure: None,
            hints: Vec::new(),
            protected: Vec::new(),
            output: Ok(()),
        }
    }
}
