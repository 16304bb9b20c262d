//! [`extract`]: a run whose answer is a value of a type.

use serde::de::DeserializeOwned;
use tools::{JsonSchema, SchemaError, ValueSchema, schema_of};

use crate::json_answer::{bound_prompt, checked};
use crate::{Driver, DriverError, Outcome, Session};

/// Runs a prompt until the model's answer is a value of the type, and returns the value.
///
/// The prompt asks for JSON that matches the [schema](schema_of) of the type. An answer that does not match is sent back with its
/// violations, and the run goes on, within its budget. The model may call tools before it answers.
///
/// ```
/// use std::sync::Arc;
///
/// use agent::{Driver, Scripted, Selection, Session};
/// use serde::Deserialize;
/// use tools::{JsonSchema, ToolContext};
///
/// #[derive(Deserialize, JsonSchema)]
/// # #[schemars(crate = "tools::schemars")]
/// struct Invoice {
///     /// The number on the invoice.
///     number: String,
///     cents: u32,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let script = r#"[{"text": "It is number 7."}, {"text": "{\"number\": \"7\", \"cents\": 1250}"}]"#;
/// let driver = Driver::new(Arc::new(Scripted::from_json(script)?));
/// let mut session = Session::new([], Selection::new(), ToolContext::new());
/// let invoice = agent::extract::<Invoice>(&driver, &mut session, "Read this invoice: No. 7, 12.50 EUR").await?;
/// assert_eq!((invoice.number.as_str(), invoice.cents), ("7", 1250));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// - Returns [`ExtractError::Schema`] if the type has no usable schema.
/// - Returns [`ExtractError::Driver`] if the run fails.
/// - Returns [`ExtractError::NoValue`] if the run ends without such an answer, for example because its budget is used up.
pub async fn extract<T: DeserializeOwned + JsonSchema + Send>(
    driver: &Driver,
    session: &mut Session,
    prompt: impl Into<String>,
) -> Result<T, ExtractError> {
    let schema = ValueSchema::new(schema_of::<T>())?;
    let mut value = None;
    let mut check = |text: &str| match read::<T>(text, &schema) {
        Ok(read) => {
            value = Some(read);
            Ok(())
        }
        Err(problem) => Err(problem),
    };
    let prompt = bound_prompt(&prompt.into(), &schema);
    let summary = driver.run_checked(session, prompt, &mut check).await?;
    value.ok_or(ExtractError::NoValue { outcome: summary.outcome })
}

/// An error of [`extract`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExtractError {
    /// The schema of the type cannot be checked.
    #[error("the type has no usable schema: {0}; simplify the type")]
    Schema(#[from] SchemaError),
    /// The run failed.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// The run ended without an answer of the type.
    #[error("the run ended without an answer of the type: {}", outcome.reason())]
    NoValue {
        /// The way in which the run ended.
        outcome: Outcome,
    },
}

/// Returns the value of an answer, or the problem with it.
fn read<T: DeserializeOwned>(text: &str, schema: &ValueSchema) -> Result<T, String> {
    let json = checked(text, schema)?;
    json.deserialize().map_err(|error| format!("- {error}"))
}
