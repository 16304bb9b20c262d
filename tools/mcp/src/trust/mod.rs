//! The user's decisions about servers and their tools: a project's server is approved before it starts, and the definitions of tools are
//! pinned.

mod approvals;
mod error;
mod executable;
mod pending_file;
mod pins;
mod subject;

pub use approvals::{Approval, Approvals};
pub use error::TrustError;
pub use executable::Executable;
pub use pins::{Pending, Pins};
pub use subject::{Change, Subject};
