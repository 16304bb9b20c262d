//! Tool definitions and tool names in the formats of model providers.

mod anthropic;
mod format;
mod name;
mod openai_chat;
mod parameters;

pub use format::{Format, FormatCell};
pub use name::{WireNames, plain_spelling};
pub use parameters::parameters;
