//! OpenAI's chat completions, and services with them.

mod calls;
mod events;
mod request;
mod settings;

pub(crate) use events::Events;
pub(crate) use request::{body, messages, request_for_call};
pub(crate) use settings::settings;
