//! [`Imported`]: an imported server.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::service::Peer;
use serde::de::DeserializeOwned;
use tokio::sync::{Notify, watch};
use tools::{CancellationToken, Digest, IgnorePoison as _, ToolErrorKind, ToolName, visible_line};

use crate::client::calls::Calls;
use crate::client::error::ImportError;
use crate::client::import::{Import, Report};
use crate::client::listing::{self, list};
use crate::client::lists::{Kept, Lists};
use crate::client::server_name::ServerName;
use crate::client::transport_reason::{RECONNECTION, reason};
use crate::same_json::same_json;

/// The time limit of a list that is read again for a single name.
const LISTING: Duration = Duration::from_secs(2);

/// The maximum length of a text of a server in an error message, in characters.
pub(super) const MAX_MESSAGE: usize = 500;

/// An imported server, which stays until [`Servers`](super::Servers) removes it. It outlives each single connection.
pub struct Imported {
    pub(super) import: Import,
    state: watch::Sender<State>,
    listed: watch::Sender<Listed>,
    /// The digests of the definitions in the latest list.
    present: Mutex<HashMap<ToolName, Digest>>,
    /// The outcome of the latest list, or of the latest failed connection. `None` before the first.
    pub(super) outcome: watch::Sender<Option<Result<Arc<Report>, ImportError>>>,
    pub(super) calls: Calls,
    /// Notified when a call finds the server disconnected.
    pub(super) wanted: Notify,
    /// Notified when the server's list of tools may have changed.
    pub(super) changed: Notify,
    pub(super) lists: Lists,
    /// Cancelled when the server is removed.
    pub(super) stop: CancellationToken,
}

/// The state of a connection.
#[derive(Clone)]
pub(super) enum State {
    /// Waits for the first call.
    Idle,
    Connecting,
    Up(Peer<RoleClient>),
    Down {
        reason: Arc<str>,
    },
    Closed,
}

/// The list of tools of the present connection.
#[derive(Clone, Default)]
pub(super) enum Listed {
    #[default]
    Pending,
    /// The server may have changed the list since it was read.
    Stale,
    Done,
    Failed {
        reason: Arc<str>,
    },
}

impl Imported {
    /// Creates the handle of an import. A server whose tools are known is connected by the first call.
    pub(super) fn new(import: Import, is_known: bool) -> Self {
        let state = if is_known {
            State::Idle
        } else {
            State::Connecting
        };
        Self {
            import,
            state: watch::Sender::new(state),
            outcome: watch::Sender::new(None),
            listed: watch::Sender::default(),
            present: Mutex::default(),
            calls: Calls::default(),
            wanted: Notify::new(),
            changed: Notify::new(),
            lists: Lists::default(),
            stop: CancellationToken::new(),
        }
    }

    /// Returns the name.
    pub fn name(&self) -> &ServerName {
        &self.import.name
    }

    /// Waits until the tools are registered, and returns the latest report.
    ///
    /// # Errors
    /// Returns an error if the first attempt failed. More attempts follow, so a later call can succeed.
    pub async fn ready(&self) -> Result<Arc<Report>, ImportError> {
        self.want();
        let mut outcome = self.outcome.subscribe();
        match outcome.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(outcome)) => outcome.clone(),
            _ => Err(ImportError::Removed {
                name: self.name().clone(),
            }),
        }
    }

    /// Reads the list of tools again, and waits for it up to a short limit, for example because a model knows a tool that the list has not.
    pub async fn list_again(&self) {
        self.expire_list();
        let _ = tokio::time::timeout(LISTING, self.listed_peer()).await;
    }

    /// Reads the list of tools again soon, for example after the answers of the [review](super::Import::review) have changed.
    pub fn refresh(&self) {
        self.changed.notify_one();
    }

    /// Returns a text about the server as a part of a message, without the secrets of its URL.
    pub(super) fn show_text(&self, text: &str) -> String {
        show_text(&self.import.server.mask(text.to_owned()))
    }

    /// Returns the error of a server that requires a login.
    pub(super) fn login_required(&self) -> ImportError {
        ImportError::LoginRequired {
            name: self.import.name.clone(),
            advice: self.import.login_advice.clone(),
        }
    }

    pub(super) fn set(&self, state: State) {
        self.state.send_replace(state);
    }

    /// Sets a new connection. Calls wait until its list is known, because its definitions may differ from those of the earlier one.
    pub(super) fn set_up(&self, peer: Peer<RoleClient>) {
        self.listed.send_replace(Listed::Pending);
        self.lists.expire();
        self.set(State::Up(peer));
    }

    /// Sets the definitions of a list.
    pub(super) fn set_present(&self, present: HashMap<ToolName, Digest>) {
        *self.present.lock().ignore_poison() = present;
        self.listed.send_replace(Listed::Done);
    }

    /// Sets the reason why the tools cannot be listed, unless an earlier list of the connection is known.
    pub(super) fn set_unlisted(&self, reason: &str) {
        self.listed.send_if_modified(|listed| {
            match listed {
                Listed::Done => return false,
                Listed::Stale => *listed = Listed::Done,
                Listed::Pending | Listed::Failed { .. } => {
                    *listed = Listed::Failed {
                        reason: reason.into(),
                    }
                }
            }
            true
        });
    }

    /// Lets the list of tools be read again. Calls wait for it.
    pub(super) fn expire_list(&self) {
        self.listed.send_if_modified(|listed| {
            let is_known = matches!(listed, Listed::Done);
            if is_known {
                *listed = Listed::Stale;
            }
            is_known
        });
        self.changed.notify_one();
    }

    /// Connects the server if no call has done so yet, waits until its tools are listed, and returns the peer. Waits for the next
    /// connection for a while if the server is not connected.
    ///
    /// # Errors
    /// Returns [`ToolErrorKind::Unavailable`] if the server cannot be connected or listed.
    pub(super) async fn listed_peer(&self) -> Result<Peer<RoleClient>, ToolErrorKind> {
        self.want();
        let mut state = self.state.subscribe();
        // The sender is in `self`, so both channels are open.
        let _ = state
            .wait_for(|state| !matches!(state, State::Idle | State::Connecting))
            .await;
        let peer = match self.peer() {
            Ok(peer) => peer,
            Err(_) => {
                let decided = state.wait_for(|state| match state {
                    State::Up(peer) => !peer.is_transport_closed(),
                    State::Closed => true,
                    State::Idle | State::Connecting | State::Down { .. } => false,
                });
                let _ = tokio::time::timeout(RECONNECTION, decided).await;
                self.peer()?
            }
        };
        let mut listed = self.listed.subscribe();
        tokio::select! {
            _ = listed.wait_for(|listed| !matches!(listed, Listed::Pending | Listed::Stale)) => {}
            _ = state.wait_for(|state| !matches!(state, State::Up(_))) => return self.peer(),
        }
        match &*listed.borrow() {
            Listed::Failed { reason } => {
                let name = &self.import.name;
                let reason = format!("the MCP server {name} does not list its tools: {reason}");
                Err(ToolErrorKind::Unavailable { reason })
            }
            Listed::Pending | Listed::Stale | Listed::Done => Ok(peer),
        }
    }

    /// Lets the first connection begin.
    pub(super) fn want(&self) {
        if matches!(*self.state.borrow(), State::Idle) {
            self.wanted.notify_one();
        }
    }

    /// Checks that a call may run that was made for a definition with this digest.
    ///
    /// # Errors
    /// Returns [`ToolErrorKind::Unavailable`] if the host does not permit it, or if the server has another definition now.
    pub(super) fn check(&self, tool: &ToolName, digest: &Digest) -> Result<(), ToolErrorKind> {
        self.check_permitted(tool, digest)?;
        let present = self.present.lock().ignore_poison().get(tool).copied();
        // A server that lists a tool no more answers for itself.
        let Some(present) = present.filter(|present| present != digest) else {
            return Ok(());
        };
        // The host's reason has the next step of its user.
        self.check_permitted(tool, &present)?;
        let reason = format!(
            "the MCP server {} has changed the definition of {tool} since the tool was offered; use another tool",
            self.import.name
        );
        Err(ToolErrorKind::Unavailable { reason })
    }

    /// Checks that the host permits calls that were made for a definition with this digest.
    ///
    /// # Errors
    /// Returns [`ToolErrorKind::Unavailable`] with the host's reason.
    pub(super) fn check_permitted(
        &self,
        tool: &ToolName,
        digest: &Digest,
    ) -> Result<(), ToolErrorKind> {
        match &self.import.review {
            Some(review) => review
                .check(tool, digest)
                .map_err(|reason| ToolErrorKind::Unavailable { reason }),
            None => Ok(()),
        }
    }

    /// Returns the peer of the present connection.
    ///
    /// # Errors
    /// Returns [`ToolErrorKind::Unavailable`] while there is none.
    pub(super) fn peer(&self) -> Result<Peer<RoleClient>, ToolErrorKind> {
        let name = &self.import.name;
        let reason = match &*self.state.borrow() {
            State::Up(peer) if !peer.is_transport_closed() => return Ok(peer.clone()),
            State::Up(_) => {
                format!("the connection to the MCP server {name} has ended; try again in a moment")
            }
            State::Idle | State::Connecting => {
                format!("the MCP server {name} is being connected; try again in a moment")
            }
            State::Down { reason } => {
                format!(
                    "the MCP server {name} is not connected ({reason}); try again later, or use another tool"
                )
            }
            State::Closed => format!("the MCP server {name} was removed; use another tool"),
        };
        self.wanted.notify_one();
        Err(ToolErrorKind::Unavailable { reason })
    }

    /// Returns the state of the connection.
    pub fn status(&self) -> Status {
        match &*self.state.borrow() {
            State::Idle => Status::Idle,
            State::Connecting => Status::Connecting,
            State::Up(peer) => Status::Connected {
                protocol: peer
                    .peer_info()
                    .map(|info| info.protocol_version.to_string())
                    .unwrap_or_default(),
            },
            State::Down { reason } => Status::Disconnected {
                reason: reason.to_string(),
            },
            State::Closed => Status::Removed,
        }
    }

    /// Waits until the server is not connected, and returns the reason.
    pub(super) async fn down(&self) -> Arc<str> {
        let mut state = self.state.subscribe();
        match state
            .wait_for(|state| matches!(state, State::Down { .. }))
            .await
            .as_deref()
        {
            Ok(State::Down { reason }) => reason.clone(),
            // The sender is in `self`, so the channel is open.
            _ => "".into(),
        }
    }

    /// Waits until the server is removed and its connection has ended.
    pub(super) async fn wait_closed(&self) {
        // The sender is in `self`, so the channel is open.
        let mut state = self.state.subscribe();
        let _ = state.wait_for(|state| matches!(state, State::Closed)).await;
    }
}

tools::debug_fields!(self: Imported { name = self.name(), status = self.status() });

/// Returns a text of a server as a part of a message.
pub(super) fn show_text(text: &str) -> String {
    visible_line(text, MAX_MESSAGE)
}

/// A list of a server, and the limit that ended it early, if one did. Malformed items are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Items<T> {
    /// The items.
    pub items: Vec<T>,
    /// The limit that ended the list.
    pub cut: Option<String>,
}

impl Imported {
    /// Returns a list of the server, which is read page by page and within limits unless the latest one is fresh.
    pub(super) async fn items<T: listing::Listed, U: DeserializeOwned>(
        &self,
        kept: &Kept<T>,
    ) -> Result<Items<U>, ImportError> {
        let read = match self.listed_peer().await {
            Ok(peer) => {
                let read = kept.get_or_read(list::<T>(&peer)).await;
                read.map_err(|error| self.show_text(&reason(&error)))
            }
            Err(error) => Err(error.to_string()),
        };
        let read = read.map_err(|reason| ImportError::List {
            name: self.name().clone(),
            what: T::KEY,
            reason,
        })?;
        Ok(Items {
            items: read.items.iter().flatten().filter_map(same_json).collect(),
            cut: read.cut.clone(),
        })
    }
}

/// The state of an imported server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// The server is connected by the first call, because its tools are [known](super::Import::known).
    Idle,
    /// The first connection is being made.
    Connecting,
    /// The server is connected.
    Connected {
        /// The revision of the protocol, such as `2026-07-28`.
        protocol: String,
    },
    /// The server is not connected, and will be connected again. Its tools answer
    /// [`Unavailable`](tools::ToolErrorKind::Unavailable).
    Disconnected {
        /// The reason.
        reason: String,
    },
    /// The server was removed.
    Removed,
}
