#![doc = include_str!("../README.md")]

mod channel_settings;
mod channels;
mod command;
mod delivery;
mod email;
mod error;
mod extension;
mod file;
mod follow;
mod incoming;
mod kind;
mod place;
mod real_path;
mod send;
pub mod settings;
mod terminal;
mod webhook;

use tools::linked::{self, LookupError};
use tools::{Catalog, RegisterError};

pub use channel_settings::{Channel, ChannelSettings, SendFuture};
pub use channels::{Channels, REPLY};
pub use delivery::{Delivery, OutgoingMessage};
pub use error::{ChannelError, SendError};
pub use incoming::{
    Claim, Inbox, IncomingMessage, InvalidMessage, ListenError, ListenFuture, NotTaken,
};
/// Re-exported for `inventory::submit!` of a [`ChannelKind`].
pub use inventory;
pub use kind::{ChannelField, ChannelKind, FieldType};

/// Registers the tools of this crate in a catalog, for hosts that do not rely on link-time registration.
///
/// # Errors
/// Returns [`RegisterError`] if a name is taken. The catalog is then unchanged.
pub fn register(catalog: &mut Catalog) -> Result<(), RegisterError> {
    catalog.submit(&[&send::SEND_TOOL])
}

/// Returns the linked kind of channels of this name.
///
/// # Errors
/// Returns [`LookupError`] if no linked kind has this name, or several crates claim it.
pub fn kind(name: &str) -> Result<&'static ChannelKind, LookupError> {
    linked::get(name)
}

/// Returns the usable linked kinds of channels, sorted by name.
pub fn kinds() -> Vec<&'static ChannelKind> {
    linked::list()
}
