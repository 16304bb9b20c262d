//! The tests of the tools that read the web.

#![allow(clippy::unwrap_used)]

mod conversion;
mod feed;
mod fetch;
mod known_texts;
mod outline;
mod property;
mod search;
mod shapes;
mod stop;
