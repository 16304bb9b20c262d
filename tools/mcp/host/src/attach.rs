//! [`Attached`]: the servers of a session.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use host::settings::Settings;
use host::{
    AttachRequest, AttachedTools, CommandError, ContextSource, FirstList, PromptCall, RemoteFuture,
    program,
};
use serde_json::Value;
use tokio::task::JoinSet;
use tools::tasks::StoredTask;
use tools::visible::visible;
use tools::{
    AbsentTools, Host, IgnorePoison as _, SharedCatalog, Task, ToolContext, ToolName, counted,
};
use tools_mcp::client::{Imported, Servers};
use tools_mcp::config::{ConfigError, FileOwner};
use tools_mcp::trust::{Pending, Pins};

use crate::error::McpError;
use crate::inventory::{Configured, Inventory};
use crate::server::{NESTED, import};

/// The time that a session waits for the first list of servers that it needs.
const LONG_WAIT: Duration = Duration::from_secs(15);

/// The time that it waits for that of others.
const SHORT_WAIT: Duration = Duration::from_secs(2);

/// The tool that reads resources of servers.
pub(super) const READ_RESOURCE: &str = "mcp.resource";

/// A text that begins no name of a tool.
const NO_NAME: &str = "-";

/// The servers of a session, whose tools are in its own catalog or in the process-wide one. They end when this is dropped, with a note for the
/// user about tools that wait for approval.
#[derive(Debug)]
pub(crate) struct Attached {
    pub(super) servers: Servers,
    pub(super) pins: PinsOfServers,
    catalog: Option<SharedCatalog>,
    /// The reasons why the session has not all servers.
    left_out: Vec<String>,
    /// The tasks that wait for first lists and follow approvals. They end with the session.
    following: JoinSet<()>,
}

/// The pins of each server, by its name.
#[derive(Clone, Default)]
pub(super) struct PinsOfServers(Arc<Mutex<BTreeMap<String, Arc<Pins>>>>);

/// The servers of a session, and the reasons for which it has them.
pub(super) struct Members {
    pub(super) servers: Servers,
    pub(super) pins: PinsOfServers,
    pub(super) root: PathBuf,
    /// The servers of the session's editor.
    pub(super) given: Option<Value>,
    settings: Settings,
    context: ContextSource,
    may_match: Arc<dyn Fn(&str) -> bool + Send + Sync>,
    /// The tools that the person was told to approve.
    announced: BTreeSet<ToolName>,
}

/// A server whose tools are not known yet.
pub(super) struct Unlisted {
    imported: Arc<Imported>,
    /// The file whose presence tells that the server was too slow for an earlier session.
    slow: PathBuf,
}

impl PinsOfServers {
    pub(super) fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Pins>>> {
        self.0.lock().ignore_poison()
    }

    /// Tells the person about tools that wait for approval and that the function takes.
    fn announce(&self, mut is_news: impl FnMut(&ToolName) -> bool) {
        for (name, pins) in &*self.lock() {
            let mut pending = pins.news();
            pending.retain(|pending| is_news(&pending.tool));
            if !pending.is_empty() {
                program::warn(&waiting(name, &pending));
            }
        }
    }
}

impl std::fmt::Debug for PinsOfServers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.lock().keys()).finish()
    }
}

impl AttachedTools for Attached {
    fn waiting(&self, tool: &str) -> Option<String> {
        let pins = self.pins.lock();
        pins.iter()
            .find_map(|(server, pins)| wait_of(tool, server, pins))
    }

    fn left_out(&self) -> Vec<String> {
        self.left_out.clone()
    }

    fn with_reasons(&self, host: Host) -> Host {
        let servers = self.servers.clone();
        let (pins, catalog) = (self.pins.clone(), self.catalog.clone());
        host.with_service(AbsentTools::new(move |name| {
            absence_reason(
                servers.clone(),
                pins.clone(),
                catalog.clone(),
                name.to_owned(),
            )
        }))
    }

    fn prompts(&self, connects: bool) -> RemoteFuture<'_, (Vec<[String; 2]>, Vec<String>)> {
        Box::pin(self.list_prompts(connects))
    }

    fn prompt<'a>(
        &'a self,
        call: &'a PromptCall,
        cx: &'a ToolContext,
    ) -> RemoteFuture<'a, Result<String, CommandError>> {
        Box::pin(async { self.read_prompt(call, cx).await.map_err(CommandError::from) })
    }

    fn restore(&self, task: &StoredTask) -> Arc<dyn Task> {
        self.servers.restore(task)
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        self.pins.announce(|_| true);
    }
}

/// Returns the reason why a session has no tool of a name that begins as those of its servers: it waits for approval, or for the next prompt.
async fn absence_reason(
    servers: Servers,
    pins: PinsOfServers,
    catalog: Option<SharedCatalog>,
    name: String,
) -> Option<String> {
    let (server, _) = name.strip_prefix("mcp:")?.split_once('/')?;
    // A server may tell of a tool before its list has it.
    servers.get(server)?.list_again().await;
    let pins = pins.lock().get(server)?.clone();
    if let Some(reason) = wait_of(&name, server, &pins) {
        return Some(reason);
    }
    let is_pinned = pins.known_tools().iter().any(|(known, _)| *known == *name);
    let is_registered = match catalog {
        Some(catalog) => catalog.contains(&name),
        None => tools::get(&name).is_ok(),
    };
    (is_pinned && is_registered).then(|| {
        format!(
            "the session's tools do not include {name}; if it was just approved, it is offered with the next prompt"
        )
    })
}

/// Returns the note about a tool that waits for approval or cannot be used. Returns `None` for other tools.
fn wait_of(tool: &str, server: &str, pins: &Pins) -> Option<String> {
    let mut pending = pins.pending();
    pending.retain(|pending| pending.tool == tool);
    if !pending.is_empty() {
        return Some(waiting(server, &pending));
    }
    let mut unusable = pins.unusable().into_iter();
    let (_, refused) = unusable.find(|(unusable, _)| *unusable == tool)?;
    Some(format!("{refused}; do without it, and tell the user"))
}

/// Returns the note about tools that wait for approval.
fn waiting(server: &str, tools: &[Pending]) -> String {
    let tools: Vec<_> = tools.iter().map(|pending| pending.tool.as_str()).collect();
    let program = program::name();
    let tools = tools.join(", ");
    format!(
        "new or changed tools of the MCP server {server} wait for approval: {tools}; see them with {program} mcp approve {server}"
    )
}

/// Offers the tools of the servers that the selection may match. Only a server whose tools are not pinned yet is connected now; others
/// are by their first call. A server that cannot be used is reported and affects no other. A wait for
/// first lists ends if the token is cancelled.
///
/// Approvals of other processes take effect until the servers are dropped.
pub(super) async fn attach(root: &Path, request: AttachRequest<'_>) -> Attached {
    let mut attached = Attached {
        servers: match &request.catalog {
            Some(catalog) => Servers::new(catalog.clone()),
            None => Servers::for_global(),
        },
        pins: PinsOfServers::default(),
        catalog: request.catalog,
        left_out: Vec::new(),
        following: JoinSet::new(),
    };
    // If this program is a server of itself, it has no servers: it could start itself without end.
    if std::env::var_os(program::variable(NESTED)).is_some() {
        return attached;
    }
    let first = request.first;
    let given = request.given;
    let loaded = Inventory::load(root);
    let inventory = match loaded.and_then(|loaded| loaded.with_given(given.as_ref())) {
        Ok(inventory) => inventory,
        // Without a home, there are no servers.
        Err(McpError::NoHome) => return attached,
        Err(error) => {
            program::warn(&error.to_string());
            return attached;
        }
    };
    inventory.warn();
    if let Some(given) = &given
        && let Err(error) = inventory.keep_given(given)
    {
        program::warn(&format!(
            "the servers of the editor cannot be shown by mcp list: {error}"
        ));
    }
    let mut members = Members {
        servers: attached.servers.clone(),
        pins: attached.pins.clone(),
        root: root.to_owned(),
        given,
        settings: request.settings.clone(),
        context: request.context,
        may_match: request.may_match,
        announced: BTreeSet::new(),
    };
    let configured = members.matching(&inventory);
    if configured.is_empty() {
        return attached;
    }
    let seen = members.stamp(&inventory);
    let mut waiting = JoinSet::new();
    let is_needed = first == FirstList::Needed || !(members.may_match)(NO_NAME);
    for (name, owner, configured) in configured {
        let configured = configured.map_err(McpError::from);
        match configured.and_then(|configured| members.start(&inventory, &configured)) {
            Ok(None) => {}
            Ok(Some(unlisted)) if first == FirstList::Later => {
                drop(attached.following.spawn(wait(unlisted, None)))
            }
            Ok(Some(unlisted)) if !is_needed && unlisted.slow.exists() => unlisted.warn_slow(),
            Ok(Some(unlisted)) => {
                let limit = if is_needed { LONG_WAIT } else { SHORT_WAIT };
                waiting.spawn(wait(unlisted, Some(limit)));
            }
            Err(error) => {
                warn(&name, owner, &error);
                attached.left_out.push(error.to_string());
            }
        }
    }
    let ready = waiting.join_all();
    request.cancellation.run_until_cancelled(ready).await;
    attached.following.spawn(members.follow(inventory, seen));
    attached
}

impl Members {
    /// Returns the servers whose tools the selection may match.
    pub(super) fn matching(
        &self,
        inventory: &Inventory,
    ) -> Vec<(String, FileOwner, Result<Configured, ConfigError>)> {
        let mut servers = inventory.servers();
        let has_resources = (self.may_match)(READ_RESOURCE);
        servers.retain(|(name, ..)| has_resources || (self.may_match)(&format!("mcp:{name}/")));
        servers
    }

    /// Imports a server if its standing allows it. Returns it if its tools are not known yet.
    pub(super) fn start(
        &mut self,
        inventory: &Inventory,
        configured: &Configured,
    ) -> Result<Option<Unlisted>, McpError> {
        if configured.entry.is_disabled {
            return Ok(None);
        }
        let resolved = inventory.usable(configured)?;
        let pins = inventory.pins(configured)?;
        for fault in pins.remarks().into_iter().filter(|remark| remark.is_fault) {
            program::warn(&format!("MCP server {}: {}", configured.name, fault.text));
        }
        let mut import = import(
            inventory,
            configured,
            resolved,
            pins.clone(),
            &*self.context,
            &self.settings,
        )?;
        (import.known, import.has_resources) = (pins.known_tools(), pins.has_resources());
        let imported = self.servers.import(import)?;
        let name = configured.name.to_string();
        self.pins.lock().insert(name, pins.clone());
        let slow = pins.path.with_extension("slow");
        Ok((!pins.is_pinned()).then_some(Unlisted { imported, slow }))
    }

    /// Tells the person about tools that wait for approval since the last time.
    pub(super) fn announce(&mut self) {
        self.pins
            .announce(|tool| self.announced.insert(tool.clone()));
    }
}

impl Unlisted {
    fn warn_slow(&self) {
        let (name, program) = (self.imported.name(), program::name());
        program::warn(&format!(
            "the MCP server {name} has not listed its tools yet; the session begins without it; to wait for it, run {program} mcp test {name}"
        ));
    }
}

/// Waits for the first list of a server, and reports it.
async fn wait(unlisted: Unlisted, limit: Option<Duration>) {
    let Unlisted { imported, slow } = &unlisted;
    let name = imported.name();
    match tokio::time::timeout(limit.unwrap_or(Duration::MAX), imported.ready()).await {
        Ok(Ok(report)) => {
            let count = counted(report.tools.len() as u64, "tool");
            program::note(&format!(
                "the MCP server {name} is used for the first time: {count} approved with it"
            ));
            let refused = report.refused.iter().map(ToString::to_string);
            for text in refused.chain(report.notes.iter().cloned()) {
                program::warn(&format!("MCP server {name}: {text}"));
            }
        }
        Ok(Err(error)) => program::warn(&error.to_string()),
        Err(_) => {
            // The next session waits in vain if the file cannot be written.
            let _ = slow.parent().map(std::fs::create_dir_all);
            let _ = std::fs::write(slow, "");
            unlisted.warn_slow();
        }
    }
}

fn warn(name: &str, owner: FileOwner, error: &McpError) {
    match (owner, error) {
        (FileOwner::Project, McpError::Unapproved(_)) => program::note(&error.to_string()),
        _ => program::warn(&format!("MCP server {}: {error}", visible(name))),
    }
}
