use proptest::prelude::*;
use schemars::JsonSchema;
use serde_json::{Map, json};

use super::*;
use crate::schema::compiled::Compiled;
use crate::schema_of::schema_of;
use protocol::Json;

fn accepts(plain: &SimpleSchema, value: &Value) -> bool {
    plain.accepts(value.into())
}

/// Returns true if the text parses and the schema accepts the value.
fn accepts_text(plain: &SimpleSchema, text: &str) -> bool {
    Json::parse(text).is_ok_and(|json| plain.accepts(json.node()))
}

#[track_caller]
fn plain(schema: &Value) -> SimpleSchema {
    SimpleSchema::from_schema(schema).unwrap_or_else(|| panic!("{schema} is not simple"))
}

#[test]
fn the_schemas_that_schemars_gives_usual_types_are_simple() {
    #[derive(JsonSchema)]
    #[schemars(crate = "schemars", deny_unknown_fields)]
    #[allow(dead_code)]
    struct Usual {
        text: String,
        #[schemars(length(min = 1, max = 2))]
        initials: String,
        count: u8,
        maybe: Option<i64>,
        ratio: f64,
        sure: bool,
        tags: Vec<Option<String>>,
        speed: Speed,
        perhaps: Option<Speed>,
        inner: Option<Box<Inner>>,
    }
    #[derive(JsonSchema)]
    #[schemars(crate = "schemars", rename_all = "lowercase")]
    #[allow(dead_code)]
    enum Speed {
        /// With a description.
        Slow,
        Fast,
        Faster,
    }
    #[derive(JsonSchema)]
    #[schemars(crate = "schemars")]
    #[allow(dead_code)]
    struct Inner {
        #[schemars(default)]
        x: i32,
    }
    let usual = plain(&schema_of::<Usual>());
    let mut value = json!({
        "text": "", "initials": "é\u{1f600}", "count": 255, "ratio": 1, "sure": true, "tags": ["a", null], "speed": "slow", "perhaps": null,
        "inner": {},
    });
    assert!(accepts(&usual, &value));
    for (name, wrong) in [
        ("count", json!(256)),
        ("count", json!(-1)),
        ("speed", json!("Slow")),
        ("text", json!(null)),
        ("initials", json!("")),
        ("initials", json!("abc")),
    ] {
        let right = std::mem::replace(&mut value[name], wrong);
        assert!(!accepts(&usual, &value), "{value}");
        value[name] = right;
    }
}

#[test]
fn schemas_with_other_keywords_are_not_simple() {
    for schema in [
        json!(true),
        json!({}),
        json!({"type": "dict"}),
        json!({"type": "string", "minLength": -1}),
        json!({"type": "string", "maxLength": 1.5}),
        json!({"type": "string", "enum": ["a"], "maxLength": 1}),
        json!({"type": "string", "pattern": "a"}),
        json!({"type": "string", "description": 1}),
        json!({"type": "integer", "minimum": 0.5}),
        json!({"type": "integer", "multipleOf": 2}),
        json!({"type": ["string", "integer"]}),
        json!({"type": "array"}),
        json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true}),
        json!({"type": "object", "additionalProperties": {"type": "string"}}),
        json!({"type": "object", "required": ["a"]}),
        json!({"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a", "a"]}),
        json!({"type": "object", "properties": {"a": {"$ref": "#"}}}),
        json!({"enum": []}),
        json!({"type": "string", "enum": ["a", "a"]}),
        json!({"oneOf": [{"const": "a"}, {"const": "a"}]}),
        json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        json!({"anyOf": [{"type": "string"}, {"type": "null"}], "oneOf": [{"const": "a"}]}),
    ] {
        assert!(SimpleSchema::from_schema(&schema).is_none(), "{schema}");
    }
}

#[test]
fn a_schema_with_too_many_parts_is_not_simple() {
    let words = |count: usize| json!({"type": "string", "enum": (0..count).map(|i| i.to_string()).collect::<Vec<_>>()});
    assert!(SimpleSchema::from_schema(&words(255)).is_some());
    assert!(SimpleSchema::from_schema(&words(256)).is_none());
    let members = |count: usize| {
        let members: Map<_, _> = (0..count)
            .map(|i| (i.to_string(), json!({"type": "null"})))
            .collect();
        json!({"type": "object", "required": members.keys().collect::<Vec<_>>(), "properties": members})
    };
    let most = plain(&members(64));
    let mut all: Map<_, _> = (0..64).map(|i| (i.to_string(), Value::Null)).collect();
    assert!(accepts(&most, &all.clone().into()));
    all.remove("63");
    assert!(!accepts(&most, &all.into()));
    assert!(SimpleSchema::from_schema(&members(65)).is_none());
}

#[test]
fn the_largest_text_of_the_largest_simple_schema_is_not_too_costly_for_a_validator() {
    let words: Vec<_> = (0..125)
        .map(|i| json!({ "const": i.to_string() }))
        .collect();
    let schema = json!({"type": "object", "properties": {"a": {"type": "array", "items": {"oneOf": words}}}});
    assert!(SimpleSchema::from_schema(&schema).is_some());
    let text = format!(
        "{{\"a\":[{}\"0\"]}}",
        "\"0\",".repeat((crate::Arguments::MAX_BYTES - 20) / 4)
    );
    assert!(accepts_text(&plain(&schema), &text));
    assert_eq!(
        Compiled::new(&schema)
            .unwrap()
            .check_node(Json::parse(text).unwrap().node(), None),
        Ok(())
    );
}

#[test]
fn keywords_in_annotations_and_property_names_do_not_count() {
    let odd = [
        json!({"$ref": "nowhere:/a#b"}),
        json!({"$id": "::", "$schema": "::"}),
        json!({"type": 7}),
        json!([{"$ref": 1}]),
    ];
    for said in odd {
        for schema in [
            json!({"type": "object", "default": said}),
            json!({"type": "object", "examples": [said]}),
            json!({"type": "object", "properties": {"a": {"type": "string", "default": said, "examples": [said]}}}),
            json!({"type": "array", "items": {"type": "null", "default": said}}),
            json!({"anyOf": [{"type": "string"}, {"type": "null"}], "default": said}),
        ] {
            plain(&schema);
            assert!(Compiled::new(&schema).is_ok(), "{schema}");
        }
    }
    let words = [
        "$ref",
        "$id",
        "$schema",
        "$defs",
        "$anchor",
        "$dynamicRef",
        "$dynamicAnchor",
        "$recursiveRef",
        "$vocabulary",
        "id",
        "const",
        "enum",
        "items",
        "type",
        "properties",
        "required",
        "allOf",
        "not",
        "pattern",
        "",
        "/",
        "~",
        "%25",
        "#",
    ];
    for word in words {
        for value in [
            json!({"type": "null"}),
            json!({"type": "object", "properties": {word: {"type": "null"}}}),
        ] {
            let schema = json!({"type": "object", "properties": {word: value}, "required": [word]});
            let plain = plain(&schema);
            let validator =
                Compiled::new(&schema).unwrap_or_else(|error| panic!("{schema}: {error}"));
            for value in [
                json!({word: null}),
                json!({word: {word: null}}),
                json!({word: {"b": 1}}),
                json!({}),
            ] {
                assert!(
                    !accepts(&plain, &value) || validator.check(&value).is_ok(),
                    "{value} against {schema}"
                );
            }
        }
    }
}

/// Generates schemas, many of them simple and many nearly simple.
fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop::sample::select(vec![
        json!({"type": "string", "description": "a"}),
        json!({"type": "integer", "minimum": 0, "maximum": 3, "format": "uint8"}),
        json!({"type": "integer", "minimum": -2}),
        json!({"type": "integer"}),
        json!({"type": "number"}),
        json!({"type": "boolean", "default": 7}),
        json!({"type": "null"}),
        json!({"type": ["string", "null"]}),
        json!({"type": ["integer", "null"], "maximum": 1}),
        json!({"type": "string", "enum": ["a", "b"]}),
        json!({"enum": ["a", null]}),
        json!({"const": "c"}),
        json!({"const": 1}),
        json!({"type": "string", "maxLength": 1}),
        json!({"type": ["string", "null"], "minLength": 2, "maxLength": 4}),
        json!({"type": "object"}),
        json!({"type": "integer", "minimum": 1.5}),
        json!({"minimum": 1}),
        json!({"properties": {"a": {"type": "null"}}, "title": "no type"}),
    ]);
    leaf.prop_recursive(4, 24, 4, |inner| {
        let closed =
            prop::sample::select(vec![json!(false), json!(true), json!({"type": "string"})]);
        let members = prop::collection::btree_map("[abc]", inner.clone(), 0..4);
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            inner
                .clone()
                .prop_map(|items| json!({"type": "array", "items": items})),
            inner
                .clone()
                .prop_map(|items| json!({"type": ["array", "null"], "items": items})),
            inner
                .clone()
                .prop_map(|some| json!({"anyOf": [some, {"type": "null"}]})),
            two.clone()
                .prop_map(|(one, other)| json!({"anyOf": [one, other], "title": "t"})),
            two.prop_map(|(one, other)| json!({"oneOf": [one, other]})),
            (
                members,
                prop::option::of(closed),
                prop::collection::btree_set("[abcd]", 0..3)
            )
                .prop_map(|(members, closed, required)| {
                    let mut schema =
                        json!({"type": "object", "properties": members, "required": required});
                    if let Some(closed) = closed {
                        schema["additionalProperties"] = closed;
                    }
                    schema
                }),
        ]
    })
}

/// Generates values, many of which satisfy such schemas.
fn values() -> impl Strategy<Value = Value> {
    let leaves = json!([
        null,
        true,
        0,
        1,
        4,
        -3,
        u64::MAX,
        1.0,
        2.5,
        -0.0,
        1e300,
        "a",
        "c",
        "aé\n\u{1f600}"
    ]);
    let leaf = prop::sample::select(leaves.as_array().unwrap().clone());
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[abcd]", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Generates values from a simple schema, most of them valid.
fn fitting(schema: &Value) -> BoxedStrategy<Value> {
    let kind = schema["type"]
        .as_str()
        .or_else(|| schema["type"][0].as_str());
    if let Some(branch) = schema["anyOf"].get(0) {
        return prop_oneof![fitting(branch), Just(Value::Null)].boxed();
    }
    if let Some(words) = schema["enum"].as_array() {
        return prop::sample::select(words.clone()).boxed();
    }
    match kind {
        Some("string") => prop::sample::select(vec![
            json!("a"),
            json!(""),
            json!("é\u{1f600}"),
            json!("four\n"),
        ])
        .boxed(),
        Some("integer") => (-1i8..4).prop_map(Value::from).boxed(),
        Some("number") => prop::sample::select(vec![json!(1), json!(0.5), json!(-2e9)]).boxed(),
        Some("boolean") => any::<bool>().prop_map(Value::from).boxed(),
        Some("array") => prop::collection::vec(fitting(&schema["items"]), 0..3)
            .prop_map(Value::from)
            .boxed(),
        Some("object") => {
            let none = Map::new();
            let properties = schema["properties"].as_object().unwrap_or(&none);
            let members: Vec<_> = properties
                .iter()
                .map(|(name, schema)| {
                    let name = name.clone();
                    (prop::bool::weighted(0.9), fitting(schema))
                        .prop_map(move |(is_there, value)| is_there.then(|| (name.clone(), value)))
                })
                .collect();
            members
                .prop_map(|members| Value::Object(members.into_iter().flatten().collect()))
                .boxed()
        }
        _ => Just(schema.get("const").cloned().unwrap_or_default()).boxed(),
    }
}

fn pairs() -> impl Strategy<Value = (Value, Value)> {
    schemas().prop_flat_map(|schema| {
        let value = prop_oneof![3 => fitting(&schema), 1 => values().boxed()];
        (Just(schema), value)
    })
}

/// Returns true if the simple schema decides alone: no float that may be an integer, no unnamed member.
fn is_decided(schema: &Value, value: &Value) -> bool {
    is_closed(schema) && !value.to_string().contains(['.', 'e'])
}

fn is_closed(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => {
            let is_object = members
                .get("type")
                .is_some_and(|kind| kind == "object" || kind[0] == "object");
            (!is_object || members.get("additionalProperties") == Some(&json!(false)))
                && members.values().all(is_closed)
        }
        Value::Array(items) => items.iter().all(is_closed),
        _ => true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn accepted_values_satisfy_the_schema((schema, value) in pairs()) {
        let Some(plain) = SimpleSchema::from_schema(&schema) else { return Ok(()) };
        let validator = Compiled::new(&schema);
        prop_assert!(validator.is_ok(), "{schema} is simple but invalid");
        let is_valid = validator.is_ok_and(|validator| validator.check(&value).is_ok());
        let is_accepted = accepts(&plain, &value);
        prop_assert!(is_valid || !is_accepted, "{value} does not satisfy {schema}");
        prop_assert_eq!(is_accepted, accepts_text(&plain, &value.to_string()));
        if is_decided(&schema, &value) {
            prop_assert_eq!(is_accepted, is_valid, "{} against {}", value, schema);
        }
    }
}
