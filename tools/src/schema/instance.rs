//! Trees as what `jsonschema` validates.

use std::borrow::Cow;

use jsonschema::JsonType;
use jsonschema::json::{self, Json, NodeIdentity, cmp};
use serde_json::{Number, Value};

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

    fn as_object(&self) -> Option<Self> {
        Node::as_object(*self).map(|_| *self)
    }

    fn as_array(&self) -> Option<Self> {
        Node::as_array(*self).map(|_| *self)
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        self.as_str().map(Cow::Borrowed)
    }

    fn as_number(&self) -> Option<Number> {
        Node::as_number(*self)
    }

    fn as_boolean(&self) -> Option<bool> {
        self.as_bool()
    }

    fn is_null(&self) -> bool {
        Node::is_null(*self)
    }

    fn json_type(&self) -> JsonType {
        if self.as_str().is_some() {
            JsonType::String
        } else if Node::as_object(*self).is_some() {
            JsonType::Object
        } else if Node::as_array(*self).is_some() {
            JsonType::Array
        } else if Node::as_number(*self).is_some() {
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
            (None, _) => cmp::equal(&Node::to_value(*self), expected),
        }
    }

    fn to_value(&self) -> Cow<'a, Value> {
        Cow::Owned(Node::to_value(*self))
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(NodeIdentity::tagged(std::ptr::from_ref(self.tree()).addr(), self.place()))
    }
}

impl<'a> json::Object<'a, Instance> for Node<'a> {
    type Node = Self;
    type MemberName = &'a str;
    type MembersIter = Members<'a>;

    fn len(&self) -> usize {
        self.members().len()
    }

    fn get(&self, key: &Box<str>) -> Option<Self> {
        Node::get(*self, key)
    }

    fn members(&self) -> Members<'a> {
        Node::members(*self)
    }
}

impl<'a> json::Array<'a, Instance> for Node<'a> {
    type Node = Self;
    type ElementsIter = Elements<'a>;

    fn len(&self) -> usize {
        self.elements().len()
    }

    fn elements(&self) -> Elements<'a> {
        Node::elements(*self)
    }
}
