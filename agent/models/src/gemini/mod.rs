//! Google's Gemini API.

pub(crate) mod events;
pub(crate) mod request;
