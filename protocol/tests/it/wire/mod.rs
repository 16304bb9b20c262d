//! Tools, calls and results in the formats of services.

mod bombs;
mod definition;
mod exchange;
mod exchange_law;
pub(crate) mod exchange_rules;
pub(crate) mod judge;
mod judged;
pub(crate) mod law;
pub(crate) mod name;
mod read_results;
mod rewrite;
mod rewrite_keys;
mod rewrite_root;
mod sampler;
mod schemas;
mod strict;
mod strict_law;
mod strict_schemas;
