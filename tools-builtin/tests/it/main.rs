//! The tests of the tools that come with Toolcrib, of which none asks for what is linked: see `linked.rs`.

#![allow(clippy::unwrap_used)]

mod arguments;
mod registered;
