//! The extension of MCP servers.

use std::path::{Path, PathBuf};

use host::settings::Settings;
use host::{
    AttachRequest, AttachedTools, Extension, FamilyReport, Finding, RemoteError, RemoteFuture,
    RemoteTools, inventory,
};
use tools::{Clause, Effects, ToolName, source};
use tools_mcp::client::Sampling;

use super::attach::{READ_RESOURCE, attach};
use super::sampler::sample;
use super::{control, decisions, standing};
use crate::error::Error;
use crate::exit::Exit;
use crate::root::RootOption;

inventory::submit! {
    Extension::new("mcp", source!())
        .with_context(|_, host| Ok(host.with_service(Sampling::new(sample))))
        .with_remote_tools(&McpServers)
        .with_report(|settings, _| Box::pin(async { Ok(report(settings)) }))
}

/// The MCP servers of the user and of the project.
struct McpServers;

impl RemoteTools for McpServers {
    fn permitted(&self, root: &Path) -> (Vec<Clause>, Vec<Clause>) {
        decisions::permitted(&RootOption::at(root))
    }

    fn control_files(&self, root: &Path) -> Vec<PathBuf> {
        control::control_files(&RootOption::at(root))
    }

    fn declared_effects(&self, root: &Path) -> Vec<Effects> {
        decisions::declared_effects(&RootOption::at(root))
    }

    fn may_permit(&self, tool: &ToolName) -> bool {
        decisions::may_permit(tool)
    }

    fn permit(&self, root: &Path, tool: &ToolName) -> Result<PathBuf, RemoteError> {
        decisions::permit(&RootOption::at(root), tool).map_err(RemoteError::from)
    }

    fn glob_for(&self, tool: &str) -> Option<String> {
        match tool
            .strip_prefix("mcp:")
            .and_then(|name| name.split_once('/'))
        {
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
        Box::pin(async move {
            Box::new(attach(RootOption::at(root), request).await) as Box<dyn AttachedTools>
        })
    }
}

impl From<Error> for RemoteError {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error.exit() {
            Exit::NotFound => Self::NotFound(text),
            Exit::Unavailable => Self::Unavailable(text),
            _ => Self::Invalid(text),
        }
    }
}

fn report(settings: &Settings) -> FamilyReport {
    let root = settings.root().map(RootOption::at).unwrap_or_default();
    let (servers, problems) =
        standing::report(&root).unwrap_or_else(|error| (Vec::new(), vec![error.to_string()]));
    FamilyReport {
        lines: servers.iter().map(standing::line).collect(),
        findings: problems
            .into_iter()
            .map(|problem| Finding::new("mcp", problem))
            .collect(),
        documents: servers
            .iter()
            .filter_map(|server| serde_json::to_value(server).ok())
            .collect(),
        ..FamilyReport::default()
    }
}
