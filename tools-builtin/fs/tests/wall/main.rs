//! Confinement tests that check the files outside the workspace. The ignored tests are longer races. A program of its own, because
//! `.ci/run` also builds it optimised, to try all hostile paths.

#![allow(clippy::unwrap_used)]

mod hostile;
mod race;
#[path = "../it/trap.rs"]
mod trap;
