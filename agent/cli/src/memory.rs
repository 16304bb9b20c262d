//! The memories of the user. In the lean build, there are none.

#[cfg(not(feature = "default"))]
mod absent;
#[cfg(feature = "default")]
mod store;

#[cfg(not(feature = "default"))]
pub(crate) use absent::{digest, fault, insert, report};
#[cfg(feature = "default")]
pub(crate) use store::{digest, fault, insert, own, report};
