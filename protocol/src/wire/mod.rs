//! The data of this crate in the shapes of model providers: one file per format, and the spelling of names.

mod anthropic;
mod format;
mod name;
mod openai_chat;
mod parameters;

pub use format::{Format, FormatCell};
pub use name::{WireNames, plain_spelling};
pub use parameters::parameters;
