//! `toolcrib mcp list`, `tools` and `test`

use serde_json::json;
use tools::visible_line;
use tools_mcp::client::Status;
use tools_mcp::config::{FileOwner, Transport};

use super::ListOptions;
use super::connect::Connected;
use crate::error::Error;
use crate::mcp::{Inventory, standing};
use crate::notice::{STRONG, styled};
use crate::output;
use crate::program;
use crate::visible::visible;
use tools::counted;

/// The maximum length of a description in a list, in characters.
const MAX_SHOWN: usize = 100;

/// Prints the servers of both files.
pub(super) fn list(options: &ListOptions) -> Result<(), Error> {
    let (inventory, is_json) = (Inventory::load(&options.root)?, options.json);
    inventory.warn();
    let mut page = String::new();
    for (name, owner, configured) in inventory.servers() {
        let file = if owner == FileOwner::User {
            "user"
        } else {
            "project"
        };
        let (reached, standing) = match &configured {
            Ok(server) => (
                reached(&server.entry.transport),
                standing(&inventory, server),
            ),
            Err(error) => (String::new(), format!("unusable: {error}")),
        };
        if is_json {
            output::json(
                &json!({"name": name, "file": file, "reached": reached, "standing": standing}),
            )?;
        } else {
            let name = styled(STRONG, visible(&name));
            page += &format!(
                "{name} ({file}): {}\n  {}\n",
                visible(&standing),
                visible(&reached)
            );
        }
    }
    if !is_json && page.is_empty() {
        page = format!(
            "there are no MCP servers; add one with {} mcp add\n",
            program::name()
        );
    }
    output::page(&page)
}

/// Returns the unexpanded command or URL.
fn reached(transport: &Transport) -> String {
    match transport {
        Transport::Stdio { command, args, .. } => {
            let words = std::iter::once(command).chain(args).map(String::as_str);
            shlex::try_join(words).unwrap_or_else(|_| command.clone())
        }
        Transport::Http { url, .. } => url.clone(),
    }
}

/// Prints the tools of a server.
pub(super) fn tools(server: &Connected) -> Result<(), Error> {
    let mut page = String::new();
    for entry in server.catalog.list() {
        if server.report.tools.contains(entry.name()) {
            let description = visible_line(&entry.tool().description, MAX_SHOWN);
            page += &format!("{}  {description}\n", styled(STRONG, entry.name()));
        }
    }
    for pending in server.pins.pending() {
        let state = if pending.pinned.is_some() {
            "changed"
        } else {
            "new"
        };
        page += &format!("{}  {state}, not approved\n", styled(STRONG, &pending.tool));
    }
    let waiting: Vec<_> = server
        .pins
        .pending()
        .into_iter()
        .map(|pending| pending.tool)
        .collect();
    for refused in &server.report.refused {
        if !waiting
            .iter()
            .any(|tool| tool.ends_with(&format!("/{}", refused.tool)))
        {
            page += &format!("{}\n", visible(&refused.to_string()));
        }
    }
    output::page(&page)
}

/// Prints the connection of a server.
pub(super) fn test(server: &Connected) -> Result<(), Error> {
    let protocol = match server.imported.status() {
        Status::Connected { protocol } => protocol,
        _ => "no longer connected".to_owned(),
    };
    let tools = counted(server.report.tools.len() as u64, "tool");
    let time = server.time.as_millis();
    let mut line = format!(
        "{}: {protocol}, {tools}, {time} ms",
        styled(STRONG, server.imported.name())
    );
    let waiting = server.pins.pending().len() as u64;
    if waiting > 0 {
        line += &format!(
            "; {} for approval",
            if waiting == 1 {
                "1 tool waits".to_owned()
            } else {
                format!("{waiting} tools wait")
            }
        );
    }
    output::page(&format!("{line}\n"))
}
