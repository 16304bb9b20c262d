//! [`Input`]: the arguments that a handler is given.

use protocol::Json;
use protocol::json::Node;
use serde::de::{DeserializeOwned, Error as _};
use serde_json::{Error, Value};

/// The error for arguments that do not fit a type, if some of them are secret: serde's error might quote them.
const REFUSED_WITH_SECRETS: &str = "arguments that the tool refuses; why is not told, because some of them are secret";

/// The arguments that a handler is given: read strictly, and checked against the tool's schema. Clones share them.
///
/// A handler takes them as a type of its own, read without a detour, or as a `Value`.
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

    /// Returns the arguments with every error about them kept silent if `has_secrets`.
    pub(crate) fn with_secrets(self, has_secrets: bool) -> Self {
        Self { has_secrets, ..self }
    }

    /// Returns the arguments as JSON.
    pub fn json(&self) -> &Json {
        &self.json
    }

    /// Returns the arguments for a look at single values.
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

    /// Reads the arguments into a type, as [`Json::deserialize`] does.
    ///
    /// # Errors
    /// Returns serde's error if the type is narrower than the tool's schema. If some arguments are secret, the error does not say
    /// why, because it might quote them.
    pub fn deserialize<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        self.json.deserialize().map_err(|error| if self.has_secrets { Error::custom(REFUSED_WITH_SECRETS) } else { error })
    }
}

impl From<Value> for Input {
    fn from(value: Value) -> Self {
        Self::new(value.into(), false)
    }
}

impl std::fmt::Debug for Input {
    /// Shows nothing of the arguments: some may be secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Input").finish_non_exhaustive()
    }
}
