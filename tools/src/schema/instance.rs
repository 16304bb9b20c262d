//! Adapts [`Node`] to `jsonschema`. After the [deadline](super::deadline) of a check every node appears empty, which ends it.

use std::borrow::Cow;
use std::iter::TakeWhile;

use jsonschema::JsonType;
use jsonschema::json::{self, Json, NodeIdentity, cmp};
use protocol::json::{Elements, Kind, Members, Node};
use serde_json::{Number, Value};

use super::deadline::{has_passed, has_passed_at_long_step};

/// The JSON representation that validators are compiled for.
pub(super) struct Instance;

impl Json for Instance {
    type Node<'a> = Node<'a>;
    type PreparedKey = Box<str>;
    type StringBuffer = Value;

    // A lookup walks the members, so it costs as much as one pass over them.
    const KEYS_PER_LOOKUP: usize = 4;

    fn prepare_key(key: &str) -> Box<str> {
        key.into()
    }

    fn with_string_node<T>(buffer: &mut Value, string: &str, f: impl FnOnce(Node<'_>) -> T) -> T {
        *buffer = string.into();
        f(Node::from(&*buffer))
    }
}

impl<'a> json::Node<'a, Instance> for Node<'a> {
    type Object = Self;
    type Array = Self;
    type Number = Number;

    #[inline]
    fn as_object(&self) -> Option<Self> {
        (self.kind() == Kind::Object && !has_passed()).then_some(*self)
    }

    #[inline]
    fn as_array(&self) -> Option<Self> {
        (self.kind() == Kind::Array && !has_passed()).then_some(*self)
    }

    #[inline]
    fn as_string(&self) -> Option<Cow<'a, str>> {
        self.as_str().filter(|_| !has_passed()).map(Cow::Borrowed)
    }

    #[inline]
    fn as_number(&self) -> Option<Number> {
        self.to_number().filter(|_| !has_passed())
    }

    #[inline]
    fn as_boolean(&self) -> Option<bool> {
        match self.kind() {
            Kind::Bool(flag) => Some(flag),
            _ => None,
        }
    }

    #[inline]
    fn is_null(&self) -> bool {
        self.kind() == Kind::Null
    }

    #[inline]
    fn is_number(&self) -> bool {
        matches!(self.json_type(), JsonType::Number)
    }

    #[inline]
    fn is_string(&self) -> bool {
        matches!(self.kind(), Kind::String(_))
    }

    #[inline]
    fn json_type(&self) -> JsonType {
        has_passed();
        match self.kind() {
            Kind::Null => JsonType::Null,
            Kind::Bool(_) => JsonType::Boolean,
            Kind::Unsigned(_) | Kind::Negative(_) | Kind::Float(_) | Kind::BigInteger(_) => {
                JsonType::Number
            }
            Kind::String(_) => JsonType::String,
            Kind::Array => JsonType::Array,
            Kind::Object => JsonType::Object,
        }
    }

    fn equals_value(&self, expected: &Value) -> bool {
        match (self.as_str(), expected) {
            // Most constants are strings, which are compared without a copy.
            (Some(string), Value::String(expected)) => string == expected,
            (Some(_), _) | (None, Value::String(_)) => false,
            (None, _) => {
                !has_passed_at_long_step() && cmp::equal(&self.to_rounded_value(), expected)
            }
        }
    }

    fn to_value(&self) -> Cow<'a, Value> {
        Cow::Owned(if has_passed_at_long_step() {
            Value::Null
        } else {
            self.to_rounded_value()
        })
    }

    #[inline]
    fn identity(&self) -> Option<NodeIdentity> {
        let (address, place) = Node::identity(*self);
        Some(NodeIdentity::tagged(address, place))
    }
}

impl<'a> json::Object<'a, Instance> for Node<'a> {
    type Node = Self;
    type MemberName = &'a str;
    type MembersIter = TakeWhile<Members<'a>, fn(&(&'a str, Self)) -> bool>;

    #[inline]
    fn len(&self) -> usize {
        Node::members(*self).len()
    }

    #[inline]
    fn get(&self, key: &Box<str>) -> Option<Self> {
        Node::get(*self, key)
    }

    #[inline]
    fn members(&self) -> Self::MembersIter {
        Node::members(*self).take_while(|_| !has_passed())
    }
}

impl<'a> json::Array<'a, Instance> for Node<'a> {
    type Node = Self;
    type ElementsIter = TakeWhile<Elements<'a>, fn(&Self) -> bool>;

    #[inline]
    fn len(&self) -> usize {
        Node::elements(*self).len()
    }

    #[inline]
    fn elements(&self) -> Self::ElementsIter {
        Node::elements(*self).take_while(|_| !has_passed())
    }
}
