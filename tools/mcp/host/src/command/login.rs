//! `toolcrib mcp login` and `logout`

use host::{Argument, Arguments, Command, CommandContext, Exit, program};

use super::change::NAME;
use super::connect;
use crate::error::McpError;
use crate::server::http_server;

pub(super) const LOGIN: Command = Command {
    about: "Log in to a server that is reached by URL, with a browser",
    details: "Prints the address to open, and waits for the browser's answer on a port of this machine. Sessions use the login and renew it.",
    arguments: &[connect::SERVER, Argument::Root, Argument::Settings],
    run: Some(|arguments, cx| Box::pin(async { Ok(login(arguments, cx).await?) })),
    ..Command::new("login")
};

pub(super) const LOGOUT: Command = Command {
    about: "Remove the login to a server",
    arguments: &[NAME, Argument::Root],
    run: Some(|arguments, cx| Box::pin(async { Ok(logout(arguments, cx)?) })),
    ..Command::new("logout")
};

/// Prints the address at which the person logs in, waits for the browser's answer, and stores the tokens.
async fn login(arguments: &Arguments, cx: &dyn CommandContext) -> Result<Exit, McpError> {
    let (inventory, server) = connect::find(arguments, cx)?;
    let settings = cx.settings()?;
    let resolved = inventory.usable(&server)?;
    let reached = http_server(&inventory, &server, resolved, &settings)?;
    let interrupted = cx.interruption()?;
    let mut printed = Ok(());
    let login = reached.log_in(|url| {
        program::note(&format!(
            "open this address in a browser to log in to {}; Ctrl-C gives up",
            server.name
        ));
        printed = cx.write_page(&format!("{url}\n"));
    });
    let ended = interrupted.run_until_cancelled(login).await;
    printed?;
    ended.ok_or(McpError::Cancelled)?.map_err(|error| {
        let text = error.to_string();
        // The error can repeat the URL, in which variables may have put secrets.
        let masked = reached.mask(text.clone());
        if masked == text {
            error.into()
        } else {
            McpError::unusable(&server.name, masked)
        }
    })?;
    program::note(&format!("logged in to the MCP server {}", server.name));
    Ok(Exit::Success)
}

/// Removes the tokens of a server.
fn logout(arguments: &Arguments, cx: &dyn CommandContext) -> Result<Exit, McpError> {
    let (inventory, server) = connect::find(arguments, cx)?;
    let text = if inventory.remove_tokens(&server)? {
        "logged out of"
    } else {
        "there was no login to"
    };
    program::note(&format!("{text} the MCP server {}", server.name));
    Ok(Exit::Success)
}
