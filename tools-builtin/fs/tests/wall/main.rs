//! Confinement tests that check the files outside the workspace. CI also runs this binary in release mode, with all hostile paths
//! and a race of one minute.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod hostile;
mod race;
#[path = "../it/trap.rs"]
mod trap;
