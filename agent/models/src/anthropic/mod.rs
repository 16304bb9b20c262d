//! Anthropic's messages API, and services with it.

pub(crate) mod events;
pub(crate) mod request;
pub(crate) mod settings;
