//! The tests of the skill tools.

#![allow(clippy::unwrap_used)]

mod contents;
mod discovery;
mod forms;
mod hostile;
mod section;
mod setup;
mod yaml;
