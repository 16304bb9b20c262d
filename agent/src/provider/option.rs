//! [`ProviderOptions`]: the configuration of a provider.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tools::protocol::wire::Strictness;

use super::{GenerationOptions, KeySource, Price, RetryPolicy, Timeouts};

/// The configuration of a provider. A provider ignores the options that it does not use. `None` means the default.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ProviderOptions {
    /// The file of model turns for a scripted provider.
    pub script: Option<PathBuf>,
    /// The name of the model, as the service spells it.
    pub model: Option<String>,
    /// The URL of the service, such as `http://localhost:8000/v1`: its host, its base URL or its whole endpoint. Defaults to the
    /// provider's public service.
    pub base_url: Option<String>,
    /// The known service whose variant of the format is spoken at the base URL, such as `deepseek`. Defaults to the service there.
    pub dialect: Option<String>,
    /// The proxy of requests. Defaults to none: the proxies of the environment are not used unless this says so.
    pub proxy: Option<Proxy>,
    /// The source of the API key. Defaults to the provider's usual environment variable.
    pub key: Option<KeySource>,
    /// True to stream the model's text. Defaults to true.
    pub streaming: Option<bool>,
    /// The mode of tool definitions. Defaults to [`Strictness::Relaxed`].
    pub strictness: Option<Strictness>,
    /// True to send the examples of tools: in the service's field for them, or else in the description. Defaults to true for
    /// Anthropic's public service only, because gateways refuse the field.
    pub examples: Option<bool>,
    /// The settings of the model's answers.
    pub generation: GenerationOptions,
    /// The time limits of a request. Defaults to [`Timeouts::default`].
    pub timeouts: Option<Timeouts>,
    /// The retries after transient errors. Defaults to [`RetryPolicy::default`].
    pub retry_policy: Option<RetryPolicy>,
    /// The prices of models by their names, in place of those that the provider knows.
    pub prices: BTreeMap<String, Price>,
}

/// The proxy of a provider's requests. Requests to this machine use none.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Proxy {
    /// The proxies that `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` name.
    Environment,
    /// The proxy at this URL.
    Url(String),
}

impl ProviderOptions {
    /// Creates empty options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the file of model turns.
    #[must_use]
    pub fn with_script(mut self, path: impl Into<PathBuf>) -> Self {
        self.script = Some(path.into());
        self
    }

    /// Sets the model.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets the base URL of the service.
    #[must_use]
    pub fn with_base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// Sets the known service whose variant of the format is spoken.
    #[must_use]
    pub fn with_dialect(mut self, dialect: impl Into<String>) -> Self {
        self.dialect = Some(dialect.into());
        self
    }

    /// Sets the proxy of requests.
    #[must_use]
    pub fn with_proxy(mut self, proxy: Proxy) -> Self {
        self.proxy = Some(proxy);
        self
    }

    /// Sets the source of the API key.
    #[must_use]
    pub fn with_key(mut self, source: KeySource) -> Self {
        self.key = Some(source);
        self
    }

    /// Sets whether the model's text is streamed.
    #[must_use]
    pub fn with_streaming(mut self, streaming: bool) -> Self {
        self.streaming = Some(streaming);
        self
    }

    /// Sets the mode of tool definitions. A tool without a strict form stays relaxed, and so do the tools after the
    /// [limits](tools::protocol::wire::Format::strict_limits) of a request.
    #[must_use]
    pub fn with_strictness(mut self, strictness: Strictness) -> Self {
        self.strictness = Some(strictness);
        self
    }

    /// Sets whether the examples of tools are sent.
    #[must_use]
    pub fn with_examples(mut self, examples: bool) -> Self {
        self.examples = Some(examples);
        self
    }

    /// Sets the settings of the model's answers.
    #[must_use]
    pub fn with_generation(mut self, generation: GenerationOptions) -> Self {
        self.generation = generation;
        self
    }

    /// Sets the time limits of a request.
    #[must_use]
    pub fn with_timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = Some(timeouts);
        self
    }

    /// Sets the retries after transient errors.
    #[must_use]
    pub fn with_retry_policy(mut self, policy: RetryPolicy) -> Self {
        self.retry_policy = Some(policy);
        self
    }
}
