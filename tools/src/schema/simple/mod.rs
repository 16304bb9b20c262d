//! [`SimpleSchema`]: a fast check for schemas with only types, members, elements, string enums, lengths of strings and integer bounds.
//!
//! Most tools have such a schema, and a single walk over a value checks it. An accepted value also satisfies the validator. A
//! value that is not accepted may still be valid, so the validator decides: JSON Schema counts `1.0` as an integer, and an open
//! schema allows members that it does not name.
//!
//! Validators are therefore built only for unusual schemas and arguments. Building the first one of a process costs as much as a
//! thousand calls.

mod compile;

use std::ops::RangeInclusive;

use protocol::json::{Kind as Type, Node};
use serde_json::Value;

/// A schema that a single walk over a value can check.
#[derive(Debug)]
pub(crate) struct SimpleSchema {
    kind: Kind,
    /// True if `null` is valid too.
    is_nullable: bool,
}

#[derive(Debug)]
enum Kind {
    Null,
    Boolean,
    Integer(RangeInclusive<i128>),
    Number,
    /// A string, of so many characters if its length is bounded.
    String(Option<RangeInclusive<usize>>),
    /// A choice of strings.
    Enum(Box<[Box<str>]>),
    Array(Box<SimpleSchema>),
    Object(Object),
}

/// An object with named members.
#[derive(Debug)]
struct Object {
    members: Box<[(Box<str>, SimpleSchema)]>,
    /// A bit for each required member.
    required: u64,
}

impl SimpleSchema {
    /// Returns `None` if the schema is not simple. A simple schema always compiles.
    pub(crate) fn from_schema(schema: &Value) -> Option<Self> {
        compile::compile(schema)
    }

    /// Returns true if the value is valid. Returns false if it is invalid or needs the validator. Recurses at most as deep as the
    /// schema nests.
    pub(crate) fn accepts(&self, value: Node<'_>) -> bool {
        match (&self.kind, value.kind()) {
            (_, Type::Null) if self.is_nullable => true,
            (Kind::Null, Type::Null) | (Kind::Boolean, Type::Bool(_)) => true,
            (Kind::String(lengths), Type::String(string)) => lengths
                .as_ref()
                .is_none_or(|lengths| lengths.contains(&string.chars().count())),
            (Kind::Integer(range), Type::Unsigned(number)) => range.contains(&number.into()),
            (Kind::Integer(range), Type::Negative(number)) => range.contains(&number.into()),
            (
                Kind::Number,
                Type::Unsigned(_) | Type::Negative(_) | Type::Float(_) | Type::BigInteger(_),
            ) => true,
            (Kind::Enum(words), Type::String(string)) => words.iter().any(|word| **word == *string),
            (Kind::Array(items), Type::Array) => {
                value.elements().all(|element| items.accepts(element))
            }
            (Kind::Object(object), Type::Object) => {
                let mut seen = SeenMembers::new(object);
                value
                    .members()
                    .all(|(name, member)| seen.take(name).is_some_and(|own| own.accepts(member)))
                    && seen.has_required()
            }
            _ => false,
        }
    }
}

/// The members of an object seen so far.
struct SeenMembers<'p> {
    object: &'p Object,
    /// A bit for each member seen.
    seen: u64,
    /// The index after the last member seen.
    next: usize,
}

impl<'p> SeenMembers<'p> {
    fn new(object: &'p Object) -> Self {
        Self {
            object,
            seen: 0,
            next: 0,
        }
    }

    /// Marks a member as seen and returns its schema. Returns `None` if the member is unknown or was seen before.
    #[inline]
    fn take(&mut self, name: &str) -> Option<&'p SimpleSchema> {
        let members = &self.object.members;
        // Members usually come in the order of the schema.
        let place = match members.get(self.next) {
            Some((next, _)) if **next == *name => self.next,
            _ => members.iter().position(|(own, _)| **own == *name)?,
        };
        let bit = 1 << place;
        let is_new = self.seen & bit == 0;
        self.seen |= bit;
        self.next = place + 1;
        is_new.then_some(&members[place].1)
    }

    /// Returns true if all required members were seen.
    #[inline]
    fn has_required(&self) -> bool {
        self.seen & self.object.required == self.object.required
    }
}

impl From<Kind> for SimpleSchema {
    fn from(kind: Kind) -> Self {
        Self {
            kind,
            is_nullable: false,
        }
    }
}

#[cfg(test)]
mod tests;
