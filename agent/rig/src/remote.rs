//! [`Remote`]: models of OpenAI-compatible services and of Anthropic.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agent::provider::is_plain_url;
use agent::{
    KeySource, Provider, ProviderError, ProviderOptions, ProviderSubmission, Request, RetryPolicy, TextSink, ToolSet,
    TurnFuture, WireOptions, WireToolSet,
};
use secrecy::SecretString;
use tools::protocol::wire::{Format, Strictness};
use tools::source;

use crate::adapter::{Api, Model};
use crate::key;
use crate::retry::{Failure, retry};

/// A provider for a model behind an HTTP service.
///
/// ```no_run
/// use agent::ProviderOptions;
/// use agent_rig::Remote;
///
/// let options = ProviderOptions::new().with_model("qwen3").with_base_url("http://localhost:11434/v1");
/// let model = Remote::openai(&options)?;
/// # Ok::<(), agent::ProviderError>(())
/// ```
pub struct Remote {
    api: Api,
    name: String,
    base_url: Option<String>,
    model: Model,
    streaming: bool,
    strictness: Strictness,
    /// True to send the examples of tools.
    examples: bool,
    /// True if the service has the limits of the public one.
    is_limited: bool,
    retry_policy: RetryPolicy,
}

impl Remote {
    /// Creates a provider for OpenAI, or for any service that implements its chat completions.
    ///
    /// The key defaults to the environment variable `OPENAI_API_KEY`. With a base URL, a missing key is allowed.
    ///
    /// # Errors
    /// Returns [`ProviderError::Options`] if the model or the key is missing, or the base URL is not plain.
    pub fn openai(options: &ProviderOptions) -> Result<Self, ProviderError> {
        Self::new(Api::OpenAi, options)
    }

    /// Creates a provider for Anthropic, or for any service that implements its messages API.
    ///
    /// The key defaults to the environment variable `ANTHROPIC_API_KEY`.
    ///
    /// # Errors
    /// Returns [`ProviderError::Options`] if the model or the key is missing, or the base URL is not plain.
    pub fn anthropic(options: &ProviderOptions) -> Result<Self, ProviderError> {
        Self::new(Api::Anthropic, options)
    }

    fn new(api: Api, options: &ProviderOptions) -> Result<Self, ProviderError> {
        let refused =
            |reason: &str| ProviderError::Options { provider: api.name().to_owned(), reason: reason.to_owned() };
        let name = options.model.clone().filter(|model| !model.trim().is_empty());
        let name = name.ok_or_else(|| refused("the name of a model is missing; give one"))?;
        let base_url = options.base_url.clone();
        if base_url.as_deref().is_some_and(|url| !is_plain_url(url)) {
            return Err(refused(
                "its base URL is not plain; give http(s)://host/path, without a user, a query or a fragment",
            ));
        }
        let key = key_of(api, options)?;
        let timeouts = options.timeouts.unwrap_or_default();
        let model = Model::new(api, &name, base_url.as_deref(), key, &timeouts)?;
        let retry_policy = options.retry_policy.unwrap_or_default();
        let streaming = options.streaming.unwrap_or(true);
        let strictness = options.strictness.unwrap_or_default();
        // Other services with the API of a public one have no such limit on tools.
        let is_limited = base_url.is_none();
        // Gateways refuse Anthropic's field, and descriptions are longer with examples.
        let examples = options.examples.unwrap_or(api.format().takes_examples() && base_url.is_none());
        Ok(Self { api, name, base_url, model, streaming, strictness, examples, is_limited, retry_policy })
    }

    fn sent<'s>(&self, tools: &'s ToolSet) -> &'s WireToolSet {
        let options = WireOptions::new(self.api.format()).with_strictness(self.strictness);
        tools.wire_as(options.with_examples(self.examples).with_limit(self.is_limited))
    }
}

inventory::submit! {
    ProviderSubmission {
        name: "openai",
        description: "OpenAI, or any service with its chat completions (--base-url)",
        source: source!(),
        service: Some(Api::OpenAi.service()),
        create: |options| Ok(Arc::new(Remote::openai(options)?)),
    }
}

inventory::submit! {
    ProviderSubmission {
        name: "anthropic",
        description: "Anthropic",
        source: source!(),
        service: Some(Api::Anthropic.service()),
        create: |options| Ok(Arc::new(Remote::anthropic(options)?)),
    }
}

impl Provider for Remote {
    fn name(&self) -> &str {
        self.api.name()
    }

    fn wire(&self) -> Option<Format> {
        Some(self.api.format())
    }

    fn wire_tools<'s>(&self, tools: &'s ToolSet) -> Option<&'s WireToolSet> {
        Some(self.sent(tools))
    }

    fn complete<'a>(&'a self, request: Request<'a>) -> TurnFuture<'a> {
        Box::pin(async move {
            let tools = self.sent(request.tools);
            // Sent text cannot be withdrawn, so a turn is not retried once its text has begun.
            let is_sent = AtomicBool::new(false);
            let send = |text: &str| {
                is_sent.store(true, Ordering::Relaxed);
                request.text_sink.iter().for_each(|sink| sink.send(text));
            };
            let text_sink = (self.streaming && request.text_sink.is_some()).then(|| TextSink::new(&send));
            let attempt = || async {
                let turn = self.model.turn(&request, tools, self.streaming, text_sink).await;
                turn.map_err(|failure| Failure {
                    is_transient: failure.is_transient && !is_sent.load(Ordering::Relaxed),
                    ..failure
                })
            };
            retry(self.name(), &self.retry_policy, request.deadline, request.retry_sink, attempt).await
        })
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("provider", &self.api.name())
            .field("model", &self.name)
            .field("base_url", &self.base_url)
            .finish_non_exhaustive()
    }
}

fn key_of(api: Api, options: &ProviderOptions) -> Result<SecretString, ProviderError> {
    let usual = api.service().key_variable;
    match &options.key {
        Some(source) => key::read(api.name(), source),
        // Self-hosted services often need no key.
        None if api == Api::OpenAi && options.base_url.is_some() && std::env::var_os(usual).is_none() => {
            Ok(SecretString::default())
        }
        None => key::read(api.name(), &KeySource::Environment(usual.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use agent::Selection;
    use serde_json::{Value, json};
    use tools::{Catalog, Effects, Services, Tool, ToolContext};

    use super::*;

    #[test]
    fn only_the_public_service_has_a_limit_on_tools() {
        let mut catalog = Catalog::new();
        for number in 0..130 {
            let tool = Tool::new(format!("t{number:03}"), "Does it.", json!({"type": "object"})).unwrap();
            catalog.register(tool.with_effects(Effects::Pure), async |_: ToolContext, _: Value| "done").unwrap();
        }
        let set = ToolSet::new(catalog.list(), &Selection::new(), &Services::new());
        let public = ProviderOptions::new().with_model("m").with_key(KeySource::Environment("PATH".to_owned()));
        let counts = |options: ProviderOptions| {
            let remote = Remote::openai(&options).unwrap();
            let sent = remote.wire_tools(&set).unwrap();
            (sent.list().len(), sent.skipped().len())
        };
        assert_eq!(counts(public.clone()), (128, 2));
        assert_eq!(counts(public.with_base_url("http://localhost:1")), (130, 0));
    }

    #[test]
    fn examples_go_to_the_public_service_of_anthropic_unless_requested_otherwise() {
        let options = ProviderOptions::new().with_model("m").with_key(KeySource::Environment("PATH".to_owned()));
        let [public, gateway] = [options.clone(), options.clone().with_base_url("http://localhost:1")];
        assert!(Remote::anthropic(&public).unwrap().examples && !Remote::anthropic(&gateway).unwrap().examples);
        assert!(!Remote::openai(&public).unwrap().examples);
        assert!(!Remote::anthropic(&public.with_examples(false)).unwrap().examples);
        assert!(Remote::openai(&gateway.with_examples(true)).unwrap().examples);
    }
}
