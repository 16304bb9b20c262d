//! [`ChannelSettings`]: the values of the fields of a channel.

use std::collections::BTreeMap;

use tools::Secret;

use crate::{ChannelError, error};

/// The values of the fields of a channel. Its `Debug` shows no secret.
#[derive(Clone, Debug, Default)]
pub struct ChannelSettings {
    texts: BTreeMap<String, Vec<String>>,
    secrets: BTreeMap<String, Secret>,
}

impl ChannelSettings {
    /// Creates settings without values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a text, a number or a path.
    #[must_use]
    pub fn with_text(self, field: impl Into<String>, text: impl Into<String>) -> Self {
        self.with_list(field, [text.into()])
    }

    /// Sets a list.
    #[must_use]
    pub fn with_list(
        mut self,
        field: impl Into<String>,
        texts: impl IntoIterator<Item = String>,
    ) -> Self {
        self.texts.insert(field.into(), texts.into_iter().collect());
        self
    }

    /// Sets a secret.
    #[must_use]
    pub fn with_secret(mut self, field: impl Into<String>, secret: Secret) -> Self {
        self.secrets.insert(field.into(), secret);
        self
    }

    /// Returns a text, a number or a path. Returns `None` if it is not set.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.list(field).first().map(String::as_str)
    }

    /// Returns a list, which is empty if it is not set.
    pub fn list(&self, field: &str) -> &[String] {
        self.texts.get(field).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns a secret. Returns `None` if it is not set.
    pub fn secret(&self, field: &str) -> Option<&Secret> {
        self.secrets.get(field)
    }

    /// Returns a text.
    ///
    /// # Errors
    /// Returns [`ChannelError::Field`] if it is not set.
    pub fn required(&self, field: &'static str) -> Result<&str, ChannelError> {
        let text = self.text(field).filter(|text| !text.is_empty());
        text.ok_or_else(|| error::field(field, "is missing; set it"))
    }
}
