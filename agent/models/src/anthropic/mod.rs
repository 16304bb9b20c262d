//! Anthropic's messages API, and services with it.

mod events;
mod request;
mod settings;

pub(crate) use events::Events;
pub(crate) use request::{body, is_thought, messages};
pub(crate) use settings::{BINDING_BETA, settings, tokens};
