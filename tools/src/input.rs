//! [`Input`]: the arguments of a call, once the counter has read them.

use std::borrow::Cow;
use std::sync::OnceLock;

use serde::de::{DeserializeOwned, Error as _};
use serde_json::{Error, Map, Value};

use crate::Entry;
use crate::tree::{Loan, Tree};

/// What is told of arguments that cannot be a type, where some of them are secret.
const UNTOLD: &str = "arguments that the tool refuses; why is not told, because some of them are secret";

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
    tree: Option<Loan>,
    value: OnceLock<Value>,
    /// Whether some of it is secret.
    has_secrets: bool,
}

impl Input {
    pub(crate) fn of_tree(tree: Loan) -> Self {
        Self { tree: Some(tree), value: OnceLock::new(), has_secrets: false }
    }

    /// Takes them for the arguments of that tool: what it calls secret stays out of errors.
    pub(crate) fn set_tool(&mut self, entry: &Entry) {
        self.has_secrets = entry.has_secrets();
    }

    pub(crate) fn tree(&self) -> Option<&Tree> {
        self.tree.as_deref()
    }

    /// The arguments as a value, built once.
    pub fn value(&self) -> &Value {
        self.value.get_or_init(|| self.built())
    }

    /// The arguments as a value.
    pub fn into_value(mut self) -> Value {
        self.value.take().unwrap_or_else(|| self.built())
    }

    /// The arguments as a type. For JSON Schema 1.0 is an integer, for serde it is none; here it is read as one where the type
    /// takes nothing else.
    ///
    /// # Errors
    /// What serde says when the type is narrower than the tool's schema. Of arguments that can be secret it is not passed on,
    /// because it may quote them.
    pub fn deserialize<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        let quoted = |error| if self.has_secrets { Error::custom(UNTOLD) } else { error };
        self.deserialized().map_err(quoted)
    }

    fn deserialized<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        let Some(tree) = &self.tree else { return of_value(self.value()) };
        // What a tree gives a value would give as well; what it refuses the value is asked about.
        T::deserialize(tree.root()).or_else(|_| of_value(self.value()))
    }

    /// Those of these members that are there, as an object; the value as it is where it is none.
    pub(crate) fn picked<'a>(&self, names: impl Iterator<Item = &'a str>) -> Cow<'_, Value> {
        match &self.tree {
            Some(tree) if self.value.get().is_none() && tree.root().as_object().is_some() => {
                let members = names.filter_map(|name| Some((name.to_owned(), tree.root().get(name)?.to_value())));
                Cow::Owned(Value::Object(members.collect::<Map<_, _>>()))
            }
            _ => Cow::Borrowed(self.value()),
        }
    }

    /// The same arguments once more.
    pub(crate) fn copy(&self) -> Self {
        let tree = self.tree.as_deref().map(|tree| Loan::new(Box::new(tree.clone())));
        Self { tree, value: self.value.clone(), has_secrets: self.has_secrets }
    }

    fn built(&self) -> Value {
        self.tree.as_ref().map_or(Value::Null, |tree| tree.root().to_value())
    }
}

impl From<Value> for Input {
    fn from(value: Value) -> Self {
        Self { tree: Tree::of_value(&value).ok(), value: value.into(), has_secrets: false }
    }
}

impl std::fmt::Debug for Input {
    /// Nothing of the arguments: some may be secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Input").finish_non_exhaustive()
    }
}

fn of_value<T: DeserializeOwned>(value: &Value) -> Result<T, serde_json::Error> {
    if !has_integral_float(value) {
        return T::deserialize(value);
    }
    // Only what fails as it is gets rewritten, because a parameter that takes any value should see the one that was sent.
    T::deserialize(value).or_else(|_| serde_json::from_value(with_integers(value.clone())))
}
fn has_integral_float(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64() && integer(number).is_some(),
        Value::Array(items) => items.iter().any(has_integral_float),
        Value::Object(members) => members.values().any(has_integral_float),
        _ => false,
    }
}

fn with_integers(value: Value) -> Value {
    match value {
        Value::Number(number) => integer(&number).unwrap_or(Value::Number(number)),
        Value::Array(items) => items.into_iter().map(with_integers).collect(),
        Value::Object(members) => members.into_iter().map(|(key, member)| (key, with_integers(member))).collect(),
        other => other,
    }
}

/// The same number as an integer of 64 bits, where it is one. Both bounds are powers of two, so they are exact as floats.
fn integer(number: &serde_json::Number) -> Option<Value> {
    const END: f64 = 18_446_744_073_709_551_616.0;
    let float = number.as_f64().filter(|float| float.fract() == 0.0)?;
    // `as` cannot round here: the ranges are checked, and there is no fraction.
    if (0.0..END).contains(&float) {
        Some(Value::from(float as u64))
    } else if (-END / 2.0..0.0).contains(&float) {
        Some(Value::from(float as i64))
    } else {
        None
    }
}
