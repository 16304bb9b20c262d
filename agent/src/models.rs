//! [`Models`]: the models that the tools of a session may ask.

use std::any::TypeId;
use std::fmt;
use std::sync::Arc;

use tools::protocol::InvalidTarget;
use tools::{Access, Entry, Services, Target};

use crate::provider::{Provider, ProviderError, ProviderInfo};

/// The tool that asks a model, and its argument that names the model.
const GENERATE: (&str, &str) = ("llm.generate", "model");

/// The name of a model that has none.
const DEFAULT: &str = "default";

/// The function that creates a provider for a choice.
type Open = dyn Fn(&ModelChoice) -> Result<Arc<dyn Provider>, ProviderError> + Send + Sync;

/// The service of `llm.generate`: the session's model, and others by name.
///
/// A [`Session`](crate::Session) with this service makes its own model the default of the tool. Each model is a
/// [target](ModelChoice::target) with its real name, also that of the session.
#[derive(Clone)]
pub struct Models {
    session: Arc<dyn Provider>,
    name: ModelChoice,
    open: Option<Arc<Open>>,
}

/// A model by the name of its provider and its own. Written `openai/gpt-5.1`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelChoice {
    /// The name of the provider.
    pub provider: String,
    /// The name of the model. It is `default` if the provider has a single one without a name.
    pub model: String,
}

impl ModelChoice {
    /// Creates a choice. Without a name, the model is `default`.
    pub fn new(provider: impl Into<String>, model: Option<String>) -> Self {
        Self {
            provider: provider.into(),
            model: model.unwrap_or_else(|| DEFAULT.to_owned()),
        }
    }

    /// Returns the model of a provider.
    pub(crate) fn from_info(about: &ProviderInfo) -> Self {
        Self::new(&*about.name, about.model.clone())
    }

    /// Creates a choice from its written form. Returns `None` if it has no `/`. The name of a model may contain further ones.
    pub fn from_text(text: &str) -> Option<Self> {
        let (provider, model) = text.split_once('/')?;
        Some(Self::new(provider, Some(model.to_owned())))
    }

    /// Returns the target of requests to the model, such as `llm:read:openai/gpt-5.1`.
    ///
    /// # Errors
    /// Returns an error if a name cannot be part of a target.
    pub fn target(&self) -> Result<Target, InvalidTarget> {
        Target::new(Access::Read, "llm", self.to_string())
    }
}

impl fmt::Display for ModelChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.model)
    }
}

impl Models {
    /// Offers the provider of the session alone.
    pub fn new(session: Arc<dyn Provider>) -> Self {
        let name = ModelChoice::new(&*session.about().name, None);
        Self {
            session,
            name,
            open: None,
        }
    }

    /// Sets the name of the session's model. The default is the provider's own name without a model.
    #[must_use]
    pub fn with_name(self, name: ModelChoice) -> Self {
        Self { name, ..self }
    }

    /// Offers other models, which the function opens. It is not called for the session's own model.
    #[must_use]
    pub fn with_others<F>(self, open: F) -> Self
    where
        F: Fn(&ModelChoice) -> Result<Arc<dyn Provider>, ProviderError> + Send + Sync + 'static,
    {
        Self {
            open: Some(Arc::new(open)),
            ..self
        }
    }

    /// Returns the name of the session's model.
    pub fn name(&self) -> &ModelChoice {
        &self.name
    }

    /// Opens a model.
    ///
    /// # Errors
    /// Returns the error of the function that opens other models, or [`ProviderError::Options`] if there is none.
    pub fn open(&self, choice: &ModelChoice) -> Result<Arc<dyn Provider>, ProviderError> {
        match &self.open {
            // The session's provider has learned the size of its context, and may be a script that no name opens.
            _ if *choice == self.name => Ok(self.session.clone()),
            Some(open) => open(choice),
            None => {
                let reason = format!(
                    "this session offers its own model only; leave model out, or name {}",
                    self.name
                );
                Err(ProviderError::options(&choice.provider, reason))
            }
        }
    }
}

tools::debug_fields!(self: Models { name });

/// Returns the tools of a session with these services. In it, `llm.generate` may be called without a model. All stages of such a
/// call then see the target with the model's real name.
pub fn with_session_model(
    entries: impl IntoIterator<Item = Arc<Entry>>,
    services: &Services,
) -> impl Iterator<Item = Arc<Entry>> {
    let models = services.get::<Models>();
    let default = models.map(|models| models.name.to_string());
    let (tool, argument) = GENERATE;
    entries.into_iter().map(move |entry| match &default {
        Some(default) if *entry.name() == *tool && needs_models(&entry) => entry
            .with_default(argument, default.as_str().into())
            .unwrap_or(entry),
        _ => entry,
    })
}

/// Returns true if this is the tool that asks the models of this service, and not another one of its name.
fn needs_models(entry: &Entry) -> bool {
    entry
        .needs()
        .iter()
        .any(|need| need.id() == TypeId::of::<Models>())
}
