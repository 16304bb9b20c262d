//! [`State`]: the names of the members of one object, wherever it is in the arguments.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::stem;
use crate::wire::schema::strict::Nulls;

/// The names of an object's members, and the states of its members and elements.
#[derive(Clone, Debug, Default)]
pub(in crate::wire::schema) struct State {
    /// The replaced keys, by catalog key.
    pub(super) wires: BTreeMap<String, String>,
    /// The replaced keys, by wire key.
    pub(super) keys: BTreeMap<String, String>,
    pub(super) nulls: Nulls,
    pub(super) properties: BTreeMap<String, usize>,
    /// The state of a member with any other key.
    pub(super) rest: Option<usize>,
    /// The states of the first elements.
    pub(super) first: Vec<usize>,
    /// The state of the other elements.
    pub(super) elements: Option<usize>,
}

impl State {
    /// Returns the wire's key for a key of the catalog. A key that looks like a replacement gets an underscore.
    pub(super) fn encoded_key<'a>(&'a self, key: &'a str) -> Cow<'a, str> {
        match self.wires.get(key) {
            Some(wire) => Cow::Borrowed(wire),
            None if self.keys.contains_key(stem(key)) => Cow::Owned(format!("{key}_")),
            None => Cow::Borrowed(key),
        }
    }

    /// Returns the catalog's key for a key on the wire.
    pub(super) fn decoded_key<'a>(&'a self, wire: &'a str) -> Cow<'a, str> {
        match self.keys.get(stem(wire)) {
            Some(key) if stem(wire) == wire => Cow::Borrowed(key),
            Some(_) => Cow::Borrowed(&wire[..wire.len() - 1]),
            None => Cow::Borrowed(wire),
        }
    }

    /// Returns true if the catalog's key has another name on the wire.
    pub(super) fn is_replaced(&self, key: &str) -> bool {
        self.wires.contains_key(key)
    }

    pub(super) fn member(&self, key: &str) -> Option<usize> {
        self.properties.get(key).copied().or(self.rest)
    }

    pub(super) fn element(&self, index: usize) -> Option<usize> {
        self.first.get(index).copied().or(self.elements)
    }

    /// Returns true if a null for the key stands for an absent property.
    pub(super) fn is_absent_as_null(&self, key: &str) -> bool {
        self.nulls.is_absence(key)
    }
}
