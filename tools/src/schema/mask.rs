//! [`Mask`]: what of a value may not be shown.

use std::collections::BTreeSet;

use protocol::json::MAX_DEPTH;
use serde_json::Value;

use super::budget::bound_text;
use super::graph::{Document, Graph, Part};
use super::{SchemaError, walk};

/// What stands in the place of a secret.
pub(crate) const MASK: &str = "[secret]";

/// Most subschemas that are looked at for one value. What is left by then is hidden.
const MOST_WORK: usize = 1_000_000;

/// Where a schema has secrets.
#[derive(Debug)]
pub(crate) struct Mask {
    /// The subschemas, the root first.
    places: Vec<Place>,
}

#[derive(Debug, Default)]
struct Place {
    edges: Vec<(Step, usize)>,
    is_secret: bool,
    /// It is secret, or something that it leads to is.
    leads_to_secret: bool,
    is_telling: bool,
}

/// [`Part`], without the schema.
#[derive(Debug, PartialEq)]
enum Step {
    Whole,
    Property(Box<str>),
    Properties,
    Item(usize),
    Items,
}

impl Mask {
    /// The mask of a schema; `None` where it calls nothing secret. A schema that cannot be used hides everything, if it mentions
    /// secrets.
    pub(crate) fn of(schema: &Value) -> Option<Self> {
        if !walk::values(schema).any(|(value, _)| value.get("writeOnly") == Some(&Value::Bool(true))) {
            return None;
        }
        let everything = || Self { places: vec![Place { is_secret: true, leads_to_secret: true, ..Place::default() }] };
        let mask = Self::read(schema).unwrap_or_else(|_| everything());
        mask.places[0].leads_to_secret.then_some(mask)
    }

    /// A value as it may be shown.
    pub(crate) fn of_value(&self, value: &Value) -> Value {
        let mut look = Look { mask: self, left: MOST_WORK };
        let places = look.closed(vec![0]);
        look.value(&places, value, MAX_DEPTH)
    }

    /// Whether a value of that property is hidden.
    pub(crate) fn hides_property(&self, name: &str) -> bool {
        let mut look = Look { mask: self, left: MOST_WORK };
        let places = look.closed(vec![0]);
        look.member(&places, name, &Value::from(""), MAX_DEPTH) == MASK
    }

    fn read(schema: &Value) -> Result<Self, SchemaError> {
        bound_text(schema)?;
        let document = Document::new(schema)?;
        let graph = Graph::new(schema, &document)?;
        let step = |part: Part<'_>| match part {
            Part::Whole => Step::Whole,
            Part::Property(name) => Step::Property(name.into()),
            Part::Properties => Step::Properties,
            Part::Item(place) => Step::Item(place),
            Part::Items => Step::Items,
        };
        let mut callers = vec![Vec::new(); graph.nodes.len()];
        let mut places = Vec::with_capacity(graph.nodes.len());
        for (index, node) in graph.nodes.iter().enumerate() {
            node.edges.iter().for_each(|(_, next)| callers[*next].push(index));
            let edges = node.edges.iter().filter(|(_, next)| !graph.nodes[*next].is_of_names);
            places.push(Place {
                edges: edges.map(|(part, next)| (step(*part), *next)).collect(),
                is_secret: node.is_secret,
                leads_to_secret: false,
                is_telling: node.is_telling,
            });
        }
        let mut pending: Vec<_> = (0..places.len()).filter(|index| places[*index].is_secret).collect();
        while let Some(index) = pending.pop() {
            if !std::mem::replace(&mut places[index].leads_to_secret, true) {
                pending.extend(&callers[index]);
            }
        }
        Ok(Self { places })
    }
}

/// One look at a value through a mask.
struct Look<'a> {
    mask: &'a Mask,
    left: usize,
}

impl Look<'_> {
    /// A value that these subschemas are about.
    fn value(&mut self, places: &[usize], value: &Value, levels: usize) -> Value {
        let is = |holds: fn(&Place) -> bool| places.iter().any(|index| holds(&self.mask.places[*index]));
        match value {
            Value::Null => Value::Null,
            _ if self.left == 0 || levels == 0 || is(|place| place.is_secret) => MASK.into(),
            Value::Object(members) => {
                let masked =
                    |(name, member): (&String, &Value)| (name.clone(), self.member(places, name, member, levels - 1));
                Value::Object(members.iter().map(masked).collect())
            }
            Value::Array(items) => {
                let masked = |(index, item): (usize, &Value)| {
                    let about = |step: &Step| matches!(step, Step::Items) || *step == Step::Item(index);
                    self.inner(places, about, item, levels - 1)
                };
                items.iter().enumerate().map(masked).collect()
            }
            _ if is(|place| place.leads_to_secret) => MASK.into(),
            single => single.clone(),
        }
    }

    fn member(&mut self, places: &[usize], name: &str, member: &Value, levels: usize) -> Value {
        let about = |step: &Step| match step {
            Step::Property(property) => **property == *name,
            step => *step == Step::Properties,
        };
        self.inner(places, about, member, levels)
    }

    /// What lies in a value, at a place that some steps are about.
    fn inner(&mut self, places: &[usize], about: impl Fn(&Step) -> bool, value: &Value, levels: usize) -> Value {
        let mut found = Vec::new();
        let mut is_described = false;
        for (step, next) in places.iter().flat_map(|index| &self.mask.places[*index].edges) {
            self.left = self.left.saturating_sub(1);
            if about(step) {
                // Who names a property knows of it, even if nothing is said of its value.
                is_described |= matches!(step, Step::Property(_)) || self.mask.places[*next].is_telling;
                found.push(*next);
            }
        }
        if !is_described && !value.is_null() {
            return MASK.into();
        }
        let found = self.closed(found);
        self.value(&found, value, levels)
    }

    /// These subschemas, and all that they apply to the same value.
    fn closed(&mut self, mut pending: Vec<usize>) -> Vec<usize> {
        let mut known = BTreeSet::new();
        while let Some(index) = pending.pop() {
            self.left = self.left.saturating_sub(1);
            if known.insert(index) {
                let edges = self.mask.places[index].edges.iter();
                pending.extend(edges.filter(|(step, _)| *step == Step::Whole).map(|(_, next)| *next));
            }
        }
        known.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use serde_json::json;

    use super::*;
    use crate::Secret;

    const KEY: &str = "7Yt";

    /// The value with and without its secrets shown differently.
    fn shown(schema: Value, value: Value) -> Value {
        Secret::masked(&schema, &value).into_owned()
    }

    fn secret() -> Value {
        json!({"type": "string", "writeOnly": true})
    }

    #[test]
    fn secrets_are_found_through_every_keyword() {
        let key = || json!({"properties": {"key": secret()}});
        for schema in [
            key(),
            json!({"allOf": [key()]}),
            json!({"anyOf": [{"properties": {"key": {"type": "integer"}}}, key()]}),
            json!({"oneOf": [key(), {"properties": {"key": {"type": "integer"}}}]}),
            json!({"if": key(), "then": {"properties": {"key": {"minLength": 1}}}}),
            json!({"dependentSchemas": {"key": key()}}),
            json!({"$ref": "#/$defs/k", "$defs": {"k": key()}}),
            json!({"$ref": "#k", "$defs": {"k": {"$anchor": "k", "properties": {"key": {"$ref": "#/$defs/s"}}}, "s": secret()}}),
            json!({"patternProperties": {"^k": secret()}}),
            json!({"additionalProperties": secret()}),
            json!({"properties": {"key": {"anyOf": [secret(), {"type": "null"}]}}}),
        ] {
            assert_eq!(shown(schema.clone(), json!({"key": KEY})), json!({"key": MASK}), "{schema}");
        }
    }

    #[test]
    fn secrets_in_arrays_are_hidden_one_by_one() {
        let schema = json!({"properties": {
            "keys": {"type": "array", "items": secret()},
            "pair": {"prefixItems": [{"type": "string"}, secret()], "items": {"type": "integer"}},
        }});
        let value = json!({"keys": [KEY, KEY], "pair": ["ada", KEY, 3]});
        assert_eq!(shown(schema, value), json!({"keys": [MASK, MASK], "pair": ["ada", MASK, 3]}));
    }

    #[test]
    fn what_nobody_describes_is_hidden_beside_secrets() {
        let schema = json!({
            "properties": {"user": {}, "headers": {"type": "object"}, "key": secret()},
            "propertyNames": {"maxLength": 9},
        });
        let value = json!({"user": "ada", "headers": {"authorization": KEY}, "Key": KEY, "key": null, "keys": [KEY]});
        let expected =
            json!({"user": "ada", "headers": {"authorization": MASK}, "Key": MASK, "key": null, "keys": MASK});
        assert_eq!(shown(schema, value), expected);
    }

    #[test]
    fn a_value_in_the_place_of_one_that_has_secrets_is_hidden() {
        let schema = json!({"properties": {"login": {"type": "object", "properties": {"key": secret()}}}});
        assert_eq!(shown(schema.clone(), json!({"login": KEY})), json!({"login": MASK}));
        assert_eq!(shown(schema.clone(), json!({"login": [KEY]})), json!({"login": [MASK]}));
        assert_eq!(shown(schema, json!(KEY)), json!(MASK));
    }

    #[test]
    fn a_schema_without_secrets_hides_nothing() {
        let value = json!({"key": KEY, "other": [KEY]});
        for schema in [json!({}), json!({"properties": {"writeOnly": {"type": "string"}}}), json!(true)] {
            assert!(matches!(Secret::masked(&schema, &value), Cow::Borrowed(_)), "{schema}");
        }
        // Defined, and never applied.
        assert_eq!(shown(json!({"$defs": {"s": secret()}}), value.clone()), value);
    }

    #[test]
    fn a_schema_that_cannot_be_read_hides_everything() {
        let schema = json!({"properties": {"key": {"writeOnly": true, "$ref": "#/$defs/missing"}}});
        assert_eq!(shown(schema, json!({"user": "ada"})), json!(MASK));
    }

    #[test]
    fn recursive_schemas_and_deep_values_come_to_an_end() {
        let schema = json!({"properties": {"key": secret(), "next": {"$ref": "#"}}, "allOf": [{"$ref": "#"}]});
        let deep = (0..200).fold(json!({"key": KEY}), |inner, _| json!({"key": KEY, "next": inner}));
        assert!(!shown(schema.clone(), deep).to_string().contains(KEY));
        let wide = json!({"next": {"next": {"key": KEY, "next": null}}});
        assert_eq!(shown(schema, wide), json!({"next": {"next": {"key": MASK, "next": null}}}));
    }

    #[test]
    fn a_look_that_takes_too_long_hides_the_rest() {
        let branches: Vec<_> = (0..2_000).map(|index| json!({"properties": {"a": {"maxLength": index}}})).collect();
        let schema = json!({"properties": {"list": {"items": {"anyOf": branches}}, "key": secret()}});
        let value = json!({"list": vec![json!({"a": KEY}); 5_000]});
        let text = shown(schema, value).to_string();
        assert!(text.contains(KEY) && text.contains(MASK));
    }
}
