//! [`ValueSchema`]: a JSON Schema for values other than arguments.

use std::sync::Arc;
use std::time::Duration;

use protocol::Json;
use serde_json::Value;
use tokio::time::Instant;

use super::{SchemaError, Validator, Violation, budget, dialect, with_deadline};

/// The time limit for checking one value.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

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
        let late = || Violation::whole("a value that is quick to check", "one that is not");
        let checked = with_deadline(Instant::now() + CHECK_TIMEOUT, || {
            validator.check(schema, value.node(), None)
        });
        checked.unwrap_or_else(|| Err(vec![late()]))
    }
}

impl std::fmt::Debug for ValueSchema {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ValueSchema").field(&self.0.schema).finish()
    }
}
