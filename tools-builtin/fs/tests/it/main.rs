//! The tests of the file tools.

#![allow(clippy::unwrap_used)]

mod answer;
#[cfg(target_os = "linux")]
mod crash;
mod listing_size;
mod plugin;
mod removal;
mod sensitive;
mod shown;
mod stray_link;
mod trap;
