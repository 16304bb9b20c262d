//! [`Mask`]: hides the secret parts of a value.

use std::collections::BTreeSet;

use protocol::json::MAX_DEPTH;
use serde_json::Value;

use super::budget::bound_text;
use super::graph::{Document, Graph, ValuePart};
use super::{SchemaError, walk};

/// The text that replaces a secret.
pub(crate) const MASK: &str = "[secret]";

/// The most subschemas visited for one value. The rest of the value is then hidden.
const MOST_WORK: usize = 1_000_000;

/// The places of a schema's secrets.
#[derive(Debug)]
pub(crate) struct Mask {
    /// The subschemas, the root first.
    subschemas: Vec<Subschema>,
}

#[derive(Debug, Default)]
struct Subschema {
    edges: Vec<(Step, usize)>,
    is_secret: bool,
    /// True if this subschema or a subschema reachable from it is secret.
    leads_to_secret: bool,
    has_keywords: bool,
}

/// An owned [`ValuePart`].
#[derive(Debug, PartialEq)]
enum Step {
    Whole,
    Property(Box<str>),
    Properties,
    Item(usize),
    Items,
}

impl From<ValuePart<'_>> for Step {
    fn from(part: ValuePart<'_>) -> Self {
        match part {
            ValuePart::Whole => Self::Whole,
            ValuePart::Property(name) => Self::Property(name.into()),
            ValuePart::Properties => Self::Properties,
            ValuePart::Item(place) => Self::Item(place),
            ValuePart::Items => Self::Items,
        }
    }
}

impl Mask {
    /// Returns `None` if the schema marks no value as secret. An invalid schema that mentions secrets hides everything.
    pub(crate) fn from_schema(schema: &Value) -> Option<Self> {
        // This look is cheap, and nearly all schemas end here.
        if !walk::values(schema)
            .any(|(value, _)| value.get("writeOnly") == Some(&Value::Bool(true)))
        {
            return None;
        }
        // An error must hide and not show: the schema may be anyone's.
        let mask = Self::read(schema).unwrap_or_else(|_| Self {
            subschemas: vec![Subschema {
                is_secret: true,
                leads_to_secret: true,
                ..Subschema::default()
            }],
        });
        mask.subschemas[0].leads_to_secret.then_some(mask)
    }

    /// Returns the value with its secrets masked.
    pub(crate) fn apply(&self, value: &Value) -> Value {
        let mut masking = Masking {
            mask: self,
            left: MOST_WORK,
        };
        let subschemas = masking.close_over(vec![0]);
        masking.value(&subschemas, value, MAX_DEPTH)
    }

    /// Returns true if a string in this property is hidden.
    pub(crate) fn hides_property(&self, name: &str) -> bool {
        let mut masking = Masking {
            mask: self,
            left: MOST_WORK,
        };
        let subschemas = masking.close_over(vec![0]);
        masking.member(&subschemas, name, &Value::from(""), MAX_DEPTH) == MASK
    }

    fn read(schema: &Value) -> Result<Self, SchemaError> {
        bound_text(schema)?;
        let document = Document::new(schema)?;
        let graph = Graph::new(schema, &document)?;
        let mut callers = vec![Vec::new(); graph.nodes.len()];
        let mut subschemas = Vec::with_capacity(graph.nodes.len());
        for (index, node) in graph.nodes.iter().enumerate() {
            node.edges
                .iter()
                .for_each(|(_, next)| callers[*next].push(index));
            let edges = node
                .edges
                .iter()
                // Names of properties are never masked, so their subschemas do not describe a value.
                .filter(|(_, next)| !graph.nodes[*next].is_for_names);
            subschemas.push(Subschema {
                edges: edges
                    .map(|(part, next)| (Step::from(*part), *next))
                    .collect(),
                is_secret: node.is_secret,
                leads_to_secret: false,
                has_keywords: node.has_keywords,
            });
        }
        let mut pending: Vec<_> = (0..subschemas.len())
            .filter(|index| subschemas[*index].is_secret)
            .collect();
        while let Some(index) = pending.pop() {
            if !std::mem::replace(&mut subschemas[index].leads_to_secret, true) {
                pending.extend(&callers[index]);
            }
        }
        Ok(Self { subschemas })
    }
}

/// One application of a mask to a value.
struct Masking<'a> {
    mask: &'a Mask,
    left: usize,
}

impl Masking<'_> {
    /// Masks a value to which these subschemas apply.
    fn value(&mut self, subschemas: &[usize], value: &Value, levels: usize) -> Value {
        let mut present = subschemas.iter().map(|index| &self.mask.subschemas[*index]);
        match value {
            Value::Null => Value::Null,
            _ if self.left == 0
                || levels == 0
                || present.clone().any(|subschema| subschema.is_secret) =>
            {
                MASK.into()
            }
            Value::Object(members) => {
                let masked = members.iter().map(|(name, member)| {
                    let masked = self.member(subschemas, name, member, levels - 1);
                    (name.clone(), masked)
                });
                Value::Object(masked.collect())
            }
            Value::Array(items) => {
                let masked = items.iter().enumerate().map(|(index, item)| {
                    self.inner(subschemas, item, levels - 1, |step| {
                        matches!(step, Step::Items) || *step == Step::Item(index)
                    })
                });
                masked.collect()
            }
            // A single value in the place of an object may be the secret that belongs into it.
            _ if present.any(|subschema| subschema.leads_to_secret) => MASK.into(),
            single => single.clone(),
        }
    }

    fn member(&mut self, subschemas: &[usize], name: &str, member: &Value, levels: usize) -> Value {
        self.inner(subschemas, member, levels, |step| match step {
            Step::Property(property) => **property == *name,
            step => *step == Step::Properties,
        })
    }

    /// Masks a child of a value. `about` selects the steps that lead to it.
    fn inner(
        &mut self,
        subschemas: &[usize],
        value: &Value,
        levels: usize,
        about: impl Fn(&Step) -> bool,
    ) -> Value {
        let mut found = Vec::new();
        let mut is_described = false;
        for (step, next) in subschemas
            .iter()
            .flat_map(|index| &self.mask.subschemas[*index].edges)
        {
            self.left = self.left.saturating_sub(1);
            if about(step) {
                // A named property counts as described, even without keywords for its value.
                is_described |=
                    matches!(step, Step::Property(_)) || self.mask.subschemas[*next].has_keywords;
                found.push(*next);
            }
        }
        if !is_described && !value.is_null() {
            return MASK.into();
        }
        let found = self.close_over(found);
        self.value(&found, value, levels)
    }

    /// Returns these subschemas and all others that they apply to the same value.
    fn close_over(&mut self, mut pending: Vec<usize>) -> Vec<usize> {
        let mut known = BTreeSet::new();
        while let Some(index) = pending.pop() {
            self.left = self.left.saturating_sub(1);
            if known.insert(index) {
                let edges = self.mask.subschemas[index].edges.iter();
                pending.extend(
                    edges
                        .filter(|(step, _)| *step == Step::Whole)
                        .map(|(_, next)| *next),
                );
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
    use crate::secret::Secret;

    const KEY: &str = "7Yt";

    fn shown(schema: Value, value: Value) -> Value {
        Secret::mask(&schema, &value).into_owned()
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
            assert_eq!(
                shown(schema.clone(), json!({"key": KEY})),
                json!({"key": MASK}),
                "{schema}"
            );
        }
    }

    #[test]
    fn secrets_in_arrays_are_hidden_one_by_one() {
        let schema = json!({"properties": {
            "keys": {"type": "array", "items": secret()},
            "pair": {"prefixItems": [{"type": "string"}, secret()], "items": {"type": "integer"}},
        }});
        let value = json!({"keys": [KEY, KEY], "pair": ["ada", KEY, 3]});
        assert_eq!(
            shown(schema, value),
            json!({"keys": [MASK, MASK], "pair": ["ada", MASK, 3]})
        );
    }

    #[test]
    fn undescribed_values_are_hidden_beside_secrets() {
        let schema = json!({
            "properties": {"user": {}, "headers": {"type": "object"}, "key": secret()},
            "propertyNames": {"maxLength": 9},
        });
        let value = json!({"user": "ada", "headers": {"authorization": KEY}, "Key": KEY, "key": null, "keys": [KEY]});
        let expected = json!({"user": "ada", "headers": {"authorization": MASK}, "Key": MASK, "key": null, "keys": MASK});
        assert_eq!(shown(schema, value), expected);
    }

    #[test]
    fn a_value_in_the_place_of_one_that_has_secrets_is_hidden() {
        let schema =
            json!({"properties": {"login": {"type": "object", "properties": {"key": secret()}}}});
        assert_eq!(
            shown(schema.clone(), json!({"login": KEY})),
            json!({"login": MASK})
        );
        assert_eq!(
            shown(schema.clone(), json!({"login": [KEY]})),
            json!({"login": [MASK]})
        );
        assert_eq!(shown(schema, json!(KEY)), json!(MASK));
    }

    #[test]
    fn a_schema_without_secrets_hides_nothing() {
        let value = json!({"key": KEY, "other": [KEY]});
        for schema in [
            json!({}),
            json!({"properties": {"writeOnly": {"type": "string"}}}),
            json!(true),
        ] {
            assert!(
                matches!(Secret::mask(&schema, &value), Cow::Borrowed(_)),
                "{schema}"
            );
        }
        // Defined, but never applied.
        assert_eq!(
            shown(json!({"$defs": {"s": secret()}}), value.clone()),
            value
        );
    }

    #[test]
    fn a_schema_that_cannot_be_read_hides_everything() {
        let schema = json!({"properties": {"key": {"writeOnly": true, "$ref": "#/$defs/missing"}}});
        assert_eq!(shown(schema, json!({"user": "ada"})), json!(MASK));
    }

    #[test]
    fn recursive_schemas_and_deep_values_come_to_an_end() {
        let schema = json!({"properties": {"key": secret(), "next": {"$ref": "#"}}, "allOf": [{"$ref": "#"}]});
        let deep = (0..200).fold(
            json!({"key": KEY}),
            |inner, _| json!({"key": KEY, "next": inner}),
        );
        assert!(!shown(schema.clone(), deep).to_string().contains(KEY));
        let wide = json!({"next": {"next": {"key": KEY, "next": null}}});
        assert_eq!(
            shown(schema, wide),
            json!({"next": {"next": {"key": MASK, "next": null}}})
        );
    }

    #[test]
    fn a_look_that_takes_too_long_hides_the_rest() {
        let branches: Vec<_> = (0..2_000)
            .map(|index| json!({"properties": {"a": {"maxLength": index}}}))
            .collect();
        let schema =
            json!({"properties": {"list": {"items": {"anyOf": branches}}, "key": secret()}});
        let value = json!({"list": vec![json!({"a": KEY}); 5_000]});
        let text = shown(schema, value).to_string();
        assert!(text.contains(KEY) && text.contains(MASK));
    }
}
