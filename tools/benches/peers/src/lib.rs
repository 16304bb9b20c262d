//! Measures Toolcrib beside hand-written code and other programs that do the same work.
//!
//! A figure is a file of its own. Each measurement is a *round*, a process of its own, so that no round has what another one left. The
//! rounds of two sides take turns, so that other load meets both, and their medians are compared. A round also tells its result, and the
//! results of both sides must be equal.

// A failure invalidates the measurement.
#![allow(clippy::missing_panics_doc)]

mod blocking_calls;
mod calling_provider;
mod chat;
mod clock;
mod definitions;
mod figure;
mod file_edit;
mod file_search;
mod first_request;
mod growing_run;
mod heap;
mod long_run;
mod many_sessions;
mod mcp_server;
mod pinned_tools;
mod pipeline_call;
mod registration;
mod round;
mod service;
mod streamed_chunk;
mod table;

pub use figure::Figure;
pub use heap::HEAP;
pub use mcp_server::serve_bare;
pub use round::Round;
pub use table::Table;

/// All figures, in the order of the table.
pub const FIGURES: &[Figure] = &[
    streamed_chunk::FIGURE,
    long_run::FIGURE,
    first_request::FIGURE,
    growing_run::FIGURE,
    registration::FIGURE,
    pipeline_call::FIGURE,
    blocking_calls::FIGURE,
    many_sessions::FIGURE,
    file_search::FIGURE,
    file_edit::FIGURE,
    mcp_server::FIGURE,
    pinned_tools::FIGURE,
];

/// Runs one round of a figure in this process, and prints its figures and its result.
pub fn run_round(arguments: &[String]) {
    let (name, arguments) = arguments.split_first().expect("the name of a figure");
    let figure = FIGURES.iter().find(|figure| figure.name == name);
    (figure.expect("a known figure").round)(arguments).print();
}
