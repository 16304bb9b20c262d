//! Tools, calls and results in the formats of services.

mod corpus;
mod definition;
mod exchange;
mod judge;
mod judged;
mod law;
mod name;
mod rewrite;
mod sampler;
mod schemas;
mod strict;
