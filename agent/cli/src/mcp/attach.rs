//! [`Attached`]: the servers of a session.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use agent::Selection;
use tokio::task::JoinSet;
use tools::ToolContext;
use tools_mcp::client::{Imported, Sampling, Servers};
use tools_mcp::config::{ConfigError, FileOwner};
use tools_mcp::trust::Pins;

use super::sampler::SessionSampler;
use super::server::NESTED;
use super::{Configured, Inventory, ServerReport, Standing, import};
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
    /// The task that follows approvals. It ends with the session.
    _following: JoinSet<()>,
}

/// The servers of a session, and the reasons for which it has them.
pub(super) struct Members {
    pub(super) servers: Servers,
    /// The pins of each server, by its name.
    pub(super) pins: BTreeMap<String, Arc<Pins>>,
    root: RootOption,
    settings: Settings,
    selection: Selection,
}

impl Attached {
    fn none() -> Self {
        Self { servers: None, _following: JoinSet::new() }
    }

    /// Returns the servers, sorted by name.
    pub(super) fn list(&self) -> Vec<Imported> {
        self.servers.iter().flat_map(Servers::list).collect()
    }
}

/// Offers the tools of the servers that the selection may match. Only a server whose tools are not pinned yet is connected now; others
/// are by their first call. Without a root there are none. A server that cannot be used is reported and affects no other.
///
/// Approvals of other processes take effect until the servers are dropped.
pub(crate) async fn attach(root: Option<&RootOption>, settings: &Settings, selection: &Selection) -> Attached {
    let is_nested = std::env::var_os(program::variable(NESTED)).is_some();
    let Some(root) = root.filter(|_| !is_nested) else { return Attached::none() };
    let inventory = match Inventory::load(root) {
        Ok(inventory) => inventory,
        // Without a home, there are no servers.
        Err(Error::NoHome) => return Attached::none(),
        Err(error) => {
            notice::warning(&error.to_string());
            return Attached::none();
        }
    };
    let (root, settings, selection) = (root.clone(), settings.clone(), selection.clone());
    let servers = Servers::for_global();
    let mut members = Members { servers: servers.clone(), pins: BTreeMap::new(), root, settings, selection };
    let configured = members.matching(&inventory);
    if configured.is_empty() {
        return Attached::none();
    }
    let seen = members.stamp(&inventory);
    let mut connecting = Vec::new();
    for (name, owner, configured) in configured {
        match configured.map_err(Error::from).and_then(|configured| members.start(&inventory, &configured)) {
            Ok(imported) => connecting.extend(imported),
            Err(error) => warn(&name, owner, &error),
        }
    }
    let waits = connecting.into_iter().map(|imported| tokio::spawn(wait(imported)));
    for wait in waits.collect::<Vec<_>>() {
        // The task does not panic.
        let _ = wait.await;
    }
    let mut following = JoinSet::new();
    following.spawn(members.follow(inventory, seen));
    Attached { servers: Some(servers), _following: following }
}

/// Attaches the server of a tool with this name, if its name is that of an imported tool.
pub(crate) async fn attach_for(
    name: &str,
    root: Option<&RootOption>,
    settings: impl FnOnce() -> Result<Settings, Error>,
) -> Result<Attached, Error> {
    let Some((server, _)) = name.strip_prefix("mcp:").and_then(|name| name.split_once('/')) else {
        return Ok(Attached::none());
    };
    // The name of a server has no special characters; another text has no server.
    let selection = Selection::parse([format!("mcp:{server}/*")])?;
    Ok(attach(root, &settings()?, &selection).await)
}

impl Members {
    /// Returns the servers whose tools the selection may match.
    pub(super) fn matching(&self, inventory: &Inventory) -> Vec<(String, FileOwner, Result<Configured, ConfigError>)> {
        let mut servers = inventory.servers();
        servers.retain(|(name, ..)| self.selection.may_match(&format!("mcp:{name}/")));
        servers
    }

    /// Imports a server if its standing allows it. Returns it if its tools are not known yet.
    pub(super) fn start(&mut self, inventory: &Inventory, configured: &Configured) -> Result<Option<Imported>, Error> {
        if configured.entry.is_disabled {
            return Ok(None);
        }
        let resolved = inventory.usable(configured)?;
        let pins = inventory.pins(configured)?;
        let import = import(inventory, configured, resolved, pins.clone(), &self.root, &self.settings)?;
        let imported = self.servers.import(import.with_known(pins.known()))?;
        self.pins.insert(configured.name.to_string(), pins.clone());
        Ok((!pins.is_pinned()).then_some(imported))
    }

    pub(super) fn root(&self) -> &RootOption {
        &self.root
    }
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

/// Returns the context of a session with a model, which servers may ask for messages if the user permits it.
pub(crate) fn with_sampling(cx: ToolContext) -> ToolContext {
    cx.with_service(Sampling::new(SessionSampler))
}

/// Returns each server with its standing, for `doctor`.
///
/// # Errors
/// Returns an error if a file of servers cannot be read.
pub(crate) fn report(root: &RootOption) -> Result<Vec<ServerReport>, Error> {
    let inventory = match Inventory::load(root) {
        Ok(inventory) => inventory,
        Err(Error::NoHome) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let report = |(server, owner, configured): (String, FileOwner, Result<Configured, _>)| {
        let standing = match configured {
            Ok(configured) => standing(&inventory, &configured),
            Err(error) => format!("unusable: {error}"),
        };
        ServerReport { server, file: if owner == FileOwner::User { "user" } else { "project" }, standing }
    };
    Ok(inventory.servers().into_iter().map(report).collect())
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
