//! OpenAI's Responses API, and services with it.

pub(crate) mod events;
pub(crate) mod request;
