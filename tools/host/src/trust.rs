//! The contents of a project that wait for a person's eyes: settings, and instructions for agents.
//!
//! A program that a session runs can write such files. Each content is therefore approved once, by its digest.

mod approvals;
mod content;
mod records;

pub(crate) use approvals::replace;
pub use approvals::{Approval, Approvals, Change, Subject, TrustError};
pub use content::{Content, Unapproved};
pub use records::{RecordError, Records};
