//! [`misspelt`]: arguments that a schema accepts but does not name.

use std::collections::BTreeSet;

use protocol::json::Node;
use serde_json::Value;

use super::accepted::MOST_VISITS;
use crate::near::near;

/// The most unknown and the most absent arguments that are compared, because each pair is, and the most that are reported.
const GIVEN: usize = 8;
const ABSENT: usize = 200;
const REPORTED: usize = 3;

/// An argument that the schema does not name, and the argument that was probably meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Misspelt {
    pub(crate) given: String,
    pub(crate) near: String,
}

/// Returns the arguments that a schema does not name and whose names are similar to an argument that is absent.
///
/// A schema without `additionalProperties: false` accepts them, and a tool ignores them. Returns nothing if the schema has rules for
/// properties that it does not name.
pub(crate) fn misspelt(schema: &Value, arguments: Node<'_>) -> Vec<Misspelt> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut names = arguments.members().map(|(name, _)| name);
    // Nearly all calls end here, before names are collected.
    if names.all(|name| properties.is_some_and(|properties| properties.contains_key(name))) {
        return Vec::new();
    }
    let mut named = BTreeSet::new();
    if !collect(schema, schema, &mut named, &mut { MOST_VISITS }) {
        return Vec::new();
    }
    let unknown = arguments
        .members()
        .map(|(name, _)| name)
        .filter(|name| !named.contains(name))
        .take(GIVEN);
    let absent: Vec<_> = named
        .iter()
        .copied()
        .filter(|name| arguments.get(name).is_none())
        .take(ABSENT)
        .collect();
    let misspelt = unknown.filter_map(|given| {
        let near = near(given, absent.iter().copied()).into_iter().next()?;
        Some(Misspelt {
            given: given.to_owned(),
            near,
        })
    });
    misspelt.take(REPORTED).collect()
}

/// Collects the properties that a schema names for the value itself. Returns false if it may accept others on purpose.
fn collect<'a>(
    root: &'a Value,
    schema: &'a Value,
    named: &mut BTreeSet<&'a str>,
    visits: &mut usize,
) -> bool {
    let Some(keywords) = schema.as_object() else {
        return true;
    };
    let Some(left) = visits.checked_sub(1) else {
        return false;
    };
    *visits = left;
    let rules = [
        "patternProperties",
        "additionalProperties",
        "unevaluatedProperties",
        "propertyNames",
    ];
    if rules
        .iter()
        .any(|rule| keywords.get(*rule).is_some_and(Value::is_object))
    {
        return false;
    }
    named.extend(
        keywords
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(|(name, _)| &**name),
    );
    let target = match keywords.get("$ref").and_then(Value::as_str) {
        None => None,
        Some(place) => match place
            .strip_prefix('#')
            .and_then(|pointer| root.pointer(pointer))
        {
            // A target that is not found may name more properties, so nothing is known to be misspelt.
            None => return false,
            target => target,
        },
    };
    let one = ["if", "then", "else"]
        .into_iter()
        .filter_map(|keyword| keywords.get(keyword));
    let many = ["allOf", "anyOf", "oneOf"]
        .into_iter()
        .filter_map(|keyword| keywords.get(keyword)?.as_array());
    let dependent = keywords
        .get("dependentSchemas")
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(|map| map.values());
    let mut inner = target
        .into_iter()
        .chain(one)
        .chain(many.flatten())
        .chain(dependent);
    inner.all(|schema| collect(root, schema, named, visits))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(schema: Value, arguments: Value) -> Vec<(String, String)> {
        misspelt(&schema, Node::from(&arguments))
            .into_iter()
            .map(|one| (one.given, one.near))
            .collect()
    }

    fn pair(given: &str, near: &str) -> Vec<(String, String)> {
        vec![(given.to_owned(), near.to_owned())]
    }

    #[test]
    fn a_name_near_an_absent_argument_is_misspelt() {
        let schema = json!({"properties": {"path": {}, "recursive": {}}});
        assert_eq!(
            found(schema.clone(), json!({"path": "a", "recursiv": true})),
            pair("recursiv", "recursive")
        );
        assert_eq!(
            found(schema.clone(), json!({"path": "a", "recursive": true})),
            []
        );
        assert_eq!(
            found(schema.clone(), json!({"path": "a", "colour": true})),
            []
        );
        assert_eq!(
            found(schema, json!({"recursive": false, "recursiv": true})),
            [],
            "nothing else can be meant"
        );
    }

    #[test]
    fn properties_of_alternatives_and_definitions_are_named() {
        let schema = json!({
            "$ref": "#/$defs/base",
            "$defs": {"base": {"properties": {"path": {}}}},
            "oneOf": [{"properties": {"depth": {}}}, {"allOf": [{"properties": {"recursive": {}}}]}],
        });
        assert_eq!(
            found(
                schema.clone(),
                json!({"path": "a", "depth": 1, "recursive": true})
            ),
            []
        );
        assert_eq!(found(schema, json!({"dept": 1})), pair("dept", "depth"));
    }

    #[test]
    fn few_names_are_compared_with_few() {
        let names = |first: u32, count: u32| {
            (first..first + count).map(|n| (format!("argument{n:04}"), json!({})))
        };
        let with = |others: u32| {
            Value::Object(
                names(5_000, others)
                    .chain([("zoen".to_owned(), json!(1))])
                    .collect(),
            )
        };
        let schema = |others: u32| {
            let properties = names(0, others)
                .chain([("zone".to_owned(), json!({}))])
                .collect();
            json!({"properties": Value::Object(properties)})
        };
        let finds = |schema: Value, arguments: Value| {
            found(schema, arguments).contains(&("zoen".into(), "zone".into()))
        };
        assert!(
            finds(schema(199), with(0)) && !finds(schema(200), with(0)),
            "the last of 201 absent names"
        );
        let far = json!({"properties": {"zone": {}}});
        assert!(
            finds(far.clone(), with(7)) && !finds(far, with(8)),
            "the last of 9 unknown names"
        );
        assert_eq!(found(schema(1_900), with(100)).len(), REPORTED);
    }

    #[test]
    fn properties_that_a_schema_has_rules_for_are_not_misspelt() {
        for rule in ["additionalProperties", "patternProperties", "propertyNames"] {
            let schema = json!({"properties": {"header": {}}, rule: {"x": {"type": "string"}}});
            assert_eq!(found(schema, json!({"headers": "a"})), [], "{rule}");
        }
        assert_eq!(
            found(json!({"$ref": "https://example.org"}), json!({"a": 1})),
            []
        );
        let recursive = json!({"allOf": [{"$ref": "#"}], "properties": {"path": {}}});
        assert_eq!(
            found(recursive, json!({"paht": 1})),
            [],
            "the search is bounded"
        );
    }
}
