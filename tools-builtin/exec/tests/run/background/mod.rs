//! Background programs.

mod ends;
mod limits;
pub(crate) mod session;
mod streams;
mod terminal;

use libtest_mimic::Trial;

pub(crate) use ends::{is_host, serve};

pub(crate) fn trials() -> Vec<Trial> {
    [
        streams::trials(),
        terminal::trials(),
        limits::trials(),
        ends::trials(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
