//! The known models: their limits, and the options that they take.

use std::sync::LazyLock;

use agent::ReasoningEffort;
use serde::Deserialize;

use crate::api::Api;
use crate::service::Service;

/// The file of models, which names its sources. In each list, the first entry that a model's name begins with counts.
#[derive(Debug, Default, Deserialize)]
struct KnownModels {
    limits: Vec<Limits>,
    /// The words in the names of variants with other limits than the model that they are named after.
    variants: Vec<String>,
    options: Vec<ModelFacts>,
}

/// The limits of a model, in tokens.
#[derive(Debug, Deserialize)]
struct Limits {
    model: String,
    context: Context,
    /// The most tokens of a turn.
    output: u64,
}

/// The most tokens of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Context {
    /// A request and its turn share these tokens. A service that is told an output limit may count it as a part of the request.
    Shared(u64),
    /// A request alone may have these tokens, whatever its output limit is.
    Input(u64),
}

/// The options that the models of a service take whose names begin so.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ModelFacts {
    service: String,
    model: String,
    /// False if the model cannot reason.
    #[serde(default = "yes")]
    pub(crate) reasons: bool,
    /// The levels of reasoning. `None` if there are none, or if they are unknown.
    pub(crate) efforts: Option<Vec<String>>,
    /// True if the model takes a number of tokens for reasoning.
    #[serde(default)]
    pub(crate) budget: bool,
    /// False if reasoning cannot be turned off.
    #[serde(default = "yes")]
    pub(crate) off: bool,
    /// The word of Anthropic that turns it off.
    pub(crate) off_word: Option<String>,
    /// The field that turns it off, if it is not that of the service.
    pub(crate) off_field: Option<String>,
    /// True if the model reasons unless it is told otherwise.
    #[serde(default)]
    pub(crate) is_on: bool,
    /// True if the model of Anthropic decides how long it reasons.
    #[serde(default)]
    pub(crate) is_adaptive: bool,
    /// True if the thoughts of the model belong to one system text and one set of tools.
    #[serde(default)]
    pub(crate) binds_context: bool,
    #[serde(default)]
    pub(crate) temperature: Temperature,
    #[serde(default = "yes")]
    pub(crate) images: bool,
}

/// The cases in which a model takes a temperature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Temperature {
    #[default]
    Always,
    WithoutReasoning,
    Never,
}

fn yes() -> bool {
    true
}

static MODELS: LazyLock<KnownModels> = LazyLock::new(|| {
    // A test reads the file.
    serde_json::from_str(include_str!("models.json")).unwrap_or_default()
});

/// The most tokens of a turn of an unknown model. Services that proxy other models refuse a higher limit.
const UNKNOWN_OUTPUT: u64 = 8192;

/// Returns the context of a model. Returns `None` if it is unknown.
pub(crate) fn context(model: &str) -> Option<Context> {
    limits(model).map(|limits| limits.context)
}

/// Returns the most tokens of a turn of the model.
pub(crate) fn output_limit(model: &str) -> u64 {
    limits(model).map_or(UNKNOWN_OUTPUT, |limits| limits.output)
}

fn limits(model: &str) -> Option<&'static Limits> {
    let name = plain_name(model);
    let mut known = MODELS.limits.iter();
    let found = known.find(|limits| name.starts_with(&limits.model))?;
    let is_variant = MODELS.variants.iter().any(|variant| name.contains(variant));
    (!is_variant).then_some(found)
}

/// Returns the name of a model without what gateways add. They put a vendor before it, such as `openai/` or `eu.anthropic.`, and write
/// `claude-sonnet-4.5`.
fn plain_name(model: &str) -> String {
    let name = model.rsplit('/').next().unwrap_or(model);
    name.find("claude-")
        .map_or_else(|| name.to_owned(), |at| name[at..].replace('.', "-"))
}

impl ModelFacts {
    /// Returns the facts about a model. Returns `None` if it is unknown.
    pub(crate) fn find(api: Api, service: &Service, model: &str) -> Option<&'static Self> {
        let service = match api {
            Api::Anthropic | Api::Gemini => api.name(),
            Api::Ollama => return None,
            _ if service.name == "azure.openai" => "openai",
            _ => &service.name,
        };
        let names = [model.to_lowercase(), plain_name(model).to_lowercase()];
        MODELS.options.iter().find(|facts| {
            facts.service == service && names.iter().any(|name| name.starts_with(&facts.model))
        })
    }

    /// Returns the facts about a model of OpenAI, which gateways serve too.
    pub(crate) fn of_openai(model: &str) -> Option<&'static Self> {
        Self::find(Api::OpenAi, Service::openai(), model)
    }

    /// Returns true if the model has this level of reasoning.
    pub(crate) fn has_effort(&self, effort: ReasoningEffort) -> bool {
        let mut efforts = self.efforts.iter().flatten();
        efforts.any(|level| level == effort.name())
    }
}

/// Returns true if a model of OpenAI reasons, also a later one than the known.
pub(crate) fn is_reasoning_model_of_openai(model: &str) -> bool {
    let starts_with_digit = |text: &str, least: char| {
        text.chars()
            .next()
            .is_some_and(|c| c.is_ascii_digit() && c >= least)
    };
    match ModelFacts::of_openai(model) {
        Some(facts) => facts.reasons,
        None => {
            let of_letter = model
                .strip_prefix('o')
                .is_some_and(|rest| starts_with_digit(rest, '1'));
            of_letter
                || model
                    .strip_prefix("gpt-")
                    .is_some_and(|rest| starts_with_digit(rest, '5'))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Context::{Input, Shared};
    use super::*;

    fn known(model: &str) -> Option<(Context, u64)> {
        limits(model).map(|limits| (limits.context, limits.output))
    }

    #[test]
    fn the_file_of_models_is_read_and_no_entry_hides_a_later_one() {
        let models: KnownModels = serde_json::from_str(include_str!("models.json")).unwrap();
        let names = models.limits.iter().map(|limits| ("", &limits.model));
        let options = models.options.iter();
        let names = names.chain(options.map(|facts| (facts.service.as_str(), &facts.model)));
        let names: Vec<_> = names.collect();
        for (position, (service, later)) in names.iter().enumerate() {
            let mut before = names[..position]
                .iter()
                .filter(|(other, _)| other == service);
            assert!(
                !before.any(|(_, before)| later.starts_with(before.as_str())),
                "{later}"
            );
        }
        let mut levels = models
            .options
            .iter()
            .flat_map(|facts| facts.efforts.iter().flatten());
        assert!(levels.all(|level| level.parse::<ReasoningEffort>().is_ok()));
    }

    #[test]
    fn the_limits_of_a_model_are_known_by_the_names_that_gateways_give_it() {
        for name in [
            "claude-sonnet-4-5",
            "claude-sonnet-4-5-20250929",
            "anthropic/claude-sonnet-4.5",
            "eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "publishers/anthropic/models/claude-sonnet-4-5@20250929",
        ] {
            assert_eq!(known(name), Some((Shared(200_000), 64_000)), "{name}");
        }
        assert_eq!(
            known("anthropic/claude-opus-4.6"),
            Some((Shared(1_000_000), 128_000))
        );
        assert_eq!(known("openai/gpt-4o-mini"), Some((Shared(128_000), 16_384)));
        assert_eq!(
            known("google/gemini-2.5-flash"),
            Some((Input(1_048_576), 65_536))
        );
    }

    #[test]
    fn the_limits_of_other_models_are_unknown() {
        for name in [
            "qwen3",
            "claude-test",
            "gemini-2.5-flash-image",
            "gpt-4o-realtime-preview",
            "grok-4",
            "o5",
        ] {
            assert_eq!(
                (known(name), output_limit(name)),
                (None, UNKNOWN_OUTPUT),
                "{name}"
            );
        }
    }

    #[test]
    fn a_model_is_known_by_the_names_of_gateways() {
        let facts = |model| ModelFacts::find(Api::Anthropic, Service::openai(), model);
        assert!(facts("eu.anthropic.claude-sonnet-4-5-v1:0").unwrap().budget);
        assert!(facts("anthropic/claude-opus-4.6").unwrap().is_adaptive);
        assert!(facts("glm-5").is_none());
        assert!(ModelFacts::of_openai("o3").is_some_and(|facts| !facts.off));
    }

    #[test]
    fn later_models_of_openai_reason() {
        for model in ["gpt-5.1", "gpt-7", "o3", "o5-mini"] {
            assert!(is_reasoning_model_of_openai(model), "{model}");
        }
        for model in ["gpt-4o", "gpt-4.1", "gpt-oss-20b", "opus", "qwen3", "olmo"] {
            assert!(!is_reasoning_model_of_openai(model), "{model}");
        }
    }
}
