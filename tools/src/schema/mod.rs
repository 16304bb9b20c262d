//! JSON Schema: inspection of a tool's schemas, and validation of values against them.
//!
//! Schemas come from untrusted sources (an MCP server, a plugin), and so do values (a model, a tool's output). A schema of two
//! kilobytes can keep a validator busy for years or overflow its stack. Therefore a schema is inspected before it is compiled,
//! and `Validator::check` bounds the cost of one value. No type of the `jsonschema` crate leaves this folder.
//!
//! `format`, `contentEncoding` and `contentMediaType` are annotations in every dialect, as in 2020-12: they inform the model and
//! reject nothing.

mod accepted;
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
mod misspelt;
mod pattern;
mod phrase;
mod reading;
mod shape;
mod simple;
mod validator;
mod violation;
mod walk;

pub use accepted::{AcceptedValues, accepted_values, unescape};
pub(crate) use deadline::with_deadline;
pub use error::SchemaError;
pub use expectation::describe_schema;
pub(crate) use inspected::Inspected;
pub use inspected::ValueSchema;
pub(crate) use mask::{MASK, Mask};
pub(crate) use misspelt::{Misspelt, misspelt};
pub(crate) use phrase::{quote, show};
pub(crate) use reading::{Reading, read};
pub(crate) use simple::SimpleSchema;
pub(crate) use validator::Validator;
pub use violation::Violation;
