//! [`ProviderSubmission`]: the link-time record of a provider.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tools::Source;
use tools::linked::{self, NameConflict, NamedSubmission, UnusableName};

use super::{GenerationOptions, Price, Provider, ProviderError, ProviderOptions};
use crate::{ToolSet, WireOptions, WireToolSet};

/// The link-time record of a provider. Every program that links its crate finds it by name. Register it with
/// [`inventory::submit!`](super::inventory::submit).
#[derive(Clone)]
pub struct ProviderSubmission {
    /// The name: letters, digits, `-`, `_` and `.`.
    pub name: &'static str,
    /// A one-line description for people.
    pub description: &'static str,
    /// The place that declares it.
    pub source: Source,
    /// Returns the service that these options name, or the usual one. Returns `None` if the provider asks no service.
    pub service: fn(&ProviderOptions) -> Option<ModelService>,
    /// Creates the provider from options.
    pub create: fn(&ProviderOptions) -> Result<Arc<dyn Provider>, ProviderError>,
}

/// A service with models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelService {
    /// The base URL.
    pub base_url: String,
    /// The environment variable of the key, unless the options name another source.
    pub key_variable: &'static str,
    /// True if the service refuses a request without a key.
    pub needs_key: bool,
    /// The model if none is named, as the service spells it. A program may choose a provider with such a model when it finds the key.
    pub model: Option<&'static str>,
}

inventory::collect!(ProviderSubmission);

impl ProviderSubmission {
    /// Creates the provider.
    ///
    /// # Errors
    /// Returns a [`ProviderError`] if the provider cannot be created from these options.
    pub fn create(&self, options: &ProviderOptions) -> Result<Arc<dyn Provider>, ProviderError> {
        (self.create)(options)
    }
}

impl fmt::Debug for ProviderSubmission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderSubmission")
            .field("name", &self.name)
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

/// The facts about a provider and its model, which [`Provider::about`](super::Provider::about) returns.
///
/// ```
/// use agent::ProviderInfo;
///
/// let info = ProviderInfo { model: Some("qwen3".to_owned()), ..ProviderInfo::new("lab") };
/// assert_eq!((&*info.name, info.is_metered, info.context.tokens()), ("lab", true, None));
/// ```
#[derive(Debug)]
pub struct ProviderInfo {
    /// The name of the provider, for people.
    pub name: Cow<'static, str>,
    /// The name of the service in spans, such as `gcp.gemini`.
    pub service_name: Cow<'static, str>,
    /// The configured model, as the service spells it. `None` if there is no model.
    pub model: Option<String>,
    /// The URL of the service. `None` if there is none. Spans have its host and its port.
    pub base_url: Option<String>,
    /// The settings of the model's answers, for spans. Requests always offer the tool that their tool choice names.
    pub generation: GenerationOptions,
    /// The form in which the provider sends the tools. Errors then use the model's names of tools and arguments. `None` if the model knows
    /// the names of the catalog.
    pub wire: Option<WireOptions>,
    /// The size of the model's context.
    pub context: ContextSize,
    /// The tokens of the context that a request keeps free for its turn, because the service counts the output limit as a part of the
    /// request.
    pub reserved_tokens: u64,
    /// True if a model uses tokens for the turns, so that those without a [`Usage`](super::Usage) are estimated for budgets.
    pub is_metered: bool,
    /// The price of the tokens, for budgets that limit money. Without one, they cost nothing.
    pub price: Option<Price>,
}

/// The size of a model's context. A provider may learn it from its service at any time.
#[derive(Debug)]
pub struct ContextSize(AtomicU64);

impl ProviderInfo {
    /// Describes a metered provider of this name, of which nothing else is known.
    pub const fn new(name: &'static str) -> Self {
        Self {
            name: Cow::Borrowed(name),
            service_name: Cow::Borrowed(name),
            model: None,
            base_url: None,
            generation: GenerationOptions::new(),
            wire: None,
            context: ContextSize::new(0),
            reserved_tokens: 0,
            is_metered: true,
            price: None,
        }
    }

    /// Describes a provider of this name that has no model, or whose tokens others pay for.
    pub const fn unmetered(name: &'static str) -> Self {
        let mut info = Self::new(name);
        info.is_metered = false;
        info
    }

    /// Returns the tools of a set in the form in which the provider sends them. Returns `None` if it sends those of the catalog.
    pub fn wire_tools<'s>(&self, tools: &'s ToolSet) -> Option<&'s WireToolSet> {
        self.wire.map(|options| tools.wire_as(options))
    }
}

impl ContextSize {
    /// Creates a size in tokens. 0 means that it is unknown.
    pub const fn new(tokens: u64) -> Self {
        Self(AtomicU64::new(tokens))
    }

    /// Returns the tokens of the context. Returns `None` if they are unknown.
    pub fn tokens(&self) -> Option<u64> {
        Some(self.0.load(Ordering::Relaxed)).filter(|tokens| *tokens > 0)
    }

    /// Replaces the size by the one that the service has.
    pub fn learn(&self, tokens: u64) {
        self.0.store(tokens, Ordering::Relaxed);
    }
}

impl NamedSubmission for ProviderSubmission {
    const NOUN: &'static str = "provider";

    fn name(&self) -> &'static str {
        self.name
    }

    fn source(&self) -> &Source {
        &self.source
    }
}

/// Returns the linked provider of this name.
///
/// # Errors
/// Returns [`ProviderError::Lookup`] if no linked provider has this name, or several crates claim it.
pub fn get(name: &str) -> Result<&'static ProviderSubmission, ProviderError> {
    Ok(linked::get(name)?)
}

/// Returns the usable linked providers, sorted by name.
pub fn list() -> Vec<&'static ProviderSubmission> {
    linked::list()
}

/// Returns the names claimed by several linked crates, sorted.
pub fn conflicts() -> Vec<NameConflict> {
    linked::conflicts::<ProviderSubmission>()
}

/// Returns the linked providers with unusable names, sorted by name.
pub fn problems() -> Vec<UnusableName> {
    linked::problems::<ProviderSubmission>()
}
