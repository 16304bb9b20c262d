//! The user's decisions about servers and their tools: a project's server is approved before it starts, and the definitions of tools are
//! pinned.

mod executable;
mod lock_file;
mod pending_file;
mod pins;

pub use executable::{Executable, server_subject};
pub use host::trust::TrustError;
pub use pins::{Pending, Pins};
