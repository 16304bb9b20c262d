//! [`Review`]: a host's decisions about the definitions of a server.

use tools::{Digest, Tool, ToolName};

use crate::client::server_tool::ServerTool;

/// A host's decisions about the definitions of a server. A function from a [`Tool`] to the tool to register, or to a reason, is one.
pub trait Review: Send + Sync {
    /// Returns the tool to register for a definition: the imported one, perhaps with other effects, limits or tags. Changes of the name and
    /// of former names have no effect.
    ///
    /// # Errors
    /// Returns the reason why the tool must not be registered.
    fn review(&self, definition: &ServerTool, tool: Tool) -> Result<Tool, String>;

    /// Called after each complete list of the server, when all its definitions were reviewed. `has_resources` tells whether the server
    /// has resources, too. Returns notes for the [report](super::Report).
    fn end_list(&self, has_resources: bool) -> Vec<String> {
        let _ = has_resources;
        Vec::new()
    }

    /// Decides whether a call may run that was made for a definition with this digest. Permits each one by default.
    ///
    /// # Errors
    /// Returns the reason why the call must not run.
    fn check(&self, name: &ToolName, digest: &Digest) -> Result<(), String> {
        let _ = (name, digest);
        Ok(())
    }
}

impl<F: Fn(Tool) -> Result<Tool, String> + Send + Sync> Review for F {
    fn review(&self, _definition: &ServerTool, tool: Tool) -> Result<Tool, String> {
        self(tool)
    }
}
