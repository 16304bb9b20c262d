//! Makes values for a schema. Most of them match it.

use serde_json::{Map, Value, json};

use super::judge::anchored;

/// A source of choices.
pub(super) struct Choices(u64);

impl Choices {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    /// Returns a number below `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % end
    }

    pub(super) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// Makes values for the schemas of one document.
pub(super) struct Sampler<'a> {
    pub(super) root: &'a Value,
    pub(super) choices: Choices,
    /// Keys that no schema names. Empty for objects with named keys alone.
    pub(super) other_keys: &'a [&'a str],
}

impl Sampler<'_> {
    pub(super) fn value(&mut self, schema: &Value, depth: usize) -> Value {
        let Value::Object(keywords) = schema else {
            return self.any(depth);
        };
        if let Some(target) = keywords
            .get("$ref")
            .and_then(|reference| self.target(reference.as_str()?))
        {
            let base = if depth > 5 {
                Value::Null
            } else {
                self.value(&target.clone(), depth + 1)
            };
            return self.joined(base, keywords, depth);
        }
        if let Some(value) = keywords.get("const") {
            return value.clone();
        }
        if let Some(Value::Array(values)) =
            keywords.get("enum").filter(|values| *values != &json!([]))
        {
            return self.choices.pick(values).clone();
        }
        let mut value = match self.kind(keywords) {
            Some(kind) => self.of_kind(&kind, keywords, depth),
            None => Value::Null,
        };
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = keywords.get(keyword) {
                let branch = self.choices.pick(branches).clone();
                let part = if depth > 8 {
                    Value::Null
                } else {
                    self.value(&branch, depth + 1)
                };
                value = merged(value, part);
            }
        }
        if let Some(Value::Array(parts)) = keywords.get("allOf") {
            for part in parts {
                let part = if depth > 8 {
                    Value::Null
                } else {
                    self.value(part, depth + 1)
                };
                value = merged(value, part);
            }
        }
        if value.is_null() && self.kind(keywords).is_none() {
            self.any(depth)
        } else {
            value
        }
    }

    fn target(&self, reference: &str) -> Option<&Value> {
        let target = reference.strip_prefix('#')?;
        self.root
            .pointer(target)
            .or_else(|| anchored(self.root, target))
    }

    /// Adds the parts that the neighbours of a reference name.
    fn joined(&mut self, base: Value, keywords: &Map<String, Value>, depth: usize) -> Value {
        let mut rest = keywords.clone();
        rest.remove("$ref");
        if rest.contains_key("properties") {
            merged(base, self.value(&Value::Object(rest), depth))
        } else {
            base
        }
    }

    fn kind(&mut self, keywords: &Map<String, Value>) -> Option<String> {
        match keywords.get("type") {
            Some(Value::String(kind)) => Some(kind.clone()),
            Some(Value::Array(kinds)) => Some(self.choices.pick(kinds).as_str()?.to_owned()),
            _ if keywords.contains_key("properties") => Some("object".to_owned()),
            _ if keywords.contains_key("prefixItems") => Some("array".to_owned()),
            _ => None,
        }
    }

    fn of_kind(&mut self, kind: &str, keywords: &Map<String, Value>, depth: usize) -> Value {
        match kind {
            "null" => Value::Null,
            "boolean" => Value::from(self.choices.below(2) == 0),
            "integer" => {
                let least = keywords
                    .get("minimum")
                    .and_then(Value::as_i64)
                    .unwrap_or(-2);
                Value::from(least + self.choices.below(7) as i64)
            }
            "number" => [json!(0), json!(1.5), json!(-3), json!(4)][self.choices.below(4)].clone(),
            "string" => {
                Value::from(
                    *self
                        .choices
                        .pick(&["", "x", "abc", "2024-01-01", "long enough text"]),
                )
            }
            "array" => {
                let first = ["prefixItems", "items"]
                    .into_iter()
                    .find_map(|keyword| keywords.get(keyword)?.as_array());
                let first = first.map_or(&[][..], Vec::as_slice);
                let rest = keywords.get("items").filter(|items| !items.is_array());
                let rest = rest
                    .or(keywords.get("additionalItems"))
                    .unwrap_or(&Value::Bool(true))
                    .clone();
                let more = if rest == Value::Bool(false) { 1 } else { 3 };
                let count = if depth > 6 {
                    0
                } else {
                    self.choices.below(first.len() + more)
                };
                (0..count)
                    .map(|index| self.value(first.get(index).unwrap_or(&rest), depth + 1))
                    .collect()
            }
            _ => self.object(keywords, depth),
        }
    }

    fn object(&mut self, keywords: &Map<String, Value>, depth: usize) -> Value {
        let mut object = Map::new();
        let required: Vec<_> = keywords
            .get("required")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let none = Map::new();
        let properties = keywords
            .get("properties")
            .and_then(Value::as_object)
            .unwrap_or(&none);
        let mut keys: Vec<_> = properties.keys().collect();
        keys.sort();
        for key in keys {
            if required.contains(&Value::from(&**key)) || (depth < 6 && self.choices.below(2) == 0)
            {
                object.insert(key.clone(), self.value(&properties[key], depth + 1));
            }
        }
        if let Some(Value::Object(patterns)) = keywords.get("patternProperties")
            && let Some(schema) = patterns.get("^\\$")
            && !properties.contains_key("$p")
        {
            object.insert("$p".to_owned(), self.value(&schema.clone(), depth + 1));
        }
        if !self.other_keys.is_empty() && depth < 6 && self.choices.below(3) == 0 {
            let key = *self.choices.pick(self.other_keys);
            let rest = keywords
                .get("additionalProperties")
                .unwrap_or(&Value::Bool(true))
                .clone();
            if rest != Value::Bool(false) && !object.contains_key(key) {
                object.insert(key.to_owned(), self.value(&rest, depth + 1));
            }
        }
        Value::Object(object)
    }

    fn any(&mut self, depth: usize) -> Value {
        match self
            .choices
            .below(if self.other_keys.is_empty() || depth > 5 {
                3
            } else {
                5
            }) {
            0 => Value::Null,
            1 => json!("text"),
            2 => json!(7),
            3 => json!([{self.choices.pick(self.other_keys).to_string(): 1}]),
            _ => json!({self.choices.pick(self.other_keys).to_string(): "free"}),
        }
    }
}

/// Joins the members of two objects. Any other value wins over null.
fn merged(one: Value, other: Value) -> Value {
    match (one, other) {
        (Value::Object(mut one), Value::Object(other)) => {
            for (key, value) in other {
                one.entry(key).or_insert(value);
            }
            Value::Object(one)
        }
        (Value::Null, other) => other,
        (one, _) => one,
    }
}
