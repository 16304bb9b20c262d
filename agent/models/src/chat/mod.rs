//! OpenAI's chat completions, and services with them.

mod calls;
mod events;
mod request;

pub(crate) use events::Events;
pub(crate) use request::{body, messages, request_for_call, settings};
