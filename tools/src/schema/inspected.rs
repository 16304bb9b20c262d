//! [`Inspected`] and [`ValueSchema`]: schemas that were inspected, with their validators.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use protocol::Json;
use serde_json::Value;
use tokio::time::Instant;

use super::budget::{self, Inspection};
use super::{SchemaError, Validator, Violation, dialect, with_deadline};

/// The time limit for checking one value.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

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
    // Apart from `new`: link-time tools skip it, so that listing ten thousand of them stays cheap.
    pub(crate) fn check_dialect(&self, schema: &Value) -> Result<(), SchemaError> {
        dialect::check(schema, &self.inspection)
    }

    /// Returns the validator. The first call compiles it.
    ///
    /// # Errors
    /// Returns an error if the schema does not compile.
    pub(crate) fn validator(&self, schema: &Value) -> Result<&Validator, &SchemaError> {
        self.validator
            .get_or_init(|| Validator::compile(schema, &self.inspection).map(Box::new))
            .as_deref()
    }
}

/// A compiled JSON Schema for a value, such as the answer of a model. It has the budget and the rules of a tool's schemas. Clones share
/// it.
///
/// ```
/// use serde_json::json;
/// use tools::schema::ValueSchema;
/// use tools::Json;
///
/// let schema = ValueSchema::new(json!({"type": "array", "items": {"type": "integer"}}))?;
/// assert!(schema.check(&Json::from(json!([1, 2]))).is_ok());
/// let violations = schema.check(&Json::from(json!([1, "two"]))).unwrap_err();
/// assert_eq!(violations[0].pointer, "/1");
/// # Ok::<(), tools::schema::SchemaError>(())
/// ```
#[derive(Clone)]
pub struct ValueSchema(Arc<CompiledValueSchema>);

struct CompiledValueSchema {
    schema: Value,
    validator: Validator,
}

impl ValueSchema {
    /// Inspects and compiles a schema.
    ///
    /// # Errors
    /// Returns a [`SchemaError`] if the schema is over budget, breaks a rule of its dialect, or leads out of its document.
    pub fn new(schema: Value) -> Result<Self, SchemaError> {
        let inspection = budget::inspect(&schema)?;
        dialect::check(&schema, &inspection)?;
        let validator = Validator::compile(&schema, &inspection)?;
        Ok(Self(Arc::new(CompiledValueSchema { schema, validator })))
    }

    /// Returns the schema.
    pub fn as_value(&self) -> &Value {
        &self.0.schema
    }

    /// Checks a value.
    ///
    /// # Errors
    /// Returns each violation. A value that takes too long to check has one violation that says so.
    pub fn check(&self, value: &Json) -> Result<(), Vec<Violation>> {
        let CompiledValueSchema { schema, validator } = &*self.0;
        // The answer of a model is checked outside of a call, which would have a deadline.
        let checked = with_deadline(Instant::now() + CHECK_TIMEOUT, || {
            validator.check(schema, value.node(), None)
        });
        checked.unwrap_or_else(|| {
            let late = Violation::whole("a value that is quick to check", "one that is not");
            Err(vec![late])
        })
    }
}

impl std::fmt::Debug for ValueSchema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ValueSchema").field(&self.0.schema).finish()
    }
}
