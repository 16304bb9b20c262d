//! How the data of this crate looks to model providers.

mod definition;
mod definitions;
mod format;
mod name;
mod run;

pub use definition::Definition;
pub use definitions::Definitions;
pub use format::{Format, FormatCell};
pub use name::WireNames;
