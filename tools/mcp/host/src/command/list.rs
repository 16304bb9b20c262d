//! `toolcrib mcp list`, `tools` and `test`

use host::style::{STRONG, paint};
use host::{Argument, Arguments, Command, CommandContext, Exit, program};
use serde_json::json;
use tools::visible::visible;
use tools::{counted, visible_line};
use tools_mcp::client::Status;
use tools_mcp::config::Transport;

use super::connect::{self, Connected};
use crate::error::McpError;
use crate::standing::standing;

/// The maximum length of a description in a list, in characters.
const MAX_SHOWN: usize = 100;

pub(super) const LIST: Command = Command {
    about: "List the servers and whether sessions may use them",
    arguments: &[
        Argument::Root,
        Argument::flag("json", "Print the servers as JSON, one document per line"),
    ],
    run: Some(|arguments, cx| Box::pin(async { Ok(list(arguments, cx)?) })),
    ..Command::new("list")
};

pub(super) const TOOLS: Command = Command {
    about: "Connect a server and list its tools, and whether each is approved",
    arguments: &[connect::SERVER, Argument::Root, Argument::Settings],
    run: Some(|arguments, cx| Box::pin(async { Ok(tools(arguments, cx).await?) })),
    ..Command::new("tools")
};

pub(super) const TEST: Command = Command {
    about: "Connect a server, and show the revision of the protocol, the time and the number of tools",
    run: Some(|arguments, cx| Box::pin(async { Ok(test(arguments, cx).await?) })),
    name: "test",
    ..TOOLS
};

/// Prints the servers of both files.
fn list(arguments: &Arguments, cx: &dyn CommandContext) -> Result<Exit, McpError> {
    let inventory = connect::load(cx)?;
    let is_json = arguments.is_given("json");
    inventory.warn();
    let mut page = String::new();
    for (name, owner, configured) in inventory.servers() {
        let file = owner.as_str();
        let (reached, standing) = match &configured {
            Ok(server) => (
                describe(&server.entry.transport),
                standing(&inventory, server),
            ),
            Err(error) => (String::new(), format!("unusable: {error}")),
        };
        if is_json {
            cx.write_json(
                &json!({"name": name, "file": file, "reached": reached, "standing": standing}),
            )?;
        } else {
            let name = paint(STRONG, visible(&name));
            page += &format!("{name} ({file}): {}\n", visible(&standing));
            page += &format!("  {}\n", visible(&reached));
        }
    }
    if !is_json && page.is_empty() {
        let program = program::name();
        page = format!("there are no MCP servers; add one with {program} mcp add\n");
    }
    cx.write_page(&page)?;
    Ok(Exit::Success)
}

async fn connect(arguments: &Arguments, cx: &dyn CommandContext) -> Result<Connected, McpError> {
    let (inventory, server) = connect::find(arguments, cx)?;
    connect::connect(&inventory, &server, cx).await
}

/// Returns the unexpanded command or URL.
fn describe(transport: &Transport) -> String {
    match transport {
        Transport::Stdio { command, args, .. } => {
            let words = std::iter::once(command).chain(args).map(String::as_str);
            shlex::try_join(words).unwrap_or_else(|_| command.clone())
        }
        Transport::Http { url, .. } => url.clone(),
    }
}

/// Prints the tools of a server.
async fn tools(arguments: &Arguments, cx: &dyn CommandContext) -> Result<Exit, McpError> {
    let server = connect(arguments, cx).await?;
    let mut page = String::new();
    for entry in server.catalog.list() {
        if server.report.tools.contains(entry.name()) {
            let description = visible_line(&entry.tool().description, MAX_SHOWN);
            page += &format!("{}  {description}\n", paint(STRONG, entry.name()));
        }
    }
    for pending in server.pins.pending() {
        let state = if pending.pinned.is_some() {
            "changed"
        } else {
            "new"
        };
        page += &format!("{}  {state}, not approved\n", paint(STRONG, &pending.tool));
    }
    for refused in server.list_refused() {
        page += &format!("{}\n", visible(&refused));
    }
    cx.write_page(&page)?;
    Ok(Exit::Success)
}

/// Prints the connection of a server.
async fn test(arguments: &Arguments, cx: &dyn CommandContext) -> Result<Exit, McpError> {
    let server = connect(arguments, cx).await?;
    let protocol = match server.imported.status() {
        Status::Connected { protocol } => protocol,
        _ => "no longer connected".to_owned(),
    };
    let tools = counted(server.report.tools.len() as u64, "tool");
    let time = server.time.as_millis();
    let name = paint(STRONG, server.imported.name());
    let mut line = format!("{name}: {protocol}, {tools}, {time} ms");
    let waiting = server.pins.pending().len() as u64;
    if waiting > 0 {
        let wait = if waiting == 1 { "waits" } else { "wait" };
        line += &format!("; {} {wait} for approval", counted(waiting, "tool"));
    }
    for refused in server.list_refused() {
        line += &format!("\n{}", visible(&refused));
    }
    cx.write_page(&format!("{line}\n"))?;
    Ok(Exit::Success)
}
