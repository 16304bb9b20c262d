//! The decisions of the user about servers, in the file of servers.

use std::path::{Path, PathBuf};

use tools::protocol::Access;
use tools::{Clause, Effects, Target, ToolName};
use tools_mcp::config::FileOwner;

use crate::error::McpError;
use crate::inventory::Inventory;

/// Returns the effects that the user declared for tools of servers, without the servers that cannot be used.
pub(crate) fn declared_effects(root: &Path) -> Vec<Effects> {
    let servers = Inventory::load(root)
        .map(|inventory| inventory.servers())
        .unwrap_or_default();
    let configured = servers
        .into_iter()
        .filter_map(|(_, _, configured)| configured.ok());
    configured
        .flat_map(|server| server.settings.effects().cloned().collect::<Vec<_>>())
        .collect()
}

/// Returns the clauses of the calls that the user permits in the file of servers: those of tools that only read, and those of servers whose
/// calls need no question, which are consent to writes too.
pub(crate) fn permitted(root: &Path) -> (Vec<Clause>, Vec<Clause>) {
    let (mut reads, mut allowed) = (Vec::new(), Vec::new());
    let Ok(inventory) = Inventory::load(root) else {
        return (reads, allowed);
    };
    for (.., configured) in inventory.servers() {
        let Ok(server) = configured else { continue };
        allowed.extend(server.settings.allowed(&server.name));
        // The pins are read only if they matter.
        let pins = server
            .settings
            .has_read_only()
            .then(|| inventory.pins(&server).ok())
            .flatten();
        for (name, definition) in pins.iter().flat_map(|pins| pins.known()) {
            let target = name
                .as_str()
                .split_once(':')
                .map(|(scheme, value)| Target::new(Access::Read, scheme, value));
            if let Some(Ok(target)) =
                target.filter(|_| server.settings.only_reads(&server.name, &name, &definition))
            {
                reads.push(target.to_clause());
            }
        }
    }
    (reads, allowed)
}

/// Returns true if the user's file can permit all calls of a tool: it is one of a server, without declared effects.
pub(crate) fn may_permit(tool: &ToolName) -> bool {
    let entry = tools::get(tool.as_str());
    split(tool).is_some() && entry.is_ok_and(|entry| entry.tool().effects.is_undeclared())
}

/// Writes into the user's file that calls of a tool need no question, and returns the path of the file.
///
/// # Errors
/// Returns an error if there is no such server, or if the file cannot be changed.
pub(crate) fn permit(root: &Path, tool: &ToolName) -> Result<PathBuf, McpError> {
    let mut inventory = Inventory::load(root)?;
    let (server, _) = split(tool).ok_or_else(|| McpError::NoServer {
        server: tool.to_string(),
    })?;
    let owner = inventory.find(server)?.owner;
    let workspace = inventory.workspace().to_owned();
    let clause = Target::unbounded(tool).to_clause();
    let pattern = clause
        .pattern()
        .split_once('/')
        .map_or(clause.pattern(), |(_, pattern)| pattern);
    let workspace = (owner == FileOwner::Project).then_some(&*workspace);
    inventory.user.permit(server, workspace, pattern)?;
    inventory.user.write(FileOwner::User)?;
    Ok(inventory.user.path().to_owned())
}

/// Returns the server and the tool in the name of an imported tool.
fn split(tool: &ToolName) -> Option<(&str, &str)> {
    tool.as_str().strip_prefix("mcp:")?.split_once('/')
}
