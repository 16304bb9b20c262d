//! JSON Schema, kept in one room: what a tool's schemas may be, and whether a value satisfies one.
//!
//! Schemas come from strangers (an MCP server, a plugin), and so do values (a model, a tool's output). A schema of two
//! kilobytes can keep a validator busy for years or overflow its stack, so a schema is inspected before it is compiled,
//! and [`Validator::check`] bounds what one value may cost. No type of the `jsonschema` crate leaves this folder.
//!
//! `format`, `contentEncoding` and `contentMediaType` are annotations in every dialect, as 2020-12 has it: they tell the
//! model what is meant and refuse nothing.

mod branch;
mod budget;
#[cfg(test)]
mod compiled;
mod deadline;
mod dialect;
mod error;
mod expectation;
mod graph;
mod inspected;
mod instance;
mod mask;
mod measure;
mod pattern;
mod phrase;
mod plain;
mod shape;
mod validator;
mod violation;
mod walk;

pub(crate) use deadline::within;
pub use error::SchemaError;
pub use expectation::schema_in_words;
pub(crate) use inspected::Inspected;
pub(crate) use mask::{MASK, Mask};
pub(crate) use phrase::{readable, show};
pub(crate) use plain::Plain;
pub(crate) use validator::Validator;
pub use violation::Violation;
