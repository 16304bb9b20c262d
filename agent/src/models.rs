//! [`Models`]: the models that the tools of a session may ask.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::{Price, Provider, ProviderError};

/// The function that creates a provider for a choice.
type Open = dyn Fn(&ModelChoice) -> Result<Arc<dyn Provider>, ProviderError> + Send + Sync;

/// The service of `llm.generate`: the session's model, and others by name.
///
/// The session's own model is the target `llm:read:session/default`. The rules of a policy about its real name, such as
/// `llm:read:openai/gpt-5.1`, hold too.
#[derive(Clone)]
pub struct Models {
    session: Arc<dyn Provider>,
    names: (String, Option<String>),
    open: Option<Arc<Open>>,
    prices: BTreeMap<String, Price>,
}

/// A model to open, by the names in a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelChoice {
    /// The name of the provider. `None` means that of the session.
    pub provider: Option<String>,
    /// The name of the model. `None` means the provider's default.
    pub model: Option<String>,
}

impl Models {
    /// Offers the provider of the session alone.
    pub fn new(session: Arc<dyn Provider>) -> Self {
        let names = (session.name().to_owned(), None);
        Self { session, names, open: None, prices: BTreeMap::new() }
    }

    /// Sets the names of the session's provider and model, by which rules know them. The default is the provider's own name without
    /// a model.
    #[must_use]
    pub fn with_names(self, provider: impl Into<String>, model: Option<String>) -> Self {
        Self { names: (provider.into(), model), ..self }
    }

    /// Offers other models, which the function opens. It is not called for the session's own model.
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
            (_, Some(open)) => open(choice),
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
        let of_session = self.names.1.as_ref().filter(|_| choice.provider.is_none());
        self.prices.get(choice.model.as_ref().or(of_session)?).copied()
    }

    /// Returns the provider and the model of a choice by their real names, such as `openai/gpt-5.1`.
    pub(crate) fn real_name(&self, choice: &ModelChoice) -> String {
        let is_session = choice.provider.is_none();
        let provider = choice.provider.as_deref().unwrap_or(&self.names.0);
        let of_session = self.names.1.as_deref().filter(|_| is_session);
        format!("{provider}/{}", choice.model.as_deref().or(of_session).unwrap_or("default"))
    }
}

impl fmt::Debug for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Models").field("names", &self.names).finish_non_exhaustive()
    }
}
