//! [`Profile`]: the facts about a model and its service that decide how a request is written.

use std::borrow::Cow;

use agent::WireToolSet;
use agent::provider::GenerationOptions;
use serde_json::{Map, Value};

use crate::api::Api;
use crate::service::Service;
use crate::settings::ForcedCall;

/// The facts that decide how a request is written.
pub(crate) struct Profile {
    pub(crate) api: Api,
    pub(crate) service: &'static Service,
    pub(crate) name: String,
    /// The most tokens of a turn of the model.
    pub(crate) output_limit: u64,
    /// True if the model takes images.
    pub(crate) images: bool,
    pub(crate) generation: GenerationOptions,
    /// True to ask Anthropic to cache the conversation.
    pub(crate) caching: bool,
    /// True if the model refuses a prompt right after results.
    pub(crate) separates_results: bool,
    /// The members of `generationConfig` in Gemini, and of `options` in Ollama.
    pub(crate) generation_config: Map<String, Value>,
}

/// The parts of a request that differ from one to the next.
pub(crate) struct RequestParts<'a> {
    pub(crate) tools: &'a WireToolSet,
    pub(crate) forced_call: Option<ForcedCall>,
    pub(crate) output_limit: Option<u64>,
    pub(crate) streaming: bool,
    /// The texts of the system.
    pub(crate) system: Vec<&'a str>,
}

impl Profile {
    /// Returns the member of thoughts that each message of the model has to have.
    pub(crate) fn reasoning_field(&self) -> Option<&str> {
        // https://platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model: also where others serve the model.
        let of_model = self.name.contains("kimi-k3").then_some("reasoning_content");
        self.service.reasoning_field.as_deref().or(of_model)
    }

    /// Returns the id of a call as the service takes it. A model of another service may have given it.
    pub(crate) fn call_id<'a>(&self, id: &'a str) -> Cow<'a, str> {
        let (most, is_plain) = match self.api {
            // OpenAI refuses ids of more than 40 characters in chat completions.
            Api::OpenAi if self.service.name == "openai" => (40, false),
            Api::OpenAi | Api::Ollama => return Cow::Borrowed(id),
            _ => (64, true),
        };
        let is_legal = |c: char| !is_plain || c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if id.len() <= most && id.chars().all(is_legal) {
            return Cow::Borrowed(id);
        }
        let mut plain = id.replace(|c: char| !c.is_ascii() || !is_legal(c), "_");
        if plain.len() > most {
            plain.truncate(most - 9);
            // Two long ids may begin with the same characters. The digest keeps a call and its result together and two calls apart.
            plain += &format!("_{:08x}", digest(id));
        }
        plain.into()
    }
}

/// The beginnings of the names of Mistral's models, which gateways serve too.
const MISTRAL: [&str; 7] = [
    "codestral",
    "devstral",
    "magistral",
    "ministral",
    "mistral",
    "open-mistral",
    "pixtral",
];

/// Returns true if the model refuses a user's message right after results, as Mistral's do ("Unexpected role 'user' after role 'tool'",
/// <https://github.com/BerriAI/litellm/issues/17761>).
pub(crate) fn is_mistral(service: &Service, model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model).to_lowercase();
    service.name == "mistral" || MISTRAL.iter().any(|prefix| name.starts_with(prefix))
}

/// Returns a digest of a text (FNV-1a).
fn digest(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}
