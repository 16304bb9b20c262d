//! JSON that is parsed once and shared, such as the arguments of calls.

mod access;
mod build;
pub(crate) mod canonical;
mod deserialize;
mod error;
mod extent;
mod key;
mod node;
mod parse;
mod serialize;
mod tree;

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::de::{DeserializeOwned, Deserializer};
use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::canonical::compact_json;
use self::deserialize::{Floats, NodeDeserializer};
use self::serialize::Serialized;
use self::tree::Tree;

pub use self::error::InvalidJson;
pub use self::extent::Extent;
pub use self::node::{Elements, Kind, Members, Node};

/// The maximum nesting of JSON text, in levels of arrays and objects.
pub const MAX_DEPTH: usize = 64;

/// A shared JSON value. Clones are cheap.
///
/// A `Json` is [parsed](Self::parse) from text, wraps a [`Value`] without a copy, or is [serialized](Self::from_serialize) from a Rust
/// type. It is read through a [`Node`] or [deserialized](Self::deserialize) into a Rust type. Parsing is strict and keeps integers
/// of any length exact. A `Json` serializes as the plain value.
///
/// ```
/// use protocol::Json;
/// use serde_json::json;
///
/// let arguments = Json::parse(r#"{"path": "a.txt"}"#)?;
/// assert_eq!(arguments, Json::from(json!({"path": "a.txt"})));
/// assert_eq!(arguments.value()["path"], "a.txt");
/// assert!(Json::parse(r#"{"path": 1, "path": 2}"#).is_err());
/// # Ok::<(), protocol::json::InvalidJson>(())
/// ```
#[derive(Clone)]
pub struct Json(Arc<JsonForm>);

enum JsonForm {
    Value(Wrapped),
    Text {
        tree: Tree,
        // Boxed, because few values are read as a `Value`.
        value: OnceLock<Box<Value>>,
    },
    Serialized(Serialized),
}

/// A value with its extent.
struct Wrapped {
    value: Value,
    extent: Extent,
}

impl Json {
    /// Parses JSON text strictly: repeated keys and nesting deeper than [`MAX_DEPTH`] are errors.
    ///
    /// # Errors
    /// Returns [`InvalidJson`] with the position of the error.
    pub fn parse(text: impl Into<String>) -> Result<Self, InvalidJson> {
        parse::parse(text.into()).map(|tree| Self(Arc::new(tree.into())))
    }

    /// Serializes a Rust type to JSON text. The text is parsed only on first access; of a repeated key, the last value counts.
    ///
    /// # Errors
    /// Returns the error of the type's `Serialize`, for example if a map has keys other than strings.
    pub fn from_serialize(value: &impl Serialize) -> Result<Self, serde_json::Error> {
        match serialize::serialize(value)? {
            Some(serialized) => Ok(Self(Arc::new(JsonForm::Serialized(serialized)))),
            // Text that nests deeper could not be parsed again.
            None => serde_json::to_value(value).map(Self::from),
        }
    }

    /// Returns the JSON text without white space.
    pub(crate) fn to_text(&self) -> String {
        match &*self.0 {
            JsonForm::Serialized(serialized) => serialized.text.clone(),
            _ => compact_json(self.node()),
        }
    }

    /// Returns the root node.
    #[inline]
    pub fn node(&self) -> Node<'_> {
        match &*self.0 {
            JsonForm::Value(wrapped) => Node::from(&wrapped.value),
            JsonForm::Text { tree, .. } => Node::root(tree),
            JsonForm::Serialized(serialized) => serialized.as_json().node(),
        }
    }

    /// Returns the size. Parses JSON that was [serialized](Self::from_serialize) from a Rust type; otherwise the size is stored.
    pub fn extent(&self) -> Extent {
        match &*self.0 {
            JsonForm::Value(wrapped) => wrapped.extent,
            JsonForm::Text { tree, .. } => Node::root(tree).extent(),
            JsonForm::Serialized(serialized) => serialized.as_json().extent(),
        }
    }

    /// Returns the length as JSON text, in bytes, without parsing. Returns `None` unless the JSON was
    /// [serialized](Self::from_serialize) from a Rust type.
    pub fn serialized_len(&self) -> Option<usize> {
        match &*self.0 {
            JsonForm::Serialized(serialized) => Some(serialized.text.len()),
            JsonForm::Value(_) | JsonForm::Text { .. } => None,
        }
    }

    /// Returns the JSON as a [`Value`], which is built from text on first use.
    ///
    /// An integer beyond 64 bits becomes a string of its digits, because [`Number`](serde_json::Number) cannot hold it. Use
    /// [`deserialize`](Self::deserialize) to read it into an `i128` or `u128`.
    pub fn value(&self) -> &Value {
        match &*self.0 {
            JsonForm::Value(wrapped) => &wrapped.value,
            JsonForm::Text { tree, value } => {
                value.get_or_init(|| Box::new(Node::root(tree).to_value()))
            }
            JsonForm::Serialized(serialized) => serialized.as_json().value(),
        }
    }

    /// Converts the JSON to a [`Value`], as [`value`](Self::value) does. Copies only if other clones exist.
    pub fn into_value(self) -> Value {
        match Arc::try_unwrap(self.0) {
            Ok(JsonForm::Value(mut wrapped)) => std::mem::take(&mut wrapped.value),
            Ok(JsonForm::Text { tree, value }) => value
                .into_inner()
                .map_or_else(|| Node::root(&tree).to_value(), |value| *value),
            Ok(JsonForm::Serialized(serialized)) => serialized.as_json().value().clone(),
            Err(shared) => Self(shared).value().clone(),
        }
    }

    /// Frees memory that the JSON does not need: spare room, values that were built from its text, and the maps of a wrapped [`Value`],
    /// which take many times the room of their members. Does nothing if other clones exist.
    pub fn shrink_to_fit(&mut self) {
        let Some(form) = Arc::get_mut(&mut self.0) else {
            return;
        };
        if let JsonForm::Value(Wrapped { value, extent }) = form
            && extent.depth <= MAX_DEPTH
            && let Ok(tree) = parse::parse(compact_json((&*value).into()))
        {
            *form = tree.into();
        }
        match form {
            JsonForm::Value(_) => {}
            JsonForm::Text { tree, value } => {
                tree.text.shrink_to_fit();
                tree.marks.shrink_to_fit();
                value.take();
            }
            JsonForm::Serialized(serialized) => {
                serialized.text.shrink_to_fit();
                serialized.parsed.take();
            }
        }
    }

    /// Deserializes the JSON into a Rust type. The rules are those of `serde_json`, with these differences:
    ///
    /// - An integral float such as `1.0` is accepted as an integer, as in JSON Schema, if the type requires an integer. Beyond
    ///   2^53 - 1 it is an error, because the float may stand for another integer.
    /// - An integer beyond 64 bits is accepted for `i128`, `u128` and floats, and an error for other types.
    /// - A number beyond the range of `f32` is an error for `f32`.
    ///
    /// # Errors
    /// Returns serde's error if the JSON does not match the type or nests deeper than [`MAX_DEPTH`].
    pub fn deserialize<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        // Deserializing recurses, and a value of a host may nest without a bound.
        if self.extent().depth > MAX_DEPTH {
            return Err(serde::de::Error::custom(format_args!(
                "JSON that nests deeper than {MAX_DEPTH} levels"
            )));
        }
        let as_sent = T::deserialize(NodeDeserializer::new(self.node(), Floats::AsSent));
        // A parameter of any type must see the value that was sent, so floats become integers only if this fails.
        if as_sent.is_err() && deserialize::has_integral_float(self.node()) {
            return T::deserialize(NodeDeserializer::new(self.node(), Floats::AsIntegers));
        }
        as_sent
    }
}

impl From<Tree> for JsonForm {
    fn from(tree: Tree) -> Self {
        let value = OnceLock::new();
        Self::Text { tree, value }
    }
}

impl From<Value> for Json {
    /// Wraps the value. If another crate enables `serde_json`'s `arbitrary_precision`, a value with an integer beyond 64 bits is
    /// parsed again from its text, which keeps its digits.
    fn from(value: Value) -> Self {
        let extent = Node::from(&value).extent();
        let needs_reparse = extent.depth <= MAX_DEPTH && extent.has_big_integer;
        needs_reparse
            .then(|| Self::parse(value.to_string()).ok())
            .flatten()
            .unwrap_or_else(|| Self(Arc::new(JsonForm::Value(Wrapped { value, extent }))))
    }
}

impl Drop for Wrapped {
    /// Drops deep values iteratively, because the default drop recurses and could overflow the stack.
    fn drop(&mut self) {
        if self.extent.depth <= MAX_DEPTH {
            return;
        }
        let mut rest = vec![std::mem::take(&mut self.value)];
        while let Some(value) = rest.pop() {
            match value {
                Value::Array(items) => rest.extend(items),
                Value::Object(members) => {
                    rest.extend(members.into_iter().map(|(_, member)| member))
                }
                _ => {}
            }
        }
    }
}

impl<'a> From<&'a Json> for Node<'a> {
    fn from(json: &'a Json) -> Self {
        json.node()
    }
}

impl Default for Json {
    /// Returns an empty object.
    fn default() -> Self {
        Value::Object(serde_json::Map::new()).into()
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.node() == other.node()
    }
}

impl PartialEq<Value> for Json {
    fn eq(&self, other: &Value) -> bool {
        self.node() == Node::from(other)
    }
}

impl<I: serde_json::value::Index> std::ops::Index<I> for Json {
    type Output = Value;

    /// Returns a member or an element of [`value`](Self::value), or `null` if it does not exist.
    fn index(&self, index: I) -> &Value {
        &self.value()[index]
    }
}

impl fmt::Debug for Json {
    /// Hides the content, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Json").finish_non_exhaustive()
    }
}

impl fmt::Display for Json {
    /// Writes the JSON text without white space.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text())
    }
}

impl fmt::Display for Node<'_> {
    /// Writes the JSON text without white space.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&compact_json(*self))
    }
}

impl Serialize for Json {
    /// Serializes the plain value. An integer beyond 128 bits becomes the nearest float, because serde has no larger integers.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.node().serialize(serializer)
    }
}

impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.kind() {
            Kind::Null => serializer.serialize_unit(),
            Kind::Bool(flag) => serializer.serialize_bool(flag),
            Kind::Unsigned(number) => serializer.serialize_u64(number),
            Kind::Negative(number) => serializer.serialize_i64(number),
            Kind::Float(number) => serializer.serialize_f64(number),
            Kind::BigInteger(digits) => match (digits.parse(), digits.parse()) {
                (Ok(number), _) => serializer.serialize_u128(number),
                (_, Ok(number)) => serializer.serialize_i128(number),
                _ => self.to_number().serialize(serializer),
            },
            Kind::String(string) => serializer.serialize_str(string),
            Kind::Array => {
                let elements = self.elements();
                let mut sequence = serializer.serialize_seq(Some(elements.len()))?;
                elements
                    .into_iter()
                    .try_for_each(|element| sequence.serialize_element(&element))?;
                sequence.end()
            }
            Kind::Object => {
                let members = self.members();
                let mut map = serializer.serialize_map(Some(members.len()))?;
                members
                    .into_iter()
                    .try_for_each(|(key, member)| map.serialize_entry(key, &member))?;
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    /// Deserializes any value as `serde_json` does: of a repeated key, the last counts, and an integer beyond 64 bits is rounded.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests;
