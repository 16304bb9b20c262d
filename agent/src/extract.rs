//! [`extract`] and [`extract_resumed`]: a run whose answer is a value of a type.

use serde::de::DeserializeOwned;
use tools::schema::{SchemaError, ValueSchema};
use tools::{JsonSchema, schema_of};

use crate::driver::{Driver, DriverError};
use crate::json_answer::{bound_prompt, parse_answer, repair_prompt};
use crate::prompt::Prompt;
use crate::provider::StopReason;
use crate::run::{Outcome, Run};
use crate::session::Session;

/// The request to answer again, after an answer that was cut off.
const SHORTER: &str = "Your answer was cut off, because it was too long. Answer again with the whole JSON alone, and shorter.";

/// Runs a prompt until the model's answer is a value of the type, and returns the value.
///
/// The prompt asks for JSON that matches the [schema](schema_of) of the type. An answer that does not match is sent back with its
/// violations, and the run goes on, within its budget. One that was cut off is asked for once more, shorter. The model may call tools
/// before it answers.
///
/// [`extract_resumed`] continues a run that ended without a value.
///
/// ```
/// use std::sync::Arc;
///
/// use agent::{Driver, Scripted, Selection, Session};
/// use serde::Deserialize;
/// use tools::{Host, JsonSchema};
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
/// let mut session = Session::new([], Selection::new(), Host::new());
/// let invoice = agent::extract::<Invoice>(&driver, &mut session, "Read this invoice: No. 7, 12.50 EUR").await?;
/// assert_eq!((invoice.number.as_str(), invoice.cents), ("7", 1250));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// - Returns [`ExtractError::Schema`] if the type has no usable schema.
/// - Returns [`ExtractError::Driver`] if the run fails.
/// - Returns [`ExtractError::TooLong`] if a second answer is cut off.
/// - Returns [`ExtractError::NoValue`] if the run ends without such an answer, for example because its budget is used up or a call waits
///   for an approval.
pub async fn extract<T: DeserializeOwned + JsonSchema + Send>(
    driver: &Driver,
    session: &mut Session,
    prompt: impl Into<Prompt>,
) -> Result<T, ExtractError> {
    let mut reader = AnswerReader::new()?;
    let prompt = prompt.into();
    let text = bound_prompt(&prompt.to_text(), &reader.schema);
    let prompt = prompt.with_text(text);
    let summary = driver
        .run_checked(session, prompt, &mut |text, stop| reader.check(text, stop))
        .await?;
    reader.into_value(summary.outcome)
}

/// Continues a run that [`extract`] began, until the model's answer is a value of the type, and returns the value.
///
/// The run is that of [`Session::waiting_run`], after the answers to its requests for approvals, or a
/// [stored](Session::stored_run) one. The value of a run that has its answer is returned without another turn.
///
/// # Errors
/// Returns the errors of [`extract`].
pub async fn extract_resumed<T: DeserializeOwned + JsonSchema + Send>(
    driver: &Driver,
    session: &mut Session,
    run: Run,
) -> Result<T, ExtractError> {
    let mut reader = AnswerReader::new()?;
    let summary = driver
        .resume_checked(session, run, &mut |text, stop| reader.check(text, stop))
        .await?;
    reader.into_value(summary.outcome)
}

/// An error of [`extract`] and [`extract_resumed`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExtractError {
    /// The schema of the type cannot be checked.
    #[error("the type has no usable schema: {0}; simplify the type")]
    Schema(#[from] SchemaError),
    /// The run failed.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// Two answers were cut off by the limit of their length.
    #[error(
        "the answers were cut off, because they were too long; raise the limit of output tokens, or ask for less"
    )]
    TooLong,
    /// The run ended without an answer of the type. [`extract_resumed`] continues it, for example after an approval.
    #[error("the run ended without an answer of the type: {}", outcome.reason())]
    NoValue {
        /// The way in which the run ended.
        outcome: Outcome,
    },
}

/// Reads the answers of a run until one is a value of the type.
struct AnswerReader<T> {
    schema: ValueSchema,
    value: Option<T>,
    /// True if an answer was cut off.
    is_cut: bool,
}

impl<T: DeserializeOwned + JsonSchema> AnswerReader<T> {
    fn new() -> Result<Self, SchemaError> {
        Ok(Self {
            schema: ValueSchema::new(schema_of::<T>())?,
            value: None,
            is_cut: false,
        })
    }

    /// Keeps the value of an answer, or returns the message that asks for another one. A second answer that was cut off is the last one.
    /// The message has the schema too, because a compaction keeps the last message of the user, and not the earlier prompt.
    fn check(&mut self, text: &str, stop: &StopReason) -> Option<String> {
        let request = match self.read(text) {
            Ok(value) => {
                self.value = Some(value);
                return None;
            }
            // A model that is cut off twice would be cut off again, and each answer is a step.
            Err(_) if *stop == StopReason::Length && std::mem::replace(&mut self.is_cut, true) => {
                return None;
            }
            Err(_) if *stop == StopReason::Length => SHORTER.to_owned(),
            Err(problem) => repair_prompt(&problem),
        };
        // The schema is repeated, because a compaction may have left the first prompt out.
        Some(bound_prompt(&request, &self.schema))
    }

    /// Returns the value of an answer, or the problem with it.
    fn read(&self, text: &str) -> Result<T, String> {
        parse_answer(text, &self.schema)?
            .deserialize()
            .map_err(|error| format!("- {error}"))
    }

    /// Returns the value, or the reason that the run ended without one.
    fn into_value(self, outcome: Outcome) -> Result<T, ExtractError> {
        match (self.value, outcome) {
            (Some(value), _) => Ok(value),
            (
                None,
                Outcome::Answer {
                    stop: StopReason::Length,
                    ..
                },
            ) => Err(ExtractError::TooLong),
            (None, outcome) => Err(ExtractError::NoValue { outcome }),
        }
    }
}
