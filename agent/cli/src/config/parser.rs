//! Parsers of the program's own values.

use std::fmt;

use agent::{Cost, ModelChoice, ReasoningEffort, Selection};
use clap::ValueEnum;
use clap::builder::PossibleValue;
use host::settings::Base;

pub(super) fn cost(text: &str, _: Base<'_>) -> Result<Cost, String> {
    text.parse()
        .map_err(|error| format!("is not a cost: {error}"))
}

pub(super) fn glob(text: &str, _: Base<'_>) -> Result<String, String> {
    Selection::parse([text])
        .map(|_| text.to_owned())
        .map_err(|error| format!("is invalid: {error}"))
}

pub(super) fn model_name(text: &str, _: Base<'_>) -> Result<String, String> {
    let choice = ModelChoice::from_text(text.trim());
    let named = choice.filter(|choice| !choice.provider.is_empty() && !choice.model.is_empty());
    named
        .map(|choice| choice.to_string())
        .ok_or_else(|| "must be provider/model, such as openai/gpt-5.1".to_owned())
}

pub(super) fn degree(text: &str, _: Base<'_>) -> Result<f64, String> {
    let number = text.parse().ok();
    let number = number.filter(|number| (0.0..=2.0).contains(number));
    number.ok_or_else(|| "must be a number from 0 to 2".to_owned())
}

pub(super) fn effort(text: &str, _: Base<'_>) -> Result<ReasoningEffort, String> {
    text.parse().map_err(|error| format!("is invalid: {error}"))
}

pub(super) fn disclosure(text: &str, _: Base<'_>) -> Result<DisclosureMode, String> {
    ValueEnum::from_str(text, false).map_err(|_| "must be all, auto or search".to_owned())
}

/// The value of the key `disclosure.mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, ValueEnum)]
pub(crate) enum DisclosureMode {
    All,
    Auto,
    Search,
}

impl fmt::Display for DisclosureMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.to_possible_value();
        f.pad(value.as_ref().map_or("", PossibleValue::get_name))
    }
}
