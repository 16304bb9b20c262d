//! The tests of the tools that read the web.

#![allow(clippy::unwrap_used)]

mod feed;
mod fetch;
mod outline;
mod property;
mod search;
mod shapes;
mod stop;
