//! [`Connected`]: a server that a command looks at.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use host::{Argument, Arguments, CommandContext, ValueForm, program};
use tools::SharedCatalog;
use tools_mcp::client::{ImportError, Imported, Report, Servers};
use tools_mcp::trust::Pins;

use crate::error::McpError;
use crate::inventory::{Configured, Inventory};
use crate::server::import;
use crate::standing::remark_ignored;

/// The time in which a server has to be connected and its tools listed, whatever else it sends.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// A server that a command looks at. It ends when this is dropped.
pub(super) struct Connected {
    pub(super) imported: Arc<Imported>,
    pub(super) pins: Arc<Pins>,
    pub(super) report: Arc<Report>,
    pub(super) catalog: SharedCatalog,
    /// The time until its tools were listed.
    pub(super) time: Duration,
    _servers: Servers,
}

impl Connected {
    /// Returns the definitions that cannot be used, without those that wait for approval.
    pub(super) fn list_refused(&self) -> Vec<String> {
        let waiting = self.pins.pending();
        let mut refused: Vec<_> = self.report.refused.iter().collect();
        refused.retain(|refused| {
            let end = format!("/{}", refused.tool);
            !waiting.iter().any(|pending| pending.tool.ends_with(&end))
        });
        refused.iter().map(ToString::to_string).collect()
    }
}

/// The argument that names a server.
pub(super) const SERVER: Argument = Argument::value::<String>(
    ValueForm::Required,
    "name",
    "NAME",
    "The name of the server",
);

/// Reads the files of servers.
pub(super) fn load(cx: &dyn CommandContext) -> Result<Inventory, McpError> {
    Inventory::load(Path::new(&cx.workspace()?))
}

/// Returns the value of the argument that names a server.
pub(super) fn name(arguments: &Arguments) -> Result<String, McpError> {
    Ok(arguments.value("name")?.unwrap_or_default())
}

/// Finds the server that the arguments name. Warns if the project's file cannot be read.
pub(super) fn find(
    arguments: &Arguments,
    cx: &dyn CommandContext,
) -> Result<(Inventory, Configured), McpError> {
    let inventory = load(cx)?;
    inventory.warn();
    let server = inventory.find(&name(arguments)?)?;
    Ok((inventory, server))
}

/// Connects a server that may start, and waits until its tools are listed. The first list is pinned.
pub(super) async fn connect(
    inventory: &Inventory,
    server: &Configured,
    cx: &dyn CommandContext,
) -> Result<Connected, McpError> {
    let settings = cx.settings()?;
    let resolved = inventory.usable(server)?;
    let pins = inventory.pins(server)?;
    let catalog = SharedCatalog::new();
    let servers = Servers::new(catalog.clone());
    let start = Instant::now();
    let imported = servers.import(import(
        inventory,
        server,
        resolved,
        pins.clone(),
        &|| cx.host(&settings),
        &settings,
    )?)?;
    let ready = tokio::time::timeout(TIME_LIMIT, imported.ready()).await;
    let report = ready.map_err(|_| ImportError::Timeout {
        name: imported.name().clone(),
        limit: TIME_LIMIT,
        advice: "see whether it runs".to_owned(),
    })??;
    // The notes of the list have the remarks about the effects.
    let ignored = remark_ignored(server);
    let notes = ignored.iter().chain(&report.notes).chain(&report.cut);
    notes.for_each(|note| program::warn(&format!("MCP server {}: {note}", server.name)));
    Ok(Connected {
        imported,
        pins,
        report,
        catalog,
        time: start.elapsed(),
        _servers: servers,
    })
}
