//! [`ProviderOptions`]: the configuration of a provider.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tools::protocol::wire::Strictness;

use super::{GenerationOptions, KeySource, Price, RetryPolicy, Timeouts};

/// The configuration of a provider. A provider ignores the options that it does not use. `None` means the default.
#[derive(Clone, Debug, Default, PartialEq)]
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
    /// True to stream the model's text. Defaults to true. A service that refuses to is asked without a stream.
    pub streaming: Option<bool>,
    /// The mode of tool definitions. Defaults to [`Strictness::Relaxed`].
    pub strictness: Option<Strictness>,
    /// True to send the examples of tools: in the service's field for them, or else in the description. Defaults to true for
    /// Anthropic's public service only, because gateways refuse the field.
    pub examples: Option<bool>,
    /// The settings of the model's answers.
    pub generation: GenerationOptions,
    /// The time limits of a request. Defaults to [`Timeouts::default`], with more time to the first byte for a server of the user's own: one
    /// without encryption, on this machine or in a private network.
    pub timeouts: Option<Timeouts>,
    /// The retries after transient errors. Defaults to [`RetryPolicy::default`].
    pub retry_policy: Option<RetryPolicy>,
    /// The prices of models by their names, in place of those that the provider knows.
    pub prices: BTreeMap<String, Price>,
    /// The file in which a program keeps the facts that services tell about models. With it, the service of a model that the provider
    /// does not know is asked for its price and limits when the provider is created. Defaults to none: no service is asked then.
    pub facts_cache: Option<PathBuf>,
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
}
