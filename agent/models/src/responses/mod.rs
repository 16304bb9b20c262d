//! OpenAI's Responses API, and services with it.

mod events;
mod request;

pub(crate) use events::Events;
pub(crate) use request::{body, messages, settings};
