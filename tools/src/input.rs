//! [`Input`]: the arguments of a call, once the counter has read them.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use serde::de::{DeserializeOwned, Error as _};
use serde_json::{Error, Map, Value};

use crate::Entry;
use crate::tree::{Floats, Reader, Tree};

/// What is told of arguments that cannot be a type, where some of them are secret.
const UNTOLD: &str = "arguments that the tool refuses; why is not told, because some of them are secret";

/// The error for arguments that nest too deep to be read into a type. The pipeline passes none on.
const TOO_DEEP: &str = "arguments that nest deeper than 64 arrays and objects";

/// The arguments that a handler is given: read strictly, and checked against the tool's schema.
///
/// A handler takes them as what it needs: a type of its own, read without a detour, or a `Value`, which is built when it is
/// first asked for.
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
pub struct Input {
    /// Absent where a value nests too deep to be one; the counter lets none pass.
    tree: Option<Arc<Tree>>,
    value: OnceLock<Value>,
    /// Whether some of it is secret.
    has_secrets: bool,
}

impl Input {
    pub(crate) fn of_tree(tree: Tree) -> Self {
        Self { tree: Some(Arc::new(tree)), value: OnceLock::new(), has_secrets: false }
    }

    /// Takes them for the arguments of that tool: what it calls secret stays out of errors.
    pub(crate) fn set_tool(&mut self, entry: &Entry) {
        self.has_secrets = entry.has_secrets();
    }

    pub(crate) fn tree(&self) -> Option<&Tree> {
        self.tree.as_deref()
    }

    /// Returns true if the arguments are a JSON object.
    pub(crate) fn is_object(&self) -> bool {
        self.tree().map_or_else(|| self.value().is_object(), |tree| tree.root().as_object().is_some())
    }

    /// Returns true if one of the numbers is an integer beyond 64 bits.
    pub(crate) fn has_wide(&self) -> bool {
        self.tree().is_some_and(Tree::has_wide)
    }

    /// Returns the arguments as a value, built once. An integer beyond 64 bits is a string of its digits, because no
    /// [`Number`](serde_json::Number) holds it; [`deserialize`](Self::deserialize) reads it into an `i128` or `u128`.
    pub fn value(&self) -> &Value {
        self.value.get_or_init(|| self.built())
    }

    /// Returns the arguments as a value, as [`value`](Self::value) does.
    pub fn into_value(mut self) -> Value {
        self.value.take().unwrap_or_else(|| self.built())
    }

    /// Reads the arguments into a type, by the rules of `serde_json`, with these differences:
    ///
    /// - JSON Schema calls `1.0` an integer, so an integral float is read as one where the type takes nothing else. Beyond 2^53 - 1
    ///   it is refused, because another number may have been meant.
    /// - An integer beyond 64 bits is read into an `i128`, a `u128` or a float, and refused elsewhere.
    /// - A number beyond the range of an `f32` is refused for one.
    ///
    /// # Errors
    /// Returns serde's error if the type is narrower than the tool's schema. If some arguments are secret, the error does not say
    /// why, because it might quote them.
    pub fn deserialize<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        let quoted = |error| if self.has_secrets { Error::custom(UNTOLD) } else { error };
        self.deserialized().map_err(quoted)
    }

    fn deserialized<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        let tree = self.tree().ok_or_else(|| Error::custom(TOO_DEEP))?;
        let read = |floats| T::deserialize(Reader::new(tree.root(), floats));
        // A parameter that takes any value should see the one that was sent, so floats become integers only where this fails.
        read(Floats::AsSent)
            .or_else(|error| if tree.has_integral_float() { read(Floats::AsIntegers) } else { Err(error) })
    }

    /// Those of these members that are there, as an object; the value as it is where it is none.
    pub(crate) fn picked<'a>(&self, names: impl Iterator<Item = &'a str>) -> Cow<'_, Value> {
        match &self.tree {
            Some(tree) if self.value.get().is_none() && tree.root().as_object().is_some() => {
                let members = names.filter_map(|name| Some((name.to_owned(), tree.root().get(name)?.to_exact_value())));
                Cow::Owned(Value::Object(members.collect::<Map<_, _>>()))
            }
            _ => Cow::Borrowed(self.value()),
        }
    }

    /// The same arguments once more.
    pub(crate) fn copy(&self) -> Self {
        Self { tree: self.tree.clone(), value: self.value.clone(), has_secrets: self.has_secrets }
    }

    fn built(&self) -> Value {
        self.tree().map_or(Value::Null, |tree| tree.root().to_exact_value())
    }
}

impl From<Value> for Input {
    fn from(value: Value) -> Self {
        Self { tree: Tree::of_value(&value).ok().map(Arc::new), value: value.into(), has_secrets: false }
    }
}

impl std::fmt::Debug for Input {
    /// Nothing of the arguments: some may be secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Input").finish_non_exhaustive()
    }
}
