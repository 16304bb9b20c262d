//! The reasons why a session has no tool of a name that begins as those of its servers.

use tools_mcp::client::Servers;

use super::attach::{PinsOfServers, waiting};

/// Returns the reason: a call to a tool that its server has just added says that it waits for approval.
pub(super) async fn reason(servers: Servers, pins: PinsOfServers, name: String) -> Option<String> {
    let (server, _) = name.strip_prefix("mcp:")?.split_once('/')?;
    // A server may tell of a tool before its list has it.
    servers.get(server)?.list_again().await;
    let pins = pins.lock().get(server)?.clone();
    if let Some(pending) = pins
        .pending()
        .into_iter()
        .find(|pending| pending.tool == *name)
    {
        return Some(waiting(server, &[pending.tool]));
    }
    let is_pinned = pins.known().iter().any(|(known, _)| *known == *name);
    (is_pinned && tools::get(&name).is_ok()).then(|| {
        format!(
            "the session's tools do not include {name}; if it was just approved, it is offered with the next prompt"
        )
    })
}
