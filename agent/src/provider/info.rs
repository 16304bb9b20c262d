//! [`ProviderInfo`]: the facts about a provider and its model.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

use tools::Content;
use tools::protocol::{Message, Part, Role};

use super::{GenerationOptions, ImageLimits, Price, ProviderError};
use crate::prompt::Prompt;
use crate::tool_set::ToolSet;
use crate::wire_options::WireOptions;
use crate::wire_tool_set::WireToolSet;

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
    /// The images that the model takes.
    pub images: ImageLimits,
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
            images: ImageLimits {
                is_blind: false,
                max_base64_bytes: None,
                types: Vec::new(),
            },
        }
    }

    /// Describes a provider of this name that has no model, or whose tokens others pay for.
    pub const fn unmetered(name: &'static str) -> Self {
        let mut info = Self::new(name);
        info.is_metered = false;
        info
    }

    /// Sets that the provider takes no images.
    #[must_use]
    pub const fn without_images(mut self) -> Self {
        self.images.is_blind = true;
        self
    }

    /// Checks that the model takes the images of a prompt.
    ///
    /// # Errors
    /// Returns [`ProviderError::Image`] for the first image that it does not take.
    pub fn check_prompt(&self, prompt: &Prompt) -> Result<(), ProviderError> {
        self.check_content(prompt.content().iter())
    }

    /// Checks the prompts among these messages as [`check_prompt`](Self::check_prompt) does.
    pub(crate) fn check_messages(&self, messages: &[Message]) -> Result<(), ProviderError> {
        let prompts = messages.iter().filter(|message| message.role == Role::User);
        let parts = prompts.flat_map(|message| &message.parts);
        self.check_content(parts.filter_map(|part| match part {
            Part::Content(content) => Some(content),
            _ => None,
        }))
    }

    fn check_content<'a>(
        &self,
        mut content: impl Iterator<Item = &'a Content>,
    ) -> Result<(), ProviderError> {
        let Some(reason) = content.find_map(|content| self.images.find_problem(content)) else {
            return Ok(());
        };
        let model = self.model.as_deref().unwrap_or(&self.name).to_owned();
        Err(ProviderError::Image { model, reason })
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
