//! [`Remote`]: models behind the HTTP APIs of services.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agent::provider::{ModelService, is_plain_url};
use agent::{
    Provider, ProviderError, ProviderInfo, ProviderOptions, ProviderSubmission, Request,
    RetryPolicy, TextSink, Turn, TurnFuture, WireOptions,
};
use tokio::sync::OnceCell;
use tools::source;

use crate::about::wire_options;
use crate::api::Api;
use crate::endpoint::Endpoint;
use crate::model::Model;
use crate::only_model::{ListedModel, only_model};
use crate::retry::retry;
use crate::unknown_model::learn;

/// A provider for a model behind an HTTP service.
///
/// ```no_run
/// use agent::ProviderOptions;
/// use agent_models::Remote;
///
/// let options = ProviderOptions {
///     model: Some("qwen3".to_owned()),
///     base_url: Some("http://localhost:8000/v1".to_owned()),
///     ..ProviderOptions::default()
/// };
/// let model = Remote::openai(&options)?;
/// # Ok::<(), agent::ProviderError>(())
/// ```
pub struct Remote {
    model: Model,
    wire: WireOptions,
    streaming: bool,
    retry_policy: RetryPolicy,
}

impl Remote {
    /// Creates a provider for OpenAI's chat completions, or for any service that implements them.
    ///
    /// - Without a [dialect](ProviderOptions::dialect), known services are recognised by the host of their URL.
    /// - The key defaults to the environment variable `OPENAI_API_KEY`, or to that of the known service. With a base URL, a missing
    ///   key is allowed.
    ///
    /// # Errors
    /// Returns [`ProviderError::Options`] if the model or the key is missing, the base URL is not plain, or an option does not exist.
    pub fn openai(options: &ProviderOptions) -> Result<Self, ProviderError> {
        Self::new(Api::OpenAi, options)
    }

    /// Creates a provider for OpenAI's Responses API, or for any service that implements it. The service stores no conversation.
    ///
    /// # Errors
    /// Returns the errors of [`openai`](Self::openai).
    pub fn openai_responses(options: &ProviderOptions) -> Result<Self, ProviderError> {
        Self::new(Api::OpenAiResponses, options)
    }

    /// Creates a provider for Anthropic, or for any service that implements its messages API.
    ///
    /// The key defaults to the environment variable `ANTHROPIC_API_KEY`. With a base URL, a missing key is allowed.
    ///
    /// # Errors
    /// Returns the errors of [`openai`](Self::openai).
    pub fn anthropic(options: &ProviderOptions) -> Result<Self, ProviderError> {
        Self::new(Api::Anthropic, options)
    }

    /// Creates a provider for Google's Gemini API. The key travels in a header, never in a URL.
    ///
    /// The key defaults to the environment variable `GEMINI_API_KEY`. With a base URL, a missing key is allowed.
    ///
    /// # Errors
    /// Returns the errors of [`openai`](Self::openai).
    pub fn gemini(options: &ProviderOptions) -> Result<Self, ProviderError> {
        Self::new(Api::Gemini, options)
    }

    /// Creates a provider for Ollama's own API, at `http://localhost:11434` unless the options say otherwise. It needs no key.
    ///
    /// # Errors
    /// Returns the errors of [`openai`](Self::openai).
    pub fn ollama(options: &ProviderOptions) -> Result<Self, ProviderError> {
        Self::new(Api::Ollama, options)
    }

    fn new(api: Api, options: &ProviderOptions) -> Result<Self, ProviderError> {
        if options
            .base_url
            .as_deref()
            .is_some_and(|url| !is_plain_url(url))
        {
            return Err(api.refuse(
                "its base URL is not plain; give http(s)://host/path, without a user, a query or a fragment",
            ));
        }
        let endpoint = Endpoint::new(api, options)?;
        let key = endpoint.key(options)?;
        let named = options.model.clone();
        let named = named.filter(|model| !model.trim().is_empty());
        let (name, listed) = match named {
            Some(name) => (name, None),
            // A public service lists many models, so only one at a URL of the user's is asked.
            None if options.base_url.is_some() || api == Api::Ollama => {
                let ListedModel { name, facts } = only_model(&endpoint, &key, options)?;
                (name, Some(facts))
            }
            None => {
                let example = api.default_model();
                let example = example.map(|model| format!(", such as {model}"));
                return Err(api.refuse(format!(
                    "the name of a model is missing; give one with --model or the setting `model`{}",
                    example.unwrap_or_default()
                )));
            }
        };
        let served = learn(&endpoint, &key, &name, options);
        let told = served.or(listed).unwrap_or_default();
        let mut model = Model::new(endpoint, &name, key, options, told)?;
        // The list does not tell a size that the server has made smaller, so the server is asked again after a refusal.
        model.served = served.map_or_else(OnceCell::new, |facts| OnceCell::from(Some(facts)));
        if let Some(tokens) = listed.and_then(|facts| facts.context) {
            model.info.context.learn(tokens);
        }
        Ok(Self {
            wire: wire_options(api, options),
            model,
            streaming: options.streaming.unwrap_or(true),
            retry_policy: options.retry_policy.unwrap_or_default(),
        })
    }
}

/// Returns the service that the options name. An unknown dialect counts as none: creating the provider tells of it.
fn service(api: Api, options: &ProviderOptions) -> Option<ModelService> {
    let usual = ProviderOptions::new();
    let (endpoint, options) = match Endpoint::new(api, options) {
        Ok(endpoint) => (endpoint, options),
        Err(_) => (Endpoint::new(api, &usual).ok()?, &usual),
    };
    Some(ModelService {
        key_variable: &endpoint.service.key,
        needs_key: endpoint.needs_key(options),
        base_url: endpoint.base_url,
        model: api.default_model().filter(|_| options.base_url.is_none()),
    })
}

/// Submits the provider of an API.
macro_rules! submit {
    ($api:expr, $description:literal) => {
        inventory::submit! {
            ProviderSubmission {
                name: $api.name(),
                description: $description,
                source: source!(),
                service: |options| service($api, options),
                create: |options| Ok(Arc::new(Remote::new($api, options)?)),
            }
        }
    };
}

submit!(
    Api::OpenAi,
    "OpenAI's chat completions, or any service with them (--base-url, --dialect)"
);
submit!(
    Api::OpenAiResponses,
    "OpenAI's Responses API, or any service with it (--base-url)"
);
submit!(
    Api::Anthropic,
    "Anthropic, or any service with its messages API (--base-url)"
);
submit!(Api::Gemini, "Google's Gemini API");
submit!(
    Api::Ollama,
    "Ollama on this machine or another one (--base-url)"
);

impl Provider for Remote {
    fn about(&self) -> &ProviderInfo {
        &self.model.info
    }

    fn complete<'a>(&'a self, request: Request<'a>) -> TurnFuture<'a> {
        Box::pin(self.request(request))
    }
}

impl Remote {
    /// Requests a turn, with retries.
    async fn request(&self, request: Request<'_>) -> Result<Turn, ProviderError> {
        let tools = request.tools.wire_as(self.wire);
        // No call of a failed turn has run, so a retry only withdraws its text.
        let is_sent = AtomicBool::new(false);
        let send = |text: &str| {
            is_sent.store(true, Ordering::Relaxed);
            request.text_sink.iter().for_each(|sink| sink(text));
        };
        let text_sink =
            (self.streaming && request.text_sink.is_some()).then_some(&send as TextSink<'_>);
        retry(
            &self.about().name,
            &self.retry_policy,
            request.deadline,
            request.retry_sink,
            &is_sent,
            || self.model.turn(&request, tools, self.streaming, text_sink),
        )
        .await
    }
}

tools::debug_fields!(self: Remote { about = self.about() });

#[cfg(test)]
mod tests {
    use agent::{KeySource, Selection, ToolSet};
    use serde_json::{Value, json};
    use tools::{Catalog, Effects, Services, Tool, ToolContext};

    use super::*;

    #[test]
    fn only_the_public_service_has_a_limit_on_tools() {
        let mut catalog = Catalog::new();
        for number in 0..130 {
            let tool = Tool::new(
                format!("t{number:03}"),
                "Does it.",
                json!({"type": "object"}),
            )
            .unwrap();
            catalog
                .register(
                    tool.with_effects(Effects::Pure),
                    async |_: ToolContext, _: Value| "done",
                )
                .unwrap();
        }
        let set = ToolSet::new(catalog.list(), &Selection::new(), &Services::new());
        let public = ProviderOptions {
            model: Some("m".into()),
            key: Some(KeySource::Environment("PATH".to_owned())),
            ..ProviderOptions::default()
        };
        let counts = |options: ProviderOptions| {
            let remote = Remote::openai(&options).unwrap();
            let sent = remote.about().wire_tools(&set).unwrap();
            (sent.list().len(), sent.list_skipped().len())
        };
        assert_eq!(counts(public.clone()), (128, 2));
        assert_eq!(
            counts(ProviderOptions {
                base_url: Some("http://localhost:1".into()),
                ..public
            }),
            (130, 0)
        );
    }
}
