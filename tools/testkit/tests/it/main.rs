//! The tests of the kit.

#![allow(clippy::unwrap_used)]

mod broken;
mod examples;
mod host;
mod rules;
mod workspace;
