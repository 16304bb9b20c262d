//! Ollama's own API.

pub(crate) mod events;
pub(crate) mod request;
