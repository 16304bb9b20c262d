//! `toolcrib mcp login` and `logout`

use std::sync::Arc;

use super::ServerOptions;
use crate::config::Values;
use crate::error::Error;
use crate::mcp::{Inventory, http_server};
use crate::root::RootOption;
use crate::{interrupt, notice, output};

/// Prints the address at which the person logs in, waits for the browser's answer, and stores the tokens.
pub(super) async fn login(options: ServerOptions) -> Result<(), Error> {
    let settings = options.config.settings(Values::default())?;
    let inventory = Inventory::load(&options.root)?;
    let server = inventory.find(&options.name)?;
    let reached = http_server(&inventory, &server, &settings)?;
    let interrupted = interrupt::token(&Arc::default())?;
    let mut printed = Ok(());
    let show = |url: &str| {
        notice::note(&format!(
            "open this address in a browser to log in to {}; Ctrl-C gives up",
            server.name
        ));
        printed = output::line(url);
    };
    let ended = interrupted.run_until_cancelled(reached.log_in(show)).await;
    printed?;
    ended.ok_or(Error::Cancelled)?.map_err(|error| {
        let text = error.to_string();
        let masked = reached.masked(text.clone());
        if masked == text {
            error.into()
        } else {
            Error::Server {
                server: server.name.to_string(),
                reason: masked,
            }
        }
    })?;
    notice::note(&format!("logged in to the MCP server {}", server.name));
    Ok(())
}

/// Removes the tokens of a server.
pub(super) fn logout(name: &str, root: &RootOption) -> Result<(), Error> {
    let inventory = Inventory::load(root)?;
    let server = inventory.find(name)?;
    let text = if inventory.remove_tokens(&server)? {
        "logged out of"
    } else {
        "there was no login to"
    };
    notice::note(&format!("{text} the MCP server {name}"));
    Ok(())
}
