//! Google's Gemini API.

mod events;
mod request;
mod settings;

pub(crate) use events::Events;
pub(crate) use request::{body, messages};
pub(crate) use settings::settings;
