//! Unusual spellings and surroundings of tools that must compile.

mod conditional;
mod crowded_names;
pub mod plain_parameters;
mod renamed_dependency;
mod written_by_a_macro;
