//! The tests of the journal, over real files and processes.

#![allow(clippy::unwrap_used)]

mod audit;
mod crib;
#[cfg(unix)]
#[allow(clippy::print_stdout, reason = "the seed and the tally of a run are worth reading")]
mod kill;
mod record;
mod resume;
mod secret;
mod unfinished;
