//! Spellings of tools that compile, however they are written and whatever stands around them.

mod conditional;
mod crowded_names;
pub mod plain_parameters;
mod renamed_dependency;
mod written_by_a_macro;
