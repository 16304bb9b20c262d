//! Schemas that say little: kinds, members, elements, words and the bounds of integers.
//!
//! Those of most tools say no more than that, and whether a value satisfies such a one is seen in a single walk. What is
//! accepted here the validator would accept as well. What is not may still be valid (a number such as `1.0` is an integer
//! to JSON Schema, and a schema that is open takes members that it does not name), so all else is for the validator to
//! say. Validators are then built only for tools that are called with something unusual: building the first one of a
//! process costs as much as a thousand calls.

mod checked;
mod compile;

use std::ops::RangeInclusive;

use serde_json::Value;

use crate::tree::{Members, Node};

pub(crate) use self::checked::read;

/// A schema that says little.
#[derive(Debug)]
pub struct Plain {
    kind: Kind,
    /// Whether it takes `null` as well.
    is_nullable: bool,
}

#[derive(Debug)]
enum Kind {
    Null,
    Boolean,
    Integer(RangeInclusive<i128>),
    Number,
    String,
    /// One of these strings.
    Words(Box<[Box<str>]>),
    Array(Box<Plain>),
    Object(Object),
}

/// An object with members that have names.
#[derive(Debug)]
struct Object {
    members: Box<[(Box<str>, Plain)]>,
    /// A bit for each member that has to be there.
    required: u64,
}

impl Plain {
    /// The schema, where it says little and is one: it compiles then.
    pub(crate) fn of(schema: &Value) -> Option<Self> {
        compile::compile(schema)
    }

    /// Whether the value surely satisfies the schema. Recurses no deeper than the schema nests.
    pub(crate) fn accepts(&self, value: Node<'_>) -> bool {
        match &self.kind {
            _ if self.is_nullable && value.is_null() => true,
            Kind::Null => value.is_null(),
            Kind::Boolean => value.as_bool().is_some(),
            Kind::Integer(range) => value.as_integer().is_some_and(|number| range.contains(&number)),
            Kind::Number => value.is_number(),
            Kind::String => value.is_string(),
            kind @ Kind::Words(_) => value.as_str().is_some_and(|string| kind.takes(string)),
            Kind::Array(items) => {
                value.as_array().is_some_and(|mut elements| elements.all(|element| items.accepts(element)))
            }
            Kind::Object(object) => value.as_object().is_some_and(|members| object.accepts(members)),
        }
    }
}

impl Kind {
    /// Whether a string of that text is of this kind.
    #[inline]
    fn takes(&self, string: &str) -> bool {
        match self {
            Self::String => true,
            Self::Words(words) => words.iter().any(|word| **word == *string),
            _ => false,
        }
    }
}

impl Object {
    /// Whether all members that have to be there were.
    #[inline]
    fn has_all(&self, seen: u64) -> bool {
        seen & self.required == self.required
    }

    /// No key is there twice in a tree.
    fn accepts(&self, members: Members<'_>) -> bool {
        let mut seen = 0;
        let mut next = 0;
        for (name, value) in members.by_bytes() {
            let Some(index) = self.find(name, next) else { return false };
            if !self.members[index].1.accepts(value) {
                return false;
            }
            seen |= 1 << index;
            next = index + 1;
        }
        self.has_all(seen)
    }

    /// Where the member of that name is. It is often the next one.
    #[inline]
    fn find(&self, name: &[u8], next: usize) -> Option<usize> {
        let is_it = |(own, _): &(Box<str>, Plain)| own.as_bytes() == name;
        if self.members.get(next).is_some_and(is_it) {
            return Some(next);
        }
        self.members.iter().position(is_it)
    }
}

impl From<Kind> for Plain {
    fn from(kind: Kind) -> Self {
        Self { kind, is_nullable: false }
    }
}

#[cfg(test)]
mod tests;
