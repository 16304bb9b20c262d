//! [`ClientCalls`]: the calls of the clients that a command serves.

use std::any::Any;
use std::path::PathBuf;

use tools::protocol::Json;
use tools::{CancellationToken, Clause, Entry, Host, ToolError};

/// The calls of the clients of a command with [`Argument::ClientCalls`](crate::Argument::ClientCalls). The program asks nobody about them.
pub struct ClientCalls {
    /// The context of all calls.
    pub context: Host,
    /// The globs of the tools that the clients have.
    pub select: Vec<String>,
    /// Returns the next step after an error of a call.
    pub advice: Box<Advice>,
    /// The tools of servers, and the export of spans. Dropping it ends them.
    pub attached: Box<dyn Any>,
}

/// Returns the next step after an error of a call with these arguments.
pub type Advice = dyn Fn(&Entry, &Json, &ToolError) -> Option<String> + Send + Sync;

/// The request for the calls of clients.
#[derive(Debug)]
pub struct ClientCallsRequest<'a> {
    /// Files of the command that no tool may read.
    pub hidden: Vec<PathBuf>,
    /// The clauses that calls are granted by default.
    pub grants: Vec<Clause>,
    /// Words the advice to start the command with these words of a command line, each as JSON.
    pub how_to_permit: fn(words: &str) -> String,
    /// Ends the wait for servers.
    pub cancellation: &'a CancellationToken,
}

tools::debug_fields!(self: ClientCalls { select });
