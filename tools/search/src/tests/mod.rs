//! Measurements of the search on real definitions.

mod corpus;
mod measurements;
