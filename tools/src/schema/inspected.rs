//! [`Inspected`]: an inspected schema that is compiled on first use.

use std::sync::OnceLock;

use serde_json::Value;

use super::budget::{self, Inspection};
use super::{SchemaError, Validator, dialect};

/// The inspection results of a tool's schema, and its validator once compiled.
///
/// The tool owns the schema. Pass the same schema to every method.
pub(crate) struct Inspected {
    inspection: Inspection,
    validator: OnceLock<Result<Box<Validator>, SchemaError>>,
}

impl Inspected {
    /// Inspects the schema of a tool's arguments.
    ///
    /// # Errors
    /// Returns an error if the schema accepts no object, is over budget or has an unresolved reference.
    pub(crate) fn for_parameters(schema: &Value) -> Result<Self, SchemaError> {
        budget::inspect_parameters(schema).map(Self::new)
    }

    /// Inspects the schema of a tool's structured results.
    ///
    /// # Errors
    /// Returns an error if the schema is over budget or has an unresolved reference.
    pub(crate) fn for_output(schema: &Value) -> Result<Self, SchemaError> {
        budget::inspect(schema).map(Self::new)
    }

    fn new(inspection: Inspection) -> Self {
        Self {
            inspection,
            validator: OnceLock::new(),
        }
    }

    /// Checks the schema against the rules of its dialect, and its regular expressions. Stores no result.
    ///
    /// # Errors
    /// Returns an error if the schema breaks a rule, or a regular expression cannot be used.
    pub(crate) fn check_dialect(&self, schema: &Value) -> Result<(), SchemaError> {
        dialect::check(schema, &self.inspection)
    }

    /// Returns the validator. The first call compiles it.
    ///
    /// # Errors
    /// Returns an error if the schema does not compile.
    pub(crate) fn validator(&self, schema: &Value) -> Result<&Validator, &SchemaError> {
        let compile = || Validator::compile(schema, &self.inspection).map(Box::new);
        self.validator.get_or_init(compile).as_deref()
    }
}
