//! OpenTelemetry's names for the attributes of runs and model requests.
//!
//! They follow the semantic conventions for generative AI, version 1.41.0, sections "Invoke agent span" and "Inference" (status:
//! development). The names that calls have too are in [`tools::call::convention`].

/// The operation of a run, and the name of its span before that of the agent.
pub(super) const INVOKE_AGENT: &str = "invoke_agent";
/// The operation of a model request, and the name of its span before that of the model.
pub(super) const CHAT: &str = "chat";
/// The value of the span's kind for a request to a service.
pub(super) const CLIENT: &str = "client";

/// The name of the agent, for a sub-agent its path.
pub(super) const AGENT_NAME: &str = "gen_ai.agent.name";
/// The service.
pub(super) const PROVIDER_NAME: &str = "gen_ai.provider.name";
/// The configured model.
pub(super) const REQUEST_MODEL: &str = "gen_ai.request.model";
/// The model that answered, as the service names it.
pub(super) const RESPONSE_MODEL: &str = "gen_ai.response.model";
/// The host of the service.
pub(super) const SERVER_ADDRESS: &str = "server.address";
/// The port of the service.
pub(super) const SERVER_PORT: &str = "server.port";
/// The configured limit of the turn.
pub(super) const MAX_TOKENS: &str = "gen_ai.request.max_tokens";
/// The configured temperature.
pub(super) const TEMPERATURE: &str = "gen_ai.request.temperature";
/// True for a request that asks for a summary of the conversation. The conventions have no attribute for it.
pub(super) const SUMMARY: &str = "toolcrib.summary";
/// The id of the response, as the service gave it.
pub(super) const RESPONSE_ID: &str = "gen_ai.response.id";
/// The reasons that turns ended, as a JSON array: `tracing` has no arrays.
pub(super) const FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
/// The tokens read, those in a cache included.
pub(super) const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
/// The tokens among those read that were in a cache.
pub(super) const CACHED_INPUT_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
/// The tokens among those read that the service wrote to its cache.
pub(super) const CACHE_WRITE_TOKENS: &str = "gen_ai.usage.cache_creation.input_tokens";
/// The tokens written.
pub(super) const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
/// The system text as JSON, recorded only on request.
pub(super) const SYSTEM_INSTRUCTIONS: &str = "gen_ai.system_instructions";
/// The conversation as JSON, recorded only on request.
pub(super) const INPUT_MESSAGES: &str = "gen_ai.input.messages";
/// The turn as JSON, recorded only on request.
pub(super) const OUTPUT_MESSAGES: &str = "gen_ai.output.messages";
