#![doc = include_str!("../README.md")]

pub mod duration;
mod extension;
pub mod folders;
pub mod program;
pub mod settings;
mod size;
pub mod trust;

pub use extension::{Extension, conflicts, list, problems};
/// Re-exported for `inventory::submit!` of an [`Extension`].
pub use inventory;
pub use size::Size;
