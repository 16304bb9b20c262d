//! The tests of the bridge to rig, against services that the tests play.

#![allow(clippy::unwrap_used)]

mod agent_tool;
#[path = "../../../models/tests/it/service/mod.rs"]
mod service;
