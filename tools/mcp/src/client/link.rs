//! [`Link`]: the connection to a server as its tools see it.

use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::service::Peer;
use tokio::sync::{Notify, watch};
use tools::{ToolErrorKind, visible_line};

use super::calls::Calls;
use super::{ServerName, Status};

/// The maximum length of a text of a server in an error message, in characters.
pub(super) const MAX_MESSAGE: usize = 500;

/// The connection to a server as its tools see it. It outlives each single connection.
pub(super) struct Link {
    name: ServerName,
    state: watch::Sender<State>,
    pub(super) calls: Calls,
    /// Notified when a call finds the server disconnected.
    pub(super) wanted: Notify,
    /// Notified when the server's list of tools may have changed.
    pub(super) changed: Notify,
}

/// The state of a connection.
#[derive(Clone)]
pub(super) enum State {
    Connecting,
    Up(Peer<RoleClient>),
    Down { reason: Arc<str> },
    Closed,
}

impl Link {
    pub(super) fn new(name: ServerName) -> Self {
        let (calls, wanted, changed) = Default::default();
        Self { name, state: watch::Sender::new(State::Connecting), calls, wanted, changed }
    }

    pub(super) fn name(&self) -> &ServerName {
        &self.name
    }

    pub(super) fn set(&self, state: State) {
        self.state.send_replace(state);
    }

    /// Returns the peer of the present connection.
    ///
    /// # Errors
    /// Returns [`ToolErrorKind::Unavailable`] while there is none.
    pub(super) fn peer(&self) -> Result<Peer<RoleClient>, ToolErrorKind> {
        let name = &self.name;
        let reason = match &*self.state.borrow() {
            State::Up(peer) if !peer.is_transport_closed() => return Ok(peer.clone()),
            State::Up(_) => format!("the connection to the MCP server {name} has ended; try again in a moment"),
            State::Connecting => format!("the MCP server {name} is being connected; try again in a moment"),
            State::Down { reason } => {
                format!("the MCP server {name} is not connected ({reason}); try again later, or use another tool")
            }
            State::Closed => format!("the MCP server {name} was removed; use another tool"),
        };
        self.wanted.notify_one();
        Err(ToolErrorKind::Unavailable { reason })
    }

    pub(super) fn status(&self) -> Status {
        match &*self.state.borrow() {
            State::Connecting => Status::Connecting,
            State::Up(peer) => Status::Connected {
                protocol: peer.peer_info().map(|info| info.protocol_version.to_string()).unwrap_or_default(),
            },
            State::Down { reason } => Status::Disconnected { reason: reason.to_string() },
            State::Closed => Status::Removed,
        }
    }

    /// Waits until the server is removed and its connection has ended.
    pub(super) async fn closed(&self) {
        // The sender is in `self`, so the channel is open.
        let _ = self.state.subscribe().wait_for(|state| matches!(state, State::Closed)).await;
    }
}

/// Returns a text of a server as a part of a message.
pub(super) fn shown(text: &str) -> String {
    visible_line(text, MAX_MESSAGE)
}
