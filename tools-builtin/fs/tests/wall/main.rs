//! The wall around a workspace, judged from outside. In a program of its own, which CI runs in release as well: there it tries all of
//! the hostile paths, and a race for a minute.

#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod hostile;
mod race;
#[path = "../it/trap.rs"]
mod trap;
