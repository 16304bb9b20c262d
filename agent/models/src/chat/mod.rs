//! OpenAI's chat completions, and services with them.

mod calls;
pub(crate) mod events;
pub(crate) mod request;
