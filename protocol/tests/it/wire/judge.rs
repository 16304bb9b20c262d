//! An independent judge of definitions: one file of rules per service, and one function that applies them.

use protocol::wire::{Format, Strictness};
use regex::Regex;
use serde_json::{Map, Value};

/// The rules of a service and mode.
pub(crate) struct Judge {
    at: Value,
    rules: Value,
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
        let rules = file[if is_strict { "strict" } else { "relaxed" }].take();
        assert!(rules.is_object(), "{format} has no rules for {strictness:?}");
        let pattern = |rule: &str| rules.get(rule).map(|pattern| Regex::new(pattern.as_str().unwrap()).unwrap());
        let (name, keys) = (pattern("name"), pattern("keys"));
        Self { at: file["at"].take(), rules, name, keys, is_strict }
    }

    /// Returns the broken rules of a definition.
    pub(crate) fn violations(&self, definition: &Value) -> Vec<Violation> {
        let part = |name: &str| definition.pointer(self.at[name].as_str().unwrap()).unwrap_or(&Value::Null);
        let mut found = Vec::new();
        let mut break_rule = |rule, place: &str| found.push(Violation { rule, place: place.to_owned() });
        if !part("name").as_str().is_some_and(|name| matches(self.name.as_ref(), name)) {
            break_rule("name", "");
        }
        if self.at.get("strict").is_some() && (part("strict") == true) != self.is_strict {
            break_rule("strict", "");
        }
        let root = part("parameters");
        if root["type"] != "object" {
            break_rule("root type", "");
        }
        for keyword in strings(&self.rules["root_without"]) {
            if root.get(keyword).is_some() {
                break_rule("root keyword", keyword);
            }
        }
        self.schema(root, root, "", &mut break_rule);
        let definitions = root.get("$defs").and_then(Value::as_object);
        for (name, schema) in definitions.into_iter().flatten() {
            self.schema(root, schema, &format!("/$defs/{name}"), &mut break_rule);
        }
        found
    }

    fn schema(&self, root: &Value, schema: &Value, place: &str, break_rule: &mut impl FnMut(&'static str, &str)) {
        let Value::Object(keywords) = schema else {
            if self.rules["booleans"] == false || !schema.is_boolean() {
                break_rule("boolean", place);
            }
            return;
        };
        for keyword in keywords.keys() {
            let is_listed = self.rules.get("keywords").is_none_or(|list| strings(list).any(|other| other == keyword));
            if !is_listed || self.rules.get("without").is_some_and(|list| strings(list).any(|other| other == keyword)) {
                break_rule("keyword", &format!("{place}/{keyword}"));
            }
        }
        self.reference(root, keywords, place, break_rule);
        self.values(keywords, place, break_rule);
        self.containers(keywords, place, break_rule);
        for (keyword, value) in keywords {
            let at = format!("{place}/{keyword}");
            match (&**keyword, value) {
                ("additionalProperties", Value::Bool(_)) => {}
                ("anyOf" | "allOf" | "items" | "oneOf" | "prefixItems", Value::Array(schemas)) => {
                    schemas.iter().for_each(|schema| self.schema(root, schema, &at, break_rule));
                }
                (
                    "additionalProperties" | "items" | "not" | "if" | "then" | "else" | "contains" | "propertyNames",
                    schema,
                ) => self.schema(root, schema, &at, break_rule),
                ("properties" | "patternProperties" | "dependentSchemas", Value::Object(schemas)) => {
                    for (key, schema) in schemas {
                        if keyword != "patternProperties" && !matches(self.keys.as_ref(), key) {
                            break_rule("key", &format!("{at}/{key}"));
                        }
                        self.schema(root, schema, &format!("{at}/{key}"), break_rule);
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
        break_rule: &mut impl FnMut(&'static str, &str),
    ) {
        let Some(reference) = keywords.get("$ref") else { return };
        let rule = self.rules["references"].as_str().unwrap();
        let target = reference.as_str().unwrap().strip_prefix('#');
        let Some(target) = target.and_then(|pointer| root.pointer(pointer)) else {
            return break_rule("reference", place);
        };
        let is_alone = keywords.len() == 1;
        let has_room = rule == "alone" && keywords.keys().all(|key| key == "$ref" || key == "description");
        let is_recursive = || reaches(root, target, reference);
        let is_fine = match rule {
            "any" => true,
            "none" => false,
            "alone" => is_alone || has_room,
            _ => is_alone && !is_recursive(),
        };
        if !is_fine {
            break_rule("reference", place);
        }
    }

    fn values(&self, keywords: &Map<String, Value>, place: &str, break_rule: &mut impl FnMut(&'static str, &str)) {
        if let Some(types) = self.rules.get("enums") {
            let is_taken = |value: &Value| strings(types).any(|name| name == type_of(value));
            let listed = keywords.get("enum").and_then(Value::as_array).into_iter().flatten();
            if !listed.chain(keywords.get("const")).all(is_taken) {
                break_rule("enum", place);
            }
        }
        if let (Some(known), Some(format)) = (self.rules.get("formats"), keywords.get("format"))
            && !strings(known).any(|name| format == name)
        {
            break_rule("format", place);
        }
    }

    fn containers(&self, keywords: &Map<String, Value>, place: &str, break_rule: &mut impl FnMut(&'static str, &str)) {
        let has = |name: &str| match keywords.get("type") {
            Some(Value::String(kind)) => kind == name,
            Some(kinds) => strings(kinds).any(|kind| kind == name),
            None => false,
        };
        if self.rules["containers"] == true {
            if has("object") && !keywords.contains_key("properties") {
                break_rule("properties", place);
            }
            if has("array") && !keywords.contains_key("items") {
                break_rule("items", place);
            }
        }
        if !self.is_strict {
            return;
        }
        if has("object") {
            let required: Vec<_> = keywords.get("required").map(|list| strings(list).collect()).unwrap_or_default();
            let properties = keywords.get("properties").and_then(Value::as_object);
            let requires_all = self.rules["optional"] != true;
            if requires_all && !properties.into_iter().flatten().all(|(key, _)| required.contains(&&**key)) {
                break_rule("required", place);
            }
            if keywords.get("additionalProperties") != Some(&Value::Bool(false)) {
                break_rule("closed", place);
            }
        }
        if !["type", "anyOf", "$ref"].iter().any(|keyword| keywords.contains_key(*keyword)) {
            break_rule("typed", place);
        }
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
                        pending.extend(found.strip_prefix('#').and_then(|pointer| root.pointer(pointer)));
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

fn strings(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
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
