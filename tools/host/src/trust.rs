//! The contents of a project that wait for a person's eyes: settings, and instructions for agents.
//!
//! A program that a session runs can write such files. Each content is therefore approved once, by its digest.

mod approvals;
mod content;
mod error;
mod records;
mod subject;
mod unapproved;

pub use approvals::{Approval, Approvals};
pub use content::Content;
pub use error::TrustError;
pub use records::{RecordError, Records};
pub use subject::{Change, Subject};
pub use unapproved::Unapproved;
