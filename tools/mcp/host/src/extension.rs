//! The extension of MCP servers.

use std::path::{Path, PathBuf};

use host::settings::Settings;
use host::{
    AttachRequest, AttachedTools, CommandError, Extension, FamilyReport, Finding, Parts,
    RemoteFuture, RemoteTools, inventory,
};
use tools::protocol::Access;
use tools::{Clause, Effects, Target, ToolName, source};
use tools_mcp::client::Sampling;
use tools_mcp::config::FileOwner;

use crate::attach::{READ_RESOURCE, attach};
use crate::command::{MCP, SERVE};
use crate::error::McpError;
use crate::inventory::Inventory;
use crate::sampler::sample;
use crate::standing;

inventory::submit! {
    Extension::new("mcp", source!(), Parts {
        host: |_, host| Ok(host.with_service(Sampling::new(sample))),
        remote_tools: Some(&McpServers),
        report: Some(|settings, _| Box::pin(async { Ok(report(settings)) })),
        commands: &[MCP, SERVE],
        ..Parts::NONE
    })
}

/// The MCP servers of the user and of the project.
struct McpServers;

impl RemoteTools for McpServers {
    fn clauses(&self, root: &Path) -> (Vec<Clause>, Vec<Clause>) {
        let mut reads = Vec::new();
        let mut allowed = Vec::new();
        let Ok(inventory) = Inventory::load(root) else {
            return (reads, allowed);
        };
        for (.., configured) in inventory.servers() {
            let Ok(server) = configured else { continue };
            allowed.extend(server.settings.clauses(&server.name));
            // The pins are read only if they matter.
            let pins = server
                .settings
                .has_read_only()
                .then(|| inventory.pins(&server).ok())
                .flatten();
            for (name, definition) in pins.iter().flat_map(|pins| pins.known_tools()) {
                if let Some((scheme, value)) = name.as_str().split_once(':')
                    && server.settings.only_reads(&server.name, &name, &definition)
                    && let Ok(target) = Target::new(Access::Read, scheme, value)
                {
                    reads.push(target.to_clause());
                }
            }
        }
        (reads, allowed)
    }

    fn control_files(&self, root: &Path) -> Vec<PathBuf> {
        Inventory::load(root).map_or_else(|_| Vec::new(), |inventory| inventory.control_files())
    }

    fn declared_effects(&self, root: &Path) -> Vec<Effects> {
        let servers = Inventory::load(root).map(|inventory| inventory.servers());
        let configured = servers.unwrap_or_default().into_iter();
        configured
            .filter_map(|(.., configured)| configured.ok())
            .flat_map(|server| server.settings.effects().cloned().collect::<Vec<_>>())
            .collect()
    }

    fn may_permit(&self, tool: &ToolName) -> bool {
        let entry = tools::get(tool.as_str());
        split(tool).is_some() && entry.is_ok_and(|entry| entry.tool().effects.is_undeclared())
    }

    fn permit(&self, root: &Path, tool: &ToolName) -> Result<PathBuf, CommandError> {
        Ok(permit(root, tool)?)
    }

    fn glob_for(&self, tool: &str) -> Option<String> {
        match split(tool) {
            // The name of a server has no special characters; another text has no server.
            Some((server, _)) => Some(format!("mcp:{server}/*")),
            None => (tool == READ_RESOURCE).then(|| READ_RESOURCE.to_owned()),
        }
    }

    fn attach<'a>(
        &'a self,
        root: &'a Path,
        request: AttachRequest<'a>,
    ) -> RemoteFuture<'a, Box<dyn AttachedTools>> {
        Box::pin(async { Box::new(attach(root, request).await) as Box<dyn AttachedTools> })
    }
}

/// Writes into the user's file that calls of a tool need no question, and returns the path of the file.
fn permit(root: &Path, tool: &ToolName) -> Result<PathBuf, McpError> {
    let mut inventory = Inventory::load(root)?;
    let (server, _) = split(tool).ok_or_else(|| McpError::NoServer(tool.to_string()))?;
    let owner = inventory.find(server)?.owner;
    let workspace = inventory.workspace.clone();
    let clause = Target::unbounded(tool).to_clause();
    let pattern = clause.pattern();
    let pattern = pattern.split_once('/').map_or(pattern, |(_, below)| below);
    let workspace = (owner == FileOwner::Project).then_some(&*workspace);
    inventory.user.permit(server, workspace, pattern)?;
    inventory.user.write(FileOwner::User)?;
    Ok(inventory.user.path().to_owned())
}

/// Returns the server and the tool in the name of an imported tool.
fn split(tool: &str) -> Option<(&str, &str)> {
    tool.strip_prefix("mcp:")?.split_once('/')
}

fn report(settings: &Settings) -> FamilyReport {
    let root = settings.root().unwrap_or(Path::new("."));
    standing::report(root).unwrap_or_else(|error| FamilyReport {
        findings: vec![Finding::new("mcp", error.to_string()).with_fix("mcp")],
        ..FamilyReport::default()
    })
}
