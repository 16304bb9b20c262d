//! The settings of answers that do not depend on the API.

use agent::provider::{GenerationOptions, ReasoningEffort, ToolChoice};
use agent::{ProviderError, Request, WireToolSet};
use serde_json::{Map, Value};
use tools::protocol::Role;

use crate::api::Api;
use crate::model_facts::{ModelFacts, Temperature};
use crate::service::Service;

/// The settings of a model, with the facts about it.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) model: &'a str,
    pub(crate) service: &'static Service,
    pub(crate) facts: Option<&'static ModelFacts>,
    /// The most tokens of a turn of the model.
    pub(crate) output_limit: u64,
    pub(crate) generation: &'a GenerationOptions,
}

/// An option that the service or the model does not take.
#[derive(Debug)]
pub(crate) struct Unsupported {
    option: &'static str,
    reason: String,
}

pub(crate) const REASONING: &str = "generation.reasoning_effort";
const TEMPERATURE: &str = "generation.temperature";
pub(crate) const TOOL_CHOICE: &str = "generation.tool_choice";

/// Returns the error of an option, for this reason.
pub(crate) fn refused<T>(
    option: &'static str,
    reason: impl Into<String>,
) -> Result<T, Unsupported> {
    let reason = reason.into();
    Err(Unsupported { option, reason })
}

impl Unsupported {
    /// Returns the error, which names the option as [`ProviderOptions`](agent::ProviderOptions) and the settings of the program do.
    pub(crate) fn error(self, api: Api, model: &str) -> ProviderError {
        api.refuse(format!(
            "{} has no effect on the model {model}: {}; remove the option, or choose another model",
            self.option, self.reason
        ))
    }
}

impl Asked<'_> {
    /// Returns the effort, if the model has it. Returns `None` if none is asked for, or if a model that cannot reason is to be silent.
    pub(crate) fn effort(&self) -> Result<Option<ReasoningEffort>, Unsupported> {
        let facts = self.facts;
        match (self.generation.reasoning_effort, facts) {
            (None, _) => Ok(None),
            // A model without reasoning does what is asked, and would refuse the field.
            (Some(ReasoningEffort::Off), Some(facts)) if !facts.reasons => Ok(None),
            (Some(_), Some(facts)) if !facts.reasons => refused(REASONING, "it does not reason"),
            (Some(ReasoningEffort::Off), Some(facts)) if !facts.off => {
                refused(REASONING, "its reasoning cannot be turned off")
            }
            (Some(ReasoningEffort::Off), _) => Ok(Some(ReasoningEffort::Off)),
            (Some(effort), Some(facts)) if facts.efforts.is_some() && !facts.has_effort(effort) => {
                refused(REASONING, format!("it has no level {effort} of reasoning"))
            }
            (Some(effort), _) => Ok(Some(effort)),
        }
    }

    /// Returns the temperature, if the model takes one.
    pub(crate) fn temperature(&self) -> Result<Option<Value>, Unsupported> {
        let Some(temperature) = self.generation.temperature else {
            return Ok(None);
        };
        let reasons = match self.generation.reasoning_effort {
            Some(effort) => effort != ReasoningEffort::Off,
            // Without a level, the model decides: one that reasons by itself refuses a temperature all the same.
            None => self.facts.is_some_and(|facts| facts.is_on),
        };
        match self.facts.map(|facts| facts.temperature) {
            Some(Temperature::Never) => refused(TEMPERATURE, "it takes none"),
            Some(Temperature::WithoutReasoning) if reasons => {
                refused(TEMPERATURE, "it takes one only without reasoning")
            }
            _ => Ok(Some(temperature.into())),
        }
    }

    /// Returns the fields that every request has: the model and the temperature.
    pub(crate) fn fields(&self) -> Result<Map<String, Value>, Unsupported> {
        let model = Some(("model".to_owned(), self.model.into()));
        let temperature = self.temperature()?;
        let temperature = temperature.map(|value| ("temperature".to_owned(), value));
        Ok(model.into_iter().chain(temperature).collect())
    }
}

/// Returns an error if the API has no such setting.
pub(crate) fn check(api: Api, generation: &GenerationOptions) -> Result<(), ProviderError> {
    let temperature = generation.temperature;
    let choice = &generation.tool_choice;
    let is_forced = choice
        .as_ref()
        .is_some_and(|choice| *choice != ToolChoice::Auto);
    Err(api.refuse(
        if temperature.is_some_and(|temperature| !(0.0..=2.0).contains(&temperature)) {
            "its temperature is not from 0 to 2; choose one of this range"
        } else if generation.max_output_tokens == Some(0) {
            "its output limit is 0 tokens; choose at least 1, or remove the limit"
        } else if api == Api::Ollama && is_forced {
            "its models choose their calls freely; remove the tool choice, or select fewer tools"
        } else {
            return Ok(());
        },
    ))
}

/// The choice of a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ForcedCall {
    /// No tool is called.
    None,
    /// Any tool is called.
    Any,
    /// The tool of this wire name is called.
    Tool(String),
}

/// Returns the choice for this request. A forced call is for the first turn after a user's prompt only: no run would end otherwise, and
/// sub-agents have other tools. A summary needs none.
pub(crate) fn forced_call(
    api: Api,
    choice: Option<&ToolChoice>,
    request: &Request<'_>,
    tools: &WireToolSet,
) -> Result<Option<ForcedCall>, ProviderError> {
    // Services refuse a choice among no tools.
    if tools.list().len() == 0 {
        return Ok(None);
    }
    let is_prompt = request.agent.is_none() && !request.is_summary;
    let is_first = is_prompt
        && request
            .messages
            .last()
            .is_some_and(|last| last.role == Role::User);
    let name = match choice {
        // This choice ends every run, so it holds for each turn.
        Some(ToolChoice::None) => return Ok(Some(ForcedCall::None)),
        Some(ToolChoice::Required) if is_first => return Ok(Some(ForcedCall::Any)),
        Some(ToolChoice::Tool(name)) if is_first => name,
        _ => return Ok(None),
    };
    if tools.entries().any(|entry| entry.name().as_str() == name) {
        return Ok(Some(ForcedCall::Tool(tools.name(name).into_owned())));
    }
    let found = request.tools.get(name);
    let is_hidden = found.is_ok_and(|entry| entry.name().as_str() == name);
    let problem = if is_hidden {
        "among the tools that requests of this session offer; let the session offer it"
    } else {
        "a tool of this session; select the tool"
    };
    Err(api.refuse(format!(
        "its tool choice {name} is not {problem}, or choose another"
    )))
}
