//! [`Input`]: the arguments that a handler receives.

use protocol::Json;
use protocol::json::Node;
use serde::de::{DeserializeOwned, Error as _};
use serde_json::{Error, Value};

/// The error for arguments that do not fit a type, if some of them may be secret: serde's error might quote them.
const REFUSED_WITH_SECRETS: &str =
    "arguments that the tool refuses; the reason is hidden, because some of them may be secret";

/// The arguments that a handler receives: parsed strictly and validated against the tool's schema. Clones share them.
///
/// A handler [deserializes](Self::deserialize) them into its own type, or reads them as a [`Value`](Self::value).
///
/// ```
/// use tools::{Handler, HandlerFuture, Input, ToolContext, ToolResult};
///
/// struct Shout;
///
/// impl Handler for Shout {
///     fn call<'a>(&'a self, _: ToolContext, arguments: Input) -> HandlerFuture<'a> {
///         let text = arguments.value()["text"].as_str().unwrap_or_default().to_uppercase();
///         HandlerFuture::ready(Ok(ToolResult::text(text)))
///     }
/// }
/// ```
#[derive(Clone)]
pub struct Input {
    json: Json,
    has_secrets: bool,
}

impl Input {
    pub(crate) fn new(json: Json, has_secrets: bool) -> Self {
        Self { json, has_secrets }
    }

    /// Sets whether errors about the arguments hide their reason.
    pub(crate) fn with_secrets(self, has_secrets: bool) -> Self {
        Self {
            has_secrets,
            ..self
        }
    }

    /// Returns the arguments as JSON.
    pub fn json(&self) -> &Json {
        &self.json
    }

    /// Returns the root node, for access to single values.
    pub fn node(&self) -> Node<'_> {
        self.json.node()
    }

    /// Returns the arguments as a value, as [`Json::value`] does.
    pub fn value(&self) -> &Value {
        self.json.value()
    }

    /// Returns the arguments as a value, as [`Json::into_value`] does.
    pub fn into_value(self) -> Value {
        self.json.into_value()
    }

    /// Returns the arguments after a change of their value.
    pub(crate) fn map(self, change: impl FnOnce(&mut Value)) -> Self {
        let mut value = self.json.into_value();
        change(&mut value);
        Self::new(value.into(), self.has_secrets)
    }

    /// Deserializes the arguments into a type, as [`Json::deserialize`] does.
    ///
    /// # Errors
    /// Returns serde's error if the type is narrower than the tool's schema. If some arguments may be secret, the error hides the
    /// reason, which might quote them.
    pub fn deserialize<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        self.json.deserialize().map_err(|error| {
            if self.has_secrets {
                Error::custom(REFUSED_WITH_SECRETS)
            } else {
                error
            }
        })
    }
}

impl From<Value> for Input {
    fn from(value: Value) -> Self {
        Self::new(value.into(), false)
    }
}

// Prints no arguments, because some may be secret.
crate::debug_fields!(self: Input {});
