//! Confinement tests that check the files outside the workspace. A release build tries all hostile paths. The ignored tests are longer
//! races.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod hostile;
mod race;
#[path = "../it/trap.rs"]
mod trap;
