//! The contents of a project that wait for a person's eyes: settings, and instructions for agents.
//!
//! A program that a session runs can write such files. Each content is therefore approved once, by its digest.

mod content;
mod records;
mod unapproved;

pub use content::Content;
pub use records::{RecordError, Records};
pub use unapproved::Unapproved;
