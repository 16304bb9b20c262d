//! The tests of the file tools.

#![allow(clippy::unwrap_used)]

#[cfg(unix)]
mod answer;
#[cfg(target_os = "linux")]
mod crash;
#[cfg(unix)]
mod listing_size;
#[cfg(unix)]
mod plugin;
mod removal;
mod sensitive;
#[cfg(unix)]
mod shown;
#[cfg(unix)]
mod trap;
