//! Measurements of the search on real definitions.

mod corpus;
#[cfg(unix)]
mod measurements;
