//! [`ModelFacts`]: the options that known models take.

use std::sync::LazyLock;

use agent::ReasoningEffort;
use serde::Deserialize;

use crate::api::Api;
use crate::model_table::plain_name;
use crate::service::Service;

/// The facts about the models whose name begins so. The file is reduced from the tables of rig-core 0.44 and models.dev (both MIT). An
/// entry precedes those that it begins with.
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

static FACTS: LazyLock<Vec<ModelFacts>> = LazyLock::new(|| {
    // A test reads the file.
    serde_json::from_str(include_str!("model_facts.json")).unwrap_or_default()
});

impl ModelFacts {
    /// Returns the facts about a model. Returns `None` if it is unknown.
    pub(crate) fn find(api: Api, service: &Service, model: &str) -> Option<&'static Self> {
        let service = match api {
            Api::Anthropic | Api::Gemini => api.name(),
            Api::Ollama => return None,
            // Azure serves OpenAI's models under their names.
            _ if service.name == "azure.openai" => "openai",
            _ => &service.name,
        };
        let names = [model.to_lowercase(), plain_name(model).to_lowercase()];
        FACTS.iter().find(|facts| {
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
    let is_from = |family: &str, least: char| {
        let version = model.strip_prefix(family);
        version.is_some_and(|version| version.starts_with(|c: char| (least..='9').contains(&c)))
    };
    match ModelFacts::of_openai(model) {
        Some(facts) => facts.reasons,
        // A new model of these families would else get a field that it refuses until the table knows it.
        None => is_from("o", '1') || is_from("gpt-", '5'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_models_is_read_and_no_entry_hides_a_later_one() {
        let facts: Vec<ModelFacts> =
            serde_json::from_str(include_str!("model_facts.json")).unwrap();
        for (position, later) in facts.iter().enumerate() {
            let hides = |before: &ModelFacts| {
                before.service == later.service && later.model.starts_with(&before.model)
            };
            assert!(!facts[..position].iter().any(hides), "{}", later.model);
            let levels = later.efforts.iter().flatten();
            assert!(
                levels
                    .into_iter()
                    .all(|level| level.parse::<ReasoningEffort>().is_ok())
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
