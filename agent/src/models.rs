//! [`Models`]: the models that the tools of a session may ask.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::{Price, Provider, ProviderError};

/// The function that creates a provider for a choice.
type Open = dyn Fn(&ModelChoice) -> Result<Arc<dyn Provider>, ProviderError> + Send + Sync;

/// The service of `llm.generate`: the session's model, and others by name.
///
/// The session's own model is the target `llm:read:session/default`. Rules that deny its real name, such as
/// `llm:read:openai/gpt-5.1`, hold too. Grants and other rules apply to the target alone.
#[derive(Clone)]
pub struct Models {
    session: Arc<dyn Provider>,
    names: (String, Option<String>),
    open: Option<Arc<Open>>,
    prices: BTreeMap<String, Price>,
    /// The default models of other providers.
    defaults: BTreeMap<String, String>,
}

/// A model to open, by the names in a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelChoice {
    /// The name of the provider. `None` means that of the session.
    pub provider: Option<String>,
    /// The name of the model. `None` means the provider's default, which is unknown.
    pub model: Option<String>,
}

impl Models {
    /// Offers the provider of the session alone.
    pub fn new(session: Arc<dyn Provider>) -> Self {
        let names = (session.name().to_owned(), None);
        Self { session, names, open: None, prices: BTreeMap::new(), defaults: BTreeMap::new() }
    }

    /// Sets the names of the session's provider and model, by which rules know them. The default is the provider's own name without
    /// a model.
    #[must_use]
    pub fn with_names(self, provider: impl Into<String>, model: Option<String>) -> Self {
        Self { names: (provider.into(), model), ..self }
    }

    /// Sets the default model of another provider, by which rules and prices know it. Without one, its model is `default`.
    #[must_use]
    pub fn with_default_model(mut self, provider: impl Into<String>, model: impl Into<String>) -> Self {
        self.defaults.insert(provider.into(), model.into());
        self
    }

    /// Offers other models, which the function opens. It is not called for the session's own model. A default model is
    /// given by its name if that is known.
    #[must_use]
    pub fn with_others<F>(self, open: F) -> Self
    where
        F: Fn(&ModelChoice) -> Result<Arc<dyn Provider>, ProviderError> + Send + Sync + 'static,
    {
        Self { open: Some(Arc::new(open)), ..self }
    }

    /// Sets the price of a model, for the budgets that limit money. Without a price, a model costs nothing.
    #[must_use]
    pub fn with_price(mut self, model: impl Into<String>, price: Price) -> Self {
        self.prices.insert(model.into(), price);
        self
    }

    /// Opens a model.
    ///
    /// # Errors
    /// Returns the error of the function that opens other models, or [`ProviderError::Unknown`] if there is none.
    pub fn open(&self, choice: &ModelChoice) -> Result<Arc<dyn Provider>, ProviderError> {
        match (choice, &self.open) {
            (ModelChoice { provider: None, model: None }, _) => Ok(self.session.clone()),
            (_, Some(open)) => {
                open(&ModelChoice { provider: choice.provider.clone(), model: self.model(choice).map(str::to_owned) })
            }
            (ModelChoice { provider: Some(name), .. }, None) => {
                Err(ProviderError::Unknown { name: name.clone(), known: vec!["session".to_owned()] })
            }
            (_, None) => Err(ProviderError::Options {
                provider: self.names.0.clone(),
                reason: "this session offers its own model only; leave model out".to_owned(),
            }),
        }
    }

    /// Returns the price of a model, or `None` if it is unknown.
    pub(crate) fn price(&self, choice: &ModelChoice) -> Option<Price> {
        self.prices.get(self.model(choice)?).copied()
    }

    /// Returns the provider and the model of a choice by their real names, such as `openai/gpt-5.1`.
    pub(crate) fn real_name(&self, choice: &ModelChoice) -> String {
        let provider = choice.provider.as_deref().unwrap_or(&self.names.0);
        format!("{provider}/{}", self.model(choice).unwrap_or("default"))
    }

    /// Returns the model of a choice. Returns `None` if it names none, and its provider's default is unknown.
    fn model<'a>(&'a self, choice: &'a ModelChoice) -> Option<&'a str> {
        let (own, model) = (&self.names.0, &self.names.1);
        let default = || match &choice.provider {
            Some(other) if other != own => self.defaults.get(other),
            _ => model.as_ref(),
        };
        choice.model.as_ref().or_else(default).map(String::as_str)
    }
}

impl fmt::Debug for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Models").field("names", &self.names).finish_non_exhaustive()
    }
}
