//! Trees as `jsonschema` validates them: until the [deadline](super::deadline) of a check, and empty from then on.

use std::borrow::Cow;
use std::iter::TakeWhile;

use jsonschema::JsonType;
use jsonschema::json::{self, Json, NodeIdentity, cmp};
use serde_json::{Number, Value};

use super::deadline::{has_passed, has_passed_at_long_step};
use crate::tree::{Elements, Members, Node, Tree};

/// The representation of JSON that validators here are compiled for.
pub(super) struct Instance;

impl Json for Instance {
    type Node<'a> = Node<'a>;
    type PreparedKey = Box<str>;
    type StringBuffer = Tree;

    // A lookup walks the members, as a pass does.
    const KEYS_PER_LOOKUP: usize = 4;

    fn prepare_key(key: &str) -> Box<str> {
        key.into()
    }

    fn with_string_node<T>(buffer: &mut Tree, string: &str, f: impl FnOnce(Node<'_>) -> T) -> T {
        buffer.set_string(string);
        f(buffer.root())
    }
}

impl<'a> json::Node<'a, Instance> for Node<'a> {
    type Object = Self;
    type Array = Self;
    type Number = Number;

    #[inline]
    fn as_object(&self) -> Option<Self> {
        Node::as_object(*self).filter(|_| !has_passed()).map(|_| *self)
    }

    #[inline]
    fn as_array(&self) -> Option<Self> {
        Node::as_array(*self).filter(|_| !has_passed()).map(|_| *self)
    }

    #[inline]
    fn as_string(&self) -> Option<Cow<'a, str>> {
        self.as_str().filter(|_| !has_passed()).map(Cow::Borrowed)
    }

    #[inline]
    fn as_number(&self) -> Option<Number> {
        Node::as_number(*self).filter(|_| !has_passed())
    }

    #[inline]
    fn as_boolean(&self) -> Option<bool> {
        self.as_bool()
    }

    #[inline]
    fn is_null(&self) -> bool {
        Node::is_null(*self)
    }

    #[inline]
    fn is_number(&self) -> bool {
        Node::is_number(*self)
    }

    #[inline]
    fn is_string(&self) -> bool {
        Node::is_string(*self)
    }

    #[inline]
    fn json_type(&self) -> JsonType {
        has_passed();
        if Node::is_string(*self) {
            JsonType::String
        } else if Node::as_object(*self).is_some() {
            JsonType::Object
        } else if Node::as_array(*self).is_some() {
            JsonType::Array
        } else if Node::is_number(*self) {
            JsonType::Number
        } else if self.as_bool().is_some() {
            JsonType::Boolean
        } else {
            JsonType::Null
        }
    }

    fn equals_value(&self, expected: &Value) -> bool {
        match (self.as_str(), expected) {
            (Some(string), Value::String(expected)) => string == expected,
            (Some(_), _) | (None, Value::String(_)) => false,
            (None, _) => !has_passed_at_long_step() && cmp::equal(&Node::to_value(*self), expected),
        }
    }

    fn to_value(&self) -> Cow<'a, Value> {
        Cow::Owned(if has_passed_at_long_step() { Value::Null } else { Node::to_value(*self) })
    }

    #[inline]
    fn identity(&self) -> Option<NodeIdentity> {
        Some(NodeIdentity::tagged(std::ptr::from_ref(self.tree()).addr(), self.place()))
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
