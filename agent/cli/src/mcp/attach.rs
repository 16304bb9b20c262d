//! [`Attached`]: the servers of a session.

#[cfg(feature = "journal")]
use std::sync::Arc;
use std::time::Duration;

use agent::Selection;
#[cfg(feature = "journal")]
use tools::Task;
#[cfg(feature = "journal")]
use tools::tasks::{Lost, StoredTask};
use tools_mcp::client::{Imported, Servers};
use tools_mcp::config::FileOwner;

use super::server::NESTED;
use super::{Configured, Inventory, Standing, import};
use crate::config::Settings;
use crate::error::Error;
use crate::host::RootOption;
use crate::notice;
use crate::program;
use crate::visible::visible;
use crate::wording::counted;

/// The time that a session waits for servers whose tools are not known yet.
const FIRST_LIST: Duration = Duration::from_secs(15);

/// The servers of a session, whose tools are in the process-wide catalog. They end when this is dropped.
#[derive(Debug)]
pub(crate) struct Attached {
    servers: Option<Servers>,
}

impl Attached {
    /// Finds a task of an earlier process at its server.
    #[cfg(feature = "journal")]
    pub(crate) fn restore(&self, task: &StoredTask) -> Arc<dyn Task> {
        match &self.servers {
            Some(servers) => servers.restore(task),
            None => Arc::new(Lost::unreachable(task, "the session has no MCP servers any more")),
        }
    }
}

/// Offers the tools of the servers that the selection may match. Only a server whose tools are not pinned yet is connected now; others
/// are by their first call. Without a root there are none. A server that cannot be used is reported and affects no other.
pub(crate) async fn attach(root: Option<&RootOption>, settings: &Settings, selection: &Selection) -> Attached {
    let is_nested = std::env::var_os(program::variable(NESTED)).is_some();
    let Some(root) = root.filter(|_| !is_nested) else { return Attached { servers: None } };
    let inventory = match Inventory::load(root) {
        Ok(inventory) => inventory,
        // Without a home, there are no servers.
        Err(Error::NoHome) => return Attached { servers: None },
        Err(error) => {
            notice::warning(&error.to_string());
            return Attached { servers: None };
        }
    };
    let (mut servers, mut connecting) = (None, Vec::new());
    for (name, owner, configured) in inventory.servers() {
        if !selection.may_match(&format!("mcp:{name}/")) {
            continue;
        }
        let attached = configured.map_err(Error::from).and_then(|configured| {
            start(&inventory, &configured, servers.get_or_insert_with(Servers::for_global), root, settings)
        });
        match attached {
            Ok(imported) => connecting.extend(imported),
            Err(error) => warn(&name, owner, &error),
        }
    }
    let waits = connecting.into_iter().map(|imported| tokio::spawn(wait(imported)));
    for wait in waits.collect::<Vec<_>>() {
        // The task does not panic.
        let _ = wait.await;
    }
    Attached { servers }
}

/// Attaches the server of a tool with this name, if its name is that of an imported tool.
pub(crate) async fn attach_for(
    name: &str,
    root: Option<&RootOption>,
    settings: impl FnOnce() -> Result<Settings, Error>,
) -> Result<Attached, Error> {
    let Some((server, _)) = name.strip_prefix("mcp:").and_then(|name| name.split_once('/')) else {
        return Ok(Attached { servers: None });
    };
    // The name of a server has no special characters; another text has no server.
    let selection = Selection::parse([format!("mcp:{server}/*")])?;
    Ok(attach(root, &settings()?, &selection).await)
}

/// Imports a server if its standing allows it. Returns it if its tools are not known yet.
fn start(
    inventory: &Inventory,
    configured: &Configured,
    servers: &Servers,
    root: &RootOption,
    settings: &Settings,
) -> Result<Option<Imported>, Error> {
    if configured.entry.is_disabled {
        return Ok(None);
    }
    let resolved = match inventory.standing(configured) {
        Standing::Ready(resolved) | Standing::Disabled(resolved) => resolved,
        Standing::Unapproved | Standing::Changed(_) => {
            return Err(Error::Unapproved { server: configured.name.to_string() });
        }
        Standing::Unusable(reason) => {
            return Err(Error::Server { server: configured.name.to_string(), reason });
        }
    };
    let pins = inventory.pins(configured)?;
    let import = import(inventory, configured, resolved, pins.clone(), root, settings)?.with_known(pins.known());
    let imported = servers.import(import)?;
    Ok((!pins.is_pinned()).then_some(imported))
}

async fn wait(imported: Imported) {
    let name = imported.name().clone();
    match tokio::time::timeout(FIRST_LIST, imported.ready()).await {
        Ok(Ok(report)) => {
            let count = counted(report.tools.len() as u64, "tool");
            notice::note(&format!("the MCP server {name} is used for the first time: {count} approved with it"));
            report.refused.iter().for_each(|refused| notice::warning(&format!("MCP server {name}: {refused}")));
        }
        Ok(Err(error)) => notice::warning(&error.to_string()),
        Err(_) => {
            notice::warning(&format!("the MCP server {name} has not answered yet; the session begins without it"))
        }
    }
}

fn warn(name: &str, owner: FileOwner, error: &Error) {
    match (owner, error) {
        (FileOwner::Project, Error::Unapproved { .. }) => notice::note(&error.to_string()),
        _ => notice::warning(&format!("MCP server {}: {error}", visible(name))),
    }
}

/// Returns the lines of `doctor`: each server with its standing.
pub(crate) fn report(root: &RootOption) -> Vec<String> {
    let inventory = match Inventory::load(root) {
        Ok(inventory) => inventory,
        Err(Error::NoHome) => return Vec::new(),
        Err(error) => return vec![format!("MCP servers: {error}")],
    };
    let line = |(name, owner, configured): (String, FileOwner, Result<Configured, _>)| {
        let standing = match configured {
            Ok(configured) => standing(&inventory, &configured),
            Err(error) => format!("unusable: {error}"),
        };
        let whose = if owner == FileOwner::User { "yours" } else { "of the project" };
        format!("MCP server {name} ({whose}): {standing}")
    };
    inventory.servers().into_iter().map(line).collect()
}

/// Returns the standing of a server in words.
pub(crate) fn standing(inventory: &Inventory, server: &Configured) -> String {
    match inventory.standing(server) {
        Standing::Ready(_) => match inventory.pins(server) {
            Ok(pins) if pins.is_pinned() => format!("ready, {} approved", counted(pins.known().len() as u64, "tool")),
            Ok(_) => "ready, not used yet".to_owned(),
            Err(error) => format!("unusable: {error}"),
        },
        Standing::Disabled(_) => "disabled".to_owned(),
        Standing::Unapproved => format!("waits for approval; run {} mcp approve {}", program::name(), server.name),
        Standing::Changed(changes) => {
            let facts: Vec<_> = changes.iter().map(|change| change.fact.as_str()).collect();
            let facts = facts.join(", ");
            format!("has changed since it was approved ({facts}); run {} mcp approve {}", program::name(), server.name)
        }
        Standing::Unusable(reason) => format!("unusable: {reason}"),
    }
}
