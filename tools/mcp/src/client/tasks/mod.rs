//! Calls that a server goes on with as tasks.

mod follow;
mod poll;
mod remote;
mod restore;
mod seen;
mod stored;

pub(super) use follow::follow;
pub(super) use restore::restore;
