//! Applies the settings of a model's answers to rig's request.

use agent::provider::{GenerationOptions, ReasoningEffort, ToolChoice};
use agent::{ProviderError, Request, WireToolSet};
use rig_core::catalog::Catalog;
use rig_core::completion::{CompletionRequest, Effort, Reasoning, UnsupportedOption};
use rig_core::message::{ToolChoice as RigChoice, ToolName as RigName};
use rig_core::operation::Completion;
use rig_core::{DynModel, ProviderError as RigError};
use serde_json::json;
use tools::protocol::Role;

use super::Api;

/// Returns an error if the API has no such setting.
pub(super) fn check(api: Api, generation: &GenerationOptions) -> Result<(), ProviderError> {
    let refused = |reason: &str| {
        Err(ProviderError::Options {
            provider: api.name().to_owned(),
            reason: reason.to_owned(),
        })
    };
    match generation {
        GenerationOptions {
            temperature: Some(temperature),
            ..
        } if !(0.0..=2.0).contains(temperature) => {
            refused("its temperature is not from 0 to 2; choose one of this range")
        }
        GenerationOptions {
            max_output_tokens: Some(0),
            ..
        } => refused("its output limit is 0 tokens; choose at least 1, or remove the limit"),
        GenerationOptions {
            tool_choice: Some(choice),
            ..
        } if api == Api::Ollama && *choice != ToolChoice::Auto => refused(
            "its models choose their calls freely; remove the tool choice, or select fewer tools",
        ),
        _ => Ok(()),
    }
}

/// Returns an error if the service or the model will refuse one of the options each time. Encodes a request, which is not sent.
pub(super) fn check_model(
    api: Api,
    name: &str,
    model: &DynModel<Completion>,
    generation: &GenerationOptions,
) -> Result<(), ProviderError> {
    match model.stream(with_options(
        api,
        name,
        generation,
        CompletionRequest::new("Hello."),
    )) {
        Err(RigError::UnsupportedOption(option)) => Err(unsupported(api, &option)),
        // The first request has its own text and tools, so other errors may not apply to it.
        _ => Ok(()),
    }
}

/// Returns the error for an option that the service or the model does not take. It names the option as [`ProviderOptions`] and the
/// settings of the program do.
///
/// [`ProviderOptions`]: agent::ProviderOptions
pub(super) fn unsupported(api: Api, unsupported: &UnsupportedOption) -> ProviderError {
    let UnsupportedOption {
        option,
        model,
        reason,
        ..
    } = unsupported;
    let name = match &**option {
        "parallel_tool_calls" => "generation.parallel_calls",
        "reasoning" => "generation.reasoning_effort",
        "temperature" => "generation.temperature",
        other => other,
    };
    let reason = format!(
        "{name} has no effect on the model {model}: {reason}; remove the option, or choose another model"
    );
    ProviderError::Options {
        provider: api.name().to_owned(),
        reason,
    }
}

/// Sets what applies to this request. `model` is the service's name of it.
pub(super) fn apply(
    api: Api,
    model: &str,
    generation: &GenerationOptions,
    request: &Request<'_>,
    tools: &WireToolSet,
    mut completion: CompletionRequest,
) -> Result<CompletionRequest, ProviderError> {
    completion = with_options(api, model, generation, completion);
    completion.max_tokens = completion
        .max_tokens
        .map(|limit| limit.max(request.min_output_tokens.into()));
    let has_tools = tools.list().len() > 0;
    completion.tool_choice = match &generation.tool_choice {
        // Services refuse a choice among no tools.
        Some(choice) if has_tools && api != Api::Ollama => {
            tool_choice(api, choice, request, tools)?
        }
        _ => None,
    };
    if !has_tools {
        completion.options.parallel_tool_calls = None;
    }
    Ok(completion)
}

/// Adds the options that do not depend on the request.
fn with_options(
    api: Api,
    model: &str,
    generation: &GenerationOptions,
    mut completion: CompletionRequest,
) -> CompletionRequest {
    completion.max_tokens = generation.max_output_tokens.map(u64::from);
    completion.temperature = generation.temperature;
    completion.options.parallel_tool_calls = generation.parallel_calls;
    completion.options.reasoning = generation
        .reasoning_effort
        .map(|effort| reasoning(api, model, effort));
    completion
}

/// Returns the choice for this request. A forced call is for the first turn after a user's prompt only: no run would end otherwise, and
/// sub-agents have other tools. A summary needs none.
fn tool_choice(
    api: Api,
    choice: &ToolChoice,
    request: &Request<'_>,
    tools: &WireToolSet,
) -> Result<Option<RigChoice>, ProviderError> {
    let is_prompt = request.agent.is_none() && !request.is_summary;
    let is_first = is_prompt
        && request
            .messages
            .last()
            .is_some_and(|last| last.role == Role::User);
    Ok(match choice {
        ToolChoice::None => Some(RigChoice::None),
        ToolChoice::Required if is_first => Some(RigChoice::Required),
        ToolChoice::Tool(name) if is_first => {
            let is_there = tools.entries().any(|entry| entry.name().as_str() == name);
            let wire = RigName::new(tools.name(name)).ok().filter(|_| is_there);
            let is_hidden = request
                .tools
                .get(name)
                .is_ok_and(|entry| entry.name().as_str() == name);
            let problem = if is_hidden {
                "among the tools that requests of this session offer; let the session offer it"
            } else {
                "a tool of this session; select the tool"
            };
            let wire = wire.ok_or_else(|| ProviderError::Options {
                provider: api.name().to_owned(),
                reason: format!("its tool choice {name} is not {problem}, or choose another"),
            })?;
            Some(RigChoice::Specific {
                function_names: vec![wire],
            })
        }
        _ => None,
    })
}

/// Returns the effort as the model takes it: as a level, or as a number of tokens.
fn reasoning(api: Api, model: &str, effort: ReasoningEffort) -> Reasoning {
    let level = match effort {
        ReasoningEffort::Off => return Reasoning::Off,
        ReasoningEffort::Minimal => Effort::Minimal,
        ReasoningEffort::Low => Effort::Low,
        ReasoningEffort::Medium => Effort::Medium,
        ReasoningEffort::ExtraHigh => Effort::XHigh,
        ReasoningEffort::Max => Effort::Max,
        _ => Effort::High,
    };
    let known = match api {
        Api::Anthropic => Catalog::builtin().resolve(&format!("anthropic/{model}")),
        Api::Gemini => Catalog::builtin().resolve(&format!("gcp.gemini/{model}")),
        _ => None,
    };
    let takes_tokens = known
        .is_some_and(|known| known.reasoning.levels.is_empty() && known.reasoning.budget.is_some());
    match level {
        level if !takes_tokens => Reasoning::Effort(level),
        Effort::Minimal => Reasoning::Budget { tokens: 1024 },
        Effort::Low => Reasoning::Budget { tokens: 2048 },
        Effort::Medium => Reasoning::Budget { tokens: 8192 },
        Effort::High => Reasoning::Budget { tokens: 16_384 },
        _ => Reasoning::Budget { tokens: 24_576 },
    }
}

/// Returns the field that makes Anthropic cache the conversation. The markers on tools and system text do not cover it.
pub(super) fn cache_control() -> serde_json::Value {
    json!({"type": "ephemeral"})
}
