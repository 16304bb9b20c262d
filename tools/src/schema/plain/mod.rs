//! Schemas that say little: kinds, members, elements, words and the bounds of integers.
//!
//! Those of most tools say no more than that, and whether a value satisfies such a one is seen in a single walk. What is
//! accepted here the validator would accept as well. What is not may still be valid (a number such as `1.0` is an integer
//! to JSON Schema, and a schema that is open takes members that it does not name), so all else is for the validator to
//! say. Validators are then built only for tools that are called with something unusual: building the first one of a
//! process costs as much as a thousand calls.

mod compile;

use std::ops::RangeInclusive;

use protocol::json::{Kind as Type, Node};
use serde_json::Value;

/// A schema that says little.
#[derive(Debug)]
pub(crate) struct Plain {
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
        match (&self.kind, value.kind()) {
            (_, Type::Null) if self.is_nullable => true,
            (Kind::Null, Type::Null) | (Kind::Boolean, Type::Bool(_)) | (Kind::String, Type::String(_)) => true,
            (Kind::Integer(range), Type::Unsigned(number)) => range.contains(&number.into()),
            (Kind::Integer(range), Type::Negative(number)) => range.contains(&number.into()),
            (Kind::Number, Type::Unsigned(_) | Type::Negative(_) | Type::Float(_) | Type::BigInteger(_)) => true,
            (Kind::Words(words), Type::String(string)) => words.iter().any(|word| **word == *string),
            (Kind::Array(items), Type::Array) => value.elements().all(|element| items.accepts(element)),
            (Kind::Object(object), Type::Object) => {
                let mut tally = Tally::new(object);
                value.members().all(|(name, member)| tally.tick(name).is_some_and(|own| own.accepts(member)))
                    && tally.is_whole()
            }
            _ => false,
        }
    }
}

/// What was seen so far of the members of an object.
struct Tally<'p> {
    object: &'p Object,
    /// A bit for each that was there.
    seen: u64,
    /// The one after the last that was there.
    next: usize,
}

impl<'p> Tally<'p> {
    fn new(object: &'p Object) -> Self {
        Self { object, seen: 0, next: 0 }
    }

    /// The schema of the member of that name, if there is one and it was not there yet.
    #[inline]
    fn tick(&mut self, name: &str) -> Option<&'p Plain> {
        let members = &self.object.members;
        let is_it = |(own, _): &(Box<str>, Plain)| **own == *name;
        // It is often the next one.
        let place = match members.get(self.next).is_some_and(is_it) {
            true => self.next,
            false => members.iter().position(is_it)?,
        };
        let bit = 1 << place;
        if self.seen & bit != 0 {
            return None;
        }
        self.seen |= bit;
        self.next = place + 1;
        Some(&members[place].1)
    }

    /// Whether all members that have to be there were.
    #[inline]
    fn is_whole(&self) -> bool {
        self.seen & self.object.required == self.object.required
    }
}

impl From<Kind> for Plain {
    fn from(kind: Kind) -> Self {
        Self { kind, is_nullable: false }
    }
}

#[cfg(test)]
mod tests;
