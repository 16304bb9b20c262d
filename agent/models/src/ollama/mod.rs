//! Ollama's own API.

mod events;
mod request;

pub(crate) use events::Events;
pub(crate) use request::{body, messages, options, settings};
