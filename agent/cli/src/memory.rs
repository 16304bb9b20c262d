//! The memories of the user. Without the feature `memory`, there are none.

#[cfg(not(feature = "memory"))]
mod absent;
#[cfg(feature = "memory")]
mod store;

#[cfg(not(feature = "memory"))]
pub(crate) use absent::{digest, fault, insert, report};
#[cfg(feature = "memory")]
pub(crate) use store::{digest, fault, insert, own, report};
