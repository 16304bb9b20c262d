//! The judge refuses a planted violation of each rule in the files, and each rule has a source.

use protocol::Tool;
use protocol::wire::{Format, Strictness};
use serde_json::{Value, json};

use super::judge::Judge;

const GOOD: &str = r#"{"type": "object", "properties": {
    "path": {"type": "string"}, "kind": {"enum": ["a", "b"]}, "tags": {"type": "array", "items": {"type": "string"}}
}, "required": ["path"]}"#;

fn judges() -> impl Iterator<Item = (Format, Strictness, Judge)> {
    let modes = [Strictness::Relaxed, Strictness::Strict];
    let all = Format::ALL
        .into_iter()
        .flat_map(move |format| modes.map(|mode| (format, mode)));
    let known =
        all.filter(|(format, mode)| *mode == Strictness::Relaxed || format.has_strict_mode());
    known.map(|(format, mode)| (format, mode, Judge::new(format, mode)))
}

/// Returns changes of a good definition, each of which breaks the rule. Places are below the parameters or, with `TOOL`, the tool.
fn planted(format: Format, mode: Strictness, rule: &str) -> Vec<(&'static str, Value)> {
    const PATH: &str = "/properties/path";
    let nested = |levels| {
        (0..levels).fold(json!({"type": "string"}), |inner, _| {
            strict_object(json!({"p": inner}))
        })
    };
    let long = "x".repeat(if format == Format::Mcp { 129 } else { 65 });
    match rule {
        "name" => {
            let more: &[&str] = match format {
                Format::Mcp => &["a/b"],
                Format::Gemini => &["3d", "-a"],
                _ => &["fs.read"],
            };
            let names = ["", "fs read", &long]
                .into_iter()
                .chain(more.iter().copied());
            names.map(|name| ("TOOL/name", json!(name))).collect()
        }
        "root type" => vec![("/type", json!(["object", "null"])), ("/type", Value::Null)],
        "root keyword" => {
            let keywords: &[&'static str] = match format {
                Format::Ollama | Format::Anthropic => &["/allOf", "/anyOf", "/oneOf"],
                _ => &["/allOf", "/anyOf", "/oneOf", "/enum", "/const", "/not"],
            };
            keywords
                .iter()
                .map(|keyword| (*keyword, json!([{"required": ["path"]}])))
                .collect()
        }
        "items" => vec![
            (PATH, json!({"type": "array"})),
            (PATH, json!({"type": ["array", "null"]})),
        ],
        "properties" => vec![
            (PATH, json!({"type": "object"})),
            (PATH, json!({"type": ["object", "null"]})),
        ],
        "key" => {
            let mut keys = vec![
                ("/properties/$filter", json!({"type": "string"})),
                (PATH, json!({"type": "object", "properties": {"a b": {}}})),
                (PATH, json!({"type": "object", "properties": {long: {}}})),
            ];
            if format == Format::Gemini {
                keys.push(("/properties/a.b", json!({"type": "string"})));
            }
            keys
        }
        "reference" => {
            let mut references = vec![(PATH, json!({"$ref": "#/$defs/none"}))];
            if mode == Strictness::Strict || format == Format::Gemini {
                references.push((
                    PATH,
                    json!({"$ref": "#/properties/kind", "description": "a"}),
                ));
            }
            if mode == Strictness::Strict && format == Format::Anthropic || format == Format::Gemini
            {
                references.push((PATH, json!({"$ref": "#"})));
            }
            if format == Format::Ollama {
                references.push((PATH, json!({"$ref": "#/properties/kind"})));
            }
            references
        }
        "boolean" => vec![(PATH, json!(true)), (PATH, json!("string"))],
        "required" => vec![("/required", json!(["path"]))],
        "closed" => vec![
            ("/additionalProperties", json!(true)),
            ("/additionalProperties", json!({})),
        ],
        "typed" => vec![(PATH, json!({})), (PATH, json!({"description": "any"}))],
        "keyword" => {
            let mut keywords = vec![
                ("/properties/path/not", json!({})),
                ("/properties/path/contains", json!({})),
            ];
            if mode == Strictness::Strict {
                keywords.extend([
                    ("/properties/path/minLength", json!(1)),
                    ("/properties/path/oneOf", json!([{}])),
                ]);
            }
            if format == Format::Anthropic {
                keywords.push(("/properties/path/minimum", json!(1)));
            }
            if format == Format::Gemini {
                keywords.push(("/properties/path/const", json!("a")));
            }
            keywords
        }
        "min items" => vec![("/properties/tags/minItems", json!(2))],
        "without" if format == Format::Gemini => vec![("/properties/tags/maxItems", json!(1))],
        "without" => vec![
            ("/properties/path/oneOf", json!([{}])),
            ("/properties/path/const", json!("a")),
        ],
        "enum" => vec![
            ("/properties/kind/enum", json!([{}])),
            ("/properties/kind/enum", json!(["a", []])),
        ],
        "without in pattern" => {
            let mut patterns: Vec<_> = ["^(?!a)", "(?=a)", "(?<=a)b", r"\p{L}", r"[\P{Cc}]"].into();
            if format == Format::Anthropic {
                patterns.extend([r"(a)\1", r"\ba"]);
            }
            let pattern = |pattern: &&str| ("/properties/path/pattern", json!(pattern));
            let of_keys = (
                "/properties/path/patternProperties",
                json!({"(?!a)": {"type": "string"}}),
            );
            patterns.iter().map(pattern).chain([of_keys]).collect()
        }
        "enum size" => vec![("/properties/kind/enum", json!([]))],
        "enum text" => vec![("/properties/kind/enum", json!(["a", ""]))],
        "format" => vec![("/properties/path/format", json!("regex"))],
        "limit" => {
            let many: serde_json::Map<_, _> = (0..5001)
                .map(|n| (format!("p{n}"), json!({"type": "null"})))
                .collect();
            let values: Vec<_> = (0..1001).collect();
            vec![
                (PATH, nested(10)),
                (PATH, strict_object(many.into())),
                ("/properties/kind/enum", json!(values)),
                ("/properties/kind/enum", json!(["x".repeat(120_001)])),
            ]
        }
        other => panic!("plant a violation of {other}"),
    }
}

fn strict_object(properties: Value) -> Value {
    let required: Vec<_> = properties.as_object().unwrap().keys().cloned().collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

#[test]
fn a_planted_violation_of_each_rule_is_refused() {
    for (format, mode, judge) in judges() {
        let tool = Tool::new("fs.read", "Reads.", serde_json::from_str(GOOD).unwrap()).unwrap();
        let good = format.tool(&tool, mode).unwrap().value();
        assert_eq!(judge.violations(&good), [], "{format} {mode:?}");
        let tool = good.pointer("/function").map_or("", |_| "/function");
        let parameters = [
            "parameters",
            "input_schema",
            "parametersJsonSchema",
            "inputSchema",
        ]
        .into_iter()
        .find(|name| good.pointer(&format!("{tool}/{name}")).is_some())
        .unwrap();
        let refuse = |rule: &str, place: &str, change: Value| {
            let place = match place.strip_prefix("TOOL") {
                Some(place) => format!("{tool}{place}"),
                None => format!("{tool}/{parameters}{place}"),
            };
            let mut planted = good.clone();
            let (parent, key) = place.rsplit_once('/').unwrap();
            planted.pointer_mut(parent).unwrap()[key] = change;
            let broken = judge.violations(&planted);
            assert!(
                broken.iter().any(|violation| violation.rule == rule),
                "{format} {mode:?} {rule}: {broken:?}"
            );
        };
        for (rule, _) in judge.sources() {
            for (place, change) in planted(format, mode, rule) {
                refuse(rule, place, change);
            }
        }
        // Every schema is an object or a boolean, and the field for the mode says which it is.
        refuse("boolean", "/properties/path", json!("string"));
        if format.has_strict_mode() {
            refuse("strict", "TOOL/strict", json!(mode == Strictness::Relaxed));
        }
    }
}

#[test]
fn each_rule_has_a_source() {
    for (format, mode, judge) in judges() {
        for (rule, source) in judge.sources() {
            assert!(source.starts_with("https://"), "{format} {mode:?} {rule}");
        }
    }
}
