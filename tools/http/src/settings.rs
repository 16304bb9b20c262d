//! The settings of requests of tools, and the clients that they describe.

mod client;
mod keys;
mod place;
pub(crate) mod report;

pub use client::{backend_client, bound_key, channel_client, client, server_options, service_key};
pub use keys::HttpKeys;
pub use place::SecretPlace;
pub use report::list_set;
