//! The tests of the tools that read the web.

#![allow(clippy::unwrap_used)]

mod search;
