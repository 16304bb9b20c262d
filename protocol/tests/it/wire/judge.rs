//! An independent judge of definitions: one file of rules per service, each with its source, and one function that applies them.

use protocol::wire::{Format, Strictness};
use regex::Regex;
use serde_json::{Map, Value};

/// The rules of a service and mode.
pub(crate) struct Judge {
    at: Value,
    /// Each rule with what it `is` and its `source`.
    rules: Map<String, Value>,
    name: Option<Regex>,
    keys: Option<Regex>,
    is_strict: bool,
}

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) rule: &'static str,
    pub(crate) place: String,
}

/// The violations of one definition, and what is limited in all of it.
#[derive(Default)]
struct Findings {
    violations: Vec<Violation>,
    properties: u64,
    enum_values: u64,
    characters: u64,
}

impl Findings {
    fn expect(&mut self, rule: &'static str, place: &str, holds: bool) {
        if !holds {
            self.violations.push(Violation {
                rule,
                place: place.to_owned(),
            });
        }
    }
}

impl Judge {
    pub(crate) fn new(format: Format, strictness: Strictness) -> Self {
        let file = match format {
            Format::OpenAiChat => include_str!("../rules/openai-chat.json"),
            Format::OpenAiResponses => include_str!("../rules/openai-responses.json"),
            Format::Anthropic => include_str!("../rules/anthropic.json"),
            Format::Gemini => include_str!("../rules/gemini.json"),
            Format::Ollama => include_str!("../rules/ollama.json"),
            Format::Mcp => include_str!("../rules/mcp.json"),
            other => panic!("{other} has no rules"),
        };
        let mut file: Value = serde_json::from_str(file).unwrap();
        let is_strict = strictness == Strictness::Strict;
        let rules = file[if is_strict { "strict" } else { "relaxed" }]
            .as_object()
            .unwrap()
            .clone();
        let pattern = |rule: &str| Some(Regex::new(rules.get(rule)?["is"].as_str()?).unwrap());
        let (name, keys) = (pattern("name"), pattern("key"));
        Self {
            at: file["at"].take(),
            rules,
            name,
            keys,
            is_strict,
        }
    }

    /// Returns the names and sources of the rules.
    pub(crate) fn sources(&self) -> impl Iterator<Item = (&str, &str)> {
        self.rules
            .iter()
            .map(|(name, rule)| (&**name, rule["source"].as_str().unwrap_or_default()))
    }

    /// Returns what a rule is, or `None` if the service does not have it.
    fn rule(&self, name: &str) -> Option<&Value> {
        Some(&self.rules.get(name)?["is"])
    }

    /// Returns true if a rule lists a text, or if the service does not have the rule.
    fn lists(&self, rule: &str, text: &str) -> bool {
        self.rule(rule)
            .is_none_or(|list| strings(list).any(|other| other == text))
    }

    /// Returns the broken rules of a definition.
    pub(crate) fn violations(&self, definition: &Value) -> Vec<Violation> {
        let part = |name: &str| {
            definition
                .pointer(self.at[name].as_str().unwrap())
                .unwrap_or(&Value::Null)
        };
        let mut found = Findings::default();
        found.expect(
            "name",
            "",
            part("name")
                .as_str()
                .is_some_and(|name| matches(self.name.as_ref(), name)),
        );
        let has_mode =
            self.at.get("strict").is_none() || (part("strict") == true) == self.is_strict;
        found.expect("strict", "", has_mode);
        let root = part("parameters");
        found.expect(
            "root type",
            "",
            root["type"] == *self.rule("root type").unwrap(),
        );
        for keyword in self.rule("root keyword").into_iter().flat_map(strings) {
            found.expect("root keyword", keyword, root.get(keyword).is_none());
        }
        self.schema(root, root, "", 0, &mut found);
        for (name, schema) in root
            .get("$defs")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            found.characters += name.len() as u64;
            self.schema(root, schema, &format!("/$defs/{name}"), 0, &mut found);
        }
        if let Some(limits) = self.rule("limit") {
            let within = |name: &str, number: u64| limits[name].as_u64().unwrap() >= number;
            found.expect(
                "limit",
                "properties",
                within("properties", found.properties),
            );
            found.expect(
                "limit",
                "enum values",
                within("enum values", found.enum_values),
            );
            found.expect(
                "limit",
                "characters",
                within("characters", found.characters),
            );
        }
        found.violations
    }

    fn schema(
        &self,
        root: &Value,
        schema: &Value,
        place: &str,
        nesting: u64,
        found: &mut Findings,
    ) {
        let Value::Object(keywords) = schema else {
            return found.expect(
                "boolean",
                place,
                schema.is_boolean() && self.rule("boolean").is_none(),
            );
        };
        for keyword in keywords.keys() {
            let at = format!("{place}/{keyword}");
            found.expect("keyword", &at, self.lists("keyword", keyword));
            found.expect(
                "without",
                &at,
                self.rule("without").is_none() || !self.lists("without", keyword),
            );
        }
        self.reference(root, keywords, place, found);
        self.values(keywords, place, found);
        self.containers(keywords, place, nesting, found);
        for (keyword, value) in keywords {
            let at = format!("{place}/{keyword}");
            match (&**keyword, value) {
                ("additionalProperties", Value::Bool(_)) => {}
                ("anyOf" | "allOf" | "items" | "oneOf" | "prefixItems", Value::Array(schemas)) => {
                    schemas
                        .iter()
                        .for_each(|schema| self.schema(root, schema, &at, nesting, found));
                }
                (
                    "additionalProperties"
                    | "items"
                    | "not"
                    | "if"
                    | "then"
                    | "else"
                    | "contains"
                    | "propertyNames",
                    schema,
                ) => self.schema(root, schema, &at, nesting, found),
                (
                    "properties" | "patternProperties" | "dependentSchemas",
                    Value::Object(schemas),
                ) => {
                    for (key, schema) in schemas {
                        let is_key =
                            keyword == "patternProperties" || matches(self.keys.as_ref(), key);
                        found.expect("key", &format!("{at}/{key}"), is_key);
                        found.properties += 1;
                        found.characters += key.len() as u64;
                        self.schema(root, schema, &format!("{at}/{key}"), nesting + 1, found);
                    }
                }
                _ => {}
            }
        }
    }

    fn reference(
        &self,
        root: &Value,
        keywords: &Map<String, Value>,
        place: &str,
        found: &mut Findings,
    ) {
        let (Some(rule), Some(reference)) = (self.rule("reference"), keywords.get("$ref")) else {
            return;
        };
        let target = reference.as_str().unwrap().strip_prefix('#');
        let Some(target) =
            target.and_then(|text| root.pointer(text).or_else(|| anchored(root, text)))
        else {
            return found.expect("reference", place, false);
        };
        let is_alone = keywords.len() == 1;
        let holds = match rule.as_str().unwrap() {
            "resolved" => true,
            "none" => false,
            "alone" => is_alone,
            _ => is_alone && !reaches(root, target, reference),
        };
        found.expect("reference", place, holds);
    }

    fn values(&self, keywords: &Map<String, Value>, place: &str, found: &mut Findings) {
        let listed: Vec<_> = keywords
            .get("enum")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .collect();
        found.enum_values += listed.len() as u64;
        let at_least = |rule: &str, length: usize| {
            self.rule(rule)
                .and_then(Value::as_u64)
                .is_none_or(|least| least <= length as u64)
        };
        found.expect(
            "enum size",
            place,
            !keywords.contains_key("enum") || at_least("enum size", listed.len()),
        );
        let all = listed.into_iter().chain(keywords.get("const"));
        for value in all {
            found.characters += value.as_str().map_or(0, str::len) as u64;
            found.expect("enum", place, self.lists("enum", type_of(value)));
            found.expect(
                "enum text",
                place,
                value
                    .as_str()
                    .is_none_or(|text| at_least("enum text", text.len())),
            );
        }
        let patterns = keywords
            .get("patternProperties")
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(Map::keys);
        for pattern in patterns
            .map(String::as_str)
            .chain(keywords.get("pattern").and_then(Value::as_str))
        {
            let mut parts = self
                .rule("without in pattern")
                .into_iter()
                .flat_map(strings);
            found.expect(
                "without in pattern",
                place,
                parts.all(|part| !pattern.contains(part)),
            );
        }
        if let Some(format) = keywords.get("format").and_then(Value::as_str) {
            found.expect("format", place, self.lists("format", format));
        }
    }

    fn containers(
        &self,
        keywords: &Map<String, Value>,
        place: &str,
        nesting: u64,
        found: &mut Findings,
    ) {
        let has_type = |name: &str| match keywords.get("type") {
            Some(Value::String(kind)) => kind == name,
            Some(kinds) => strings(kinds).any(|kind| kind == name),
            None => false,
        };
        let has = |keyword: &&str| keywords.contains_key(*keyword);
        if has_type("array") {
            found.expect(
                "items",
                place,
                self.rule("items").is_none() || has(&"items"),
            );
        }
        if has_type("object") {
            found.expect(
                "properties",
                place,
                self.rule("properties").is_none() || has(&"properties"),
            );
            let required: Vec<_> = keywords
                .get("required")
                .map(|list| strings(list).collect())
                .unwrap_or_default();
            let mut keys = keywords
                .get("properties")
                .and_then(Value::as_object)
                .into_iter()
                .flat_map(Map::keys);
            let is_required =
                self.rule("required").is_none() || keys.all(|key| required.contains(&&**key));
            found.expect("required", place, is_required);
            let is_closed = keywords.get("additionalProperties") == Some(&Value::Bool(false));
            found.expect("closed", place, self.rule("closed").is_none() || is_closed);
            let most = self
                .rule("limit")
                .and_then(|limits| limits["nesting"].as_u64());
            found.expect("limit", place, most.is_none_or(|most| nesting < most));
        }
        let fewest = keywords
            .get("minItems")
            .and_then(Value::as_f64)
            .unwrap_or_default();
        let most = self.rule("min items").and_then(Value::as_f64);
        found.expect("min items", place, most.is_none_or(|most| fewest <= most));
        let is_typed = self
            .rule("typed")
            .is_none_or(|types| strings(types).any(|keyword| has(&keyword)));
        found.expect("typed", place, is_typed);
    }
}

fn matches(pattern: Option<&Regex>, text: &str) -> bool {
    pattern.is_none_or(|pattern| pattern.is_match(text))
}

/// Returns true if a schema contains the reference, at any depth.
fn reaches(root: &Value, schema: &Value, reference: &Value) -> bool {
    let (mut seen, mut pending) = (Vec::new(), vec![schema]);
    while let Some(value) = pending.pop() {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(found)) = members.get("$ref") {
                    if found == reference {
                        return true;
                    }
                    if !seen.contains(&found) {
                        seen.push(found);
                        pending.extend(
                            found
                                .strip_prefix('#')
                                .and_then(|pointer| root.pointer(pointer)),
                        );
                    }
                }
                pending.extend(members.values());
            }
            Value::Array(items) => pending.extend(items),
            _ => {}
        }
    }
    false
}

/// Returns the schema with this anchor.
pub(crate) fn anchored<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    if schema["$anchor"] == name
        || schema["$id"].as_str().and_then(|id| id.strip_prefix('#')) == Some(name)
    {
        return Some(schema);
    }
    match schema {
        Value::Object(members) => members.values().find_map(|member| anchored(member, name)),
        Value::Array(items) => items.iter().find_map(|item| anchored(item, name)),
        _ => None,
    }
}

fn strings(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
