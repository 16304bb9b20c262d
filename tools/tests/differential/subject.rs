//! An argument type with its tool and its references.

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde_json::Value;
use tools::handler::typed;
use tools::{
    Arguments, Catalog, Effects, ErrorCode, Host, JsonSchema, Tool, ToolContext, schema_of,
};

use crate::case::Case;
use crate::intended::{Facts, Intended};
use crate::strict::Strict;

/// Counts of outcomes. Each text counts twice: as text and as its value.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) texts: usize,
    pub(crate) cases: usize,
    /// Calls that ran.
    pub(crate) ran: usize,
    /// Arguments that the validator refuses.
    pub(crate) invalid: usize,
    /// Arguments that the validator accepts and serde refuses.
    pub(crate) misfit: usize,
    /// Cases with an intended difference.
    pub(crate) intended: usize,
}

/// A type of arguments.
pub(crate) struct Subject {
    name: &'static str,
    seeds: Vec<Value>,
    catalog: Catalog,
    validator: jsonschema::Validator,
    of_text: fn(&str) -> Option<String>,
    of_value: fn(Value) -> Option<String>,
    /// The intended differences that the type has.
    pub(crate) intended: &'static [Intended],
}

impl Subject {
    /// Creates a subject from valid arguments.
    pub(crate) fn new<T>(seeds: &[&str], intended: &'static [Intended]) -> Self
    where
        T: DeserializeOwned + JsonSchema + Debug + Send + 'static,
    {
        let seeds: Vec<Value> = seeds
            .iter()
            .map(|seed| serde_json::from_str(seed).unwrap())
            .collect();
        let schema = schema_of::<T>();
        let tool = Tool::new("take", "Takes arguments.", schema.clone())
            .unwrap()
            .with_effects(Effects::Pure);
        let mut catalog = Catalog::new();
        let shown = async |_: ToolContext, arguments: T| Ok::<_, String>(format!("{arguments:?}"));
        catalog.register(tool, typed(shown)).unwrap();
        let validator = jsonschema::options()
            .should_validate_formats(false)
            .build(&schema)
            .unwrap();
        let name = std::any::type_name::<T>();
        assert!(
            seeds.iter().all(|seed| validator.is_valid(seed)),
            "the seeds of {name} are valid"
        );
        Self {
            name,
            seeds,
            catalog,
            validator,
            of_text: |text| {
                serde_json::from_str::<T>(text)
                    .ok()
                    .map(|arguments| format!("{arguments:?}"))
            },
            of_value: |value| {
                serde_json::from_value::<T>(value)
                    .ok()
                    .map(|arguments| format!("{arguments:?}"))
            },
            intended,
        }
    }

    pub(crate) fn seeds(&self) -> &[Value] {
        &self.seeds
    }

    /// Calls the tool with a text and with its value, and compares both outcomes with the references.
    ///
    /// # Panics
    /// Panics at a difference that is not intended.
    pub(crate) async fn judge(&self, case: &Case, tally: &mut Tally) {
        tally.texts += 1;
        let Case {
            text,
            with_integers,
        } = case;
        let value = serde_json::from_str::<Value>(text)
            .ok()
            .filter(Value::is_object);
        let is_strict = serde_json::from_str::<Strict>(text).is_ok();
        let valid = value
            .as_ref()
            .is_some_and(|value| self.validator.is_valid(value));
        let ran = self.call(&**text).await;
        let mut facts = Facts::of_text(text, value.as_ref(), is_strict);
        facts.with_integers = (self.of_text)(with_integers);
        self.compare(
            &Form {
                case,
                name: "text",
                valid,
                expected: (self.of_text)(text),
                ran,
                facts,
            },
            tally,
        );

        let Some(value) = value else { return };
        let ran = self.call(value.clone()).await;
        let mut facts = Facts::of_value(&value);
        facts.with_integers = serde_json::from_str(with_integers)
            .ok()
            .and_then(self.of_value);
        self.compare(
            &Form {
                case,
                name: "value",
                valid,
                expected: (self.of_value)(value),
                ran,
                facts,
            },
            tally,
        );
    }

    /// Returns the arguments that the tool was given, or `None` if it was refused.
    async fn call(&self, arguments: impl Into<Arguments>) -> Option<String> {
        match self.catalog.execute(&Host::new(), "take", arguments).await {
            Ok(result) => Some(result.to_text()),
            Err(error) if error.code() == ErrorCode::InvalidArguments => None,
            Err(error) => panic!("{}: {error}", self.name),
        }
    }

    fn compare(&self, form: &Form<'_>, tally: &mut Tally) {
        let Form {
            case,
            name,
            valid,
            expected,
            ran,
            facts,
        } = form;
        tally.cases += 1;
        tally.ran += usize::from(ran.is_some());
        tally.invalid += usize::from(!valid);
        tally.misfit += usize::from(*valid && expected.is_none());
        let message = format!(
            "{} as {name} of {}: serde gives {expected:?}, the tool {ran:?}",
            self.name, case.text
        );
        // A note tells of the values that had one reading.
        let is_converted = ran.as_ref().is_some_and(|ran| ran.contains("\nnote: "));
        assert!(
            ran.is_none() || *valid || is_converted,
            "a call ran that the validator refuses: {message}"
        );
        if *valid && expected != ran {
            let mut kinds = Intended::ALWAYS.iter().chain(self.intended);
            assert!(
                kinds.any(|kind| kind.explains(facts, expected.as_deref(), ran.as_deref())),
                "{message}"
            );
            tally.intended += 1;
        }
    }
}

/// A case in one of its two forms, with its outcome.
struct Form<'a> {
    case: &'a Case,
    name: &'a str,
    valid: bool,
    expected: Option<String>,
    ran: Option<String>,
    facts: Facts,
}
