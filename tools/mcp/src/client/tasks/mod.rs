//! Calls that a server goes on with as tasks.

mod follow;
mod poll;
mod remote;
mod seen;

pub(super) use follow::follow;
pub(super) use remote::restore;
