//! Tool definitions and tool names in the formats of model providers.

mod anthropic;
mod format;
mod name;
mod name_table;
mod openai_chat;
mod parameters;

pub use format::{Format, FormatCell};
pub use name::NameGrammar;
pub use name_table::{NameCollision, WireNames};
pub use parameters::parameters;
