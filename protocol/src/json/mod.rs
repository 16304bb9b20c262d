//! JSON that is read once and shared: the arguments of calls.

mod access;
mod build;
pub(crate) mod canonical;
mod deserialize;
mod error;
mod extent;
mod key;
mod node;
mod read;
mod tree;
mod write;

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::de::{DeserializeOwned, Deserializer};
use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::canonical::compact_json;
use self::deserialize::{Floats, Reader};
use self::tree::Tree;
use self::write::Written;

pub use self::error::InvalidJson;
pub use self::extent::Extent;
pub use self::node::{Elements, Kind, Members, Node};

/// How deep JSON text may nest, in levels of arrays and objects.
pub const MAX_DEPTH: usize = 64;

/// A JSON value that is cheap to clone: clones share it.
///
/// Text is [parsed](Self::parse), a [`Value`] is wrapped without a copy, and a type [writes](Self::from_serialize) itself. All are
/// read as a [`Node`], or into a [type](Self::deserialize). Text is read strictly, and its integers stay exact, of any length. A
/// `Json` serialises as the plain value.
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
pub struct Json(Arc<Inner>);

enum Inner {
    Value(Wrapped),
    Text { tree: Tree, value: OnceLock<Value> },
    Written(Written),
}

/// A value and its size.
struct Wrapped {
    value: Value,
    extent: Extent,
}

impl Json {
    /// Reads a whole text strictly: no object may have a key twice, and nothing may nest deeper than [`MAX_DEPTH`].
    ///
    /// # Errors
    /// Returns [`InvalidJson`] with the place of the fault.
    pub fn parse(text: impl Into<String>) -> Result<Self, InvalidJson> {
        read::read(text.into()).map(|tree| Self(Arc::new(Inner::Text { tree, value: OnceLock::new() })))
    }

    /// Writes a type as JSON. The text is read again only if somebody looks into it; of a key that the type writes twice the last
    /// counts then.
    ///
    /// # Errors
    /// Returns the error of the type's `Serialize`, such as for a map whose keys are no strings.
    pub fn from_serialize(value: &impl Serialize) -> Result<Self, serde_json::Error> {
        match write::write(value)? {
            Some(written) => Ok(Self(Arc::new(Inner::Written(written)))),
            None => serde_json::to_value(value).map(Self::from),
        }
    }

    /// Returns the JSON text, without white space.
    pub(crate) fn to_text(&self) -> String {
        match &*self.0 {
            Inner::Written(written) => written.text.clone(),
            _ => compact_json(self.node()),
        }
    }

    /// Returns the value as a node.
    #[inline]
    pub fn node(&self) -> Node<'_> {
        match &*self.0 {
            Inner::Value(wrapped) => Node::from(&wrapped.value),
            Inner::Text { tree, .. } => Node::root(tree),
            Inner::Written(written) => written.read().node(),
        }
    }

    /// Returns the size, which is known unless the JSON was [written](Self::from_serialize) and not read.
    pub fn extent(&self) -> Extent {
        match &*self.0 {
            Inner::Value(wrapped) => wrapped.extent,
            Inner::Text { tree, .. } => Node::root(tree).extent(),
            Inner::Written(written) => written.read().extent(),
        }
    }

    /// Returns the length as JSON text, in bytes, if a type has [written](Self::from_serialize) it. Reads nothing.
    pub fn serialized_len(&self) -> Option<usize> {
        match &*self.0 {
            Inner::Written(written) => Some(written.text.len()),
            Inner::Value(_) | Inner::Text { .. } => None,
        }
    }

    /// Returns the JSON as a [`Value`], which is built from text the first time. An integer beyond 64 bits is a string of its
    /// digits there, because no [`Number`](serde_json::Number) holds it; [`deserialize`](Self::deserialize) reads it into an
    /// `i128` or `u128`.
    pub fn value(&self) -> &Value {
        match &*self.0 {
            Inner::Value(wrapped) => &wrapped.value,
            Inner::Text { tree, value } => value.get_or_init(|| Node::root(tree).to_value()),
            Inner::Written(written) => written.read().value(),
        }
    }

    /// Returns the JSON as a [`Value`], as [`value`](Self::value) does. Copies it only if another clone exists.
    pub fn into_value(self) -> Value {
        match Arc::try_unwrap(self.0) {
            Ok(Inner::Value(mut wrapped)) => std::mem::take(&mut wrapped.value),
            Ok(Inner::Text { tree, value }) => value.into_inner().unwrap_or_else(|| Node::root(&tree).to_value()),
            Ok(Inner::Written(written)) => written.read().value().clone(),
            Err(shared) => Self(shared).value().clone(),
        }
    }

    /// Reads the JSON into a type, by the rules of `serde_json`, with these differences:
    ///
    /// - JSON Schema calls `1.0` an integer, so an integral float is read as one where the type takes nothing else. Beyond 2^53 - 1
    ///   it is refused, because another number may have been meant.
    /// - An integer beyond 64 bits is read into an `i128`, a `u128` or a float, and refused elsewhere.
    /// - A number beyond the range of an `f32` is refused for one.
    ///
    /// # Errors
    /// Returns serde's error if the JSON is not of the type, or nests deeper than [`MAX_DEPTH`].
    pub fn deserialize<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        if self.extent().depth > MAX_DEPTH {
            return Err(serde::de::Error::custom(format_args!("JSON that nests deeper than {MAX_DEPTH} levels")));
        }
        let read = |floats| T::deserialize(Reader::new(self.node(), floats));
        // A parameter that takes any value should see the one that was sent, so floats become integers only where this fails.
        read(Floats::AsSent).or_else(|error| match deserialize::has_integral_float(self.node()) {
            true => read(Floats::AsIntegers),
            false => Err(error),
        })
    }
}

impl From<Value> for Json {
    /// Wraps the value. Where another crate turns on `serde_json`'s `arbitrary_precision`, a value with an integer beyond 64 bits is
    /// read again from its text, so that its digits are kept.
    fn from(value: Value) -> Self {
        let extent = Node::from(&value).extent();
        let reread = || Self::parse(value.to_string()).ok();
        let is_odd = extent.depth <= MAX_DEPTH && extent.has_big_integer;
        is_odd.then(reread).flatten().unwrap_or_else(|| Self(Arc::new(Inner::Value(Wrapped { value, extent }))))
    }
}

impl Drop for Wrapped {
    /// Drops deep values level by level: the compiler's drop recurses, and could overflow the stack.
    fn drop(&mut self) {
        if self.extent.depth <= MAX_DEPTH {
            return;
        }
        let mut rest = vec![std::mem::take(&mut self.value)];
        while let Some(value) = rest.pop() {
            match value {
                Value::Array(items) => rest.extend(items),
                Value::Object(members) => rest.extend(members.into_iter().map(|(_, member)| member)),
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

    /// Returns a member or an element of [`value`](Self::value), and `null` if there is none.
    fn index(&self, index: I) -> &Value {
        &self.value()[index]
    }
}

impl fmt::Debug for Json {
    /// Shows nothing of the content: some of it may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Json").finish_non_exhaustive()
    }
}

impl fmt::Display for Json {
    /// Writes the JSON text, without white space.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text())
    }
}

impl fmt::Display for Node<'_> {
    /// Writes the JSON text, without white space.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&compact_json(*self))
    }
}

impl Serialize for Json {
    /// Writes the plain value. An integer beyond 128 bits becomes the nearest float, because serde knows no larger ones.
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
                elements.into_iter().try_for_each(|element| sequence.serialize_element(&element))?;
                sequence.end()
            }
            Kind::Object => {
                let members = self.members();
                let mut map = serializer.serialize_map(Some(members.len()))?;
                members.into_iter().try_for_each(|(key, member)| map.serialize_entry(key, &member))?;
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    /// Reads any value, as `serde_json` reads one: of a repeated key the last counts, and an integer beyond 64 bits is rounded.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests;
