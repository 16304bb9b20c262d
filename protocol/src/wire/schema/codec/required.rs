//! [`Required`]: the keys that a strict wire requires.

use serde_json::{Map, Value};

use super::state::State;
use crate::json::{Kind, Node};
use crate::wire::schema::keyword::{members, strings, types};

/// A place in a strict wire schema.
#[derive(Clone, Copy)]
pub(super) struct Required<'a> {
    pub(super) root: &'a Value,
    pub(super) schema: &'a Value,
}

impl<'a> Required<'a> {
    /// Returns the place without references, at the alternative for a value of the catalog. Returns `None` if no alternative fits.
    pub(super) fn for_value(self, node: Node<'_>, state: &State) -> Option<Self> {
        let place = self.resolved();
        let Some(Value::Array(branches)) = place.schema.get("anyOf") else { return Some(place) };
        let mut branches = branches.iter().filter_map(|schema| Self { schema, ..self }.for_value(node, state));
        branches.find(|branch| branch.fits(node, state))
    }

    pub(super) fn property(self, wire: &str) -> Option<Self> {
        let schema = members(self.schema.as_object()?, "properties")?.get(wire)?;
        Some(Self { schema, ..self })
    }

    pub(super) fn items(self) -> Option<Self> {
        Some(Self { schema: self.schema.get("items")?, ..self })
    }

    /// Returns the required keys of an object.
    pub(super) fn keys(self) -> impl Iterator<Item = &'a str> {
        strings(self.schema.get("required"))
    }

    fn resolved(self) -> Self {
        let reference = self.schema.get("$ref").and_then(Value::as_str).and_then(|name| name.strip_prefix('#'));
        match reference.and_then(|pointer| self.root.pointer(pointer)) {
            Some(schema) => Self { schema, ..self },
            None => self,
        }
    }

    /// Returns true if the type and the tags are those of the value.
    fn fits(self, node: Node<'_>, state: &State) -> bool {
        let Value::Object(keywords) = self.schema else { return false };
        let name = match node.kind() {
            Kind::Object => "object",
            Kind::Array => "array",
            _ => return false, // A scalar has no keys.
        };
        let has_tag = |(wire, schema): (&String, &Value)| {
            let listed = match (schema.get("const"), schema.get("enum")) {
                (Some(value), _) => std::slice::from_ref(value),
                (None, Some(Value::Array(values))) => values,
                _ => return true,
            };
            let value = node.get(&state.decoded_key(wire)).and_then(Node::as_str);
            value.is_none_or(|value| listed.iter().any(|other| other == value))
        };
        types(keywords).is_some_and(|types| types.contains(&name))
            && members(keywords, "properties").unwrap_or(&Map::new()).iter().all(has_tag)
    }
}
