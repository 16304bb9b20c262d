//! Compiles a JSON Schema into a [`SimpleSchema`].

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{Kind, Object, SimpleSchema};

/// The most subschemas and enum values. Beyond them the validator may refuse a large value as too costly, which this check does not.
const MOST: usize = 256;

/// The most members of an object: one for each bit of a `u64`.
const MOST_MEMBERS: usize = 64;

/// Returns `None` if the schema is not simple.
pub(super) fn compile(schema: &Value) -> Option<SimpleSchema> {
    Compiler { left: MOST }.schema(schema)
}

/// Reads a schema. Its methods return `None` at the first keyword that is not simple.
struct Compiler {
    /// The subschemas left before the limit.
    left: usize,
}

impl Compiler {
    fn schema(&mut self, schema: &Value) -> Option<SimpleSchema> {
        self.left = self.left.checked_sub(1)?;
        let schema = schema.as_object()?;
        let branches = ["anyOf", "oneOf"]
            .into_iter()
            .find_map(|word| Some((word, schema.get(word)?.as_array()?)));
        match branches {
            None => self.without_branches(schema),
            Some(("anyOf", branches)) => {
                has_only(schema, &["anyOf"])?;
                self.nullable(branches)
            }
            Some((_, branches)) => {
                // A `type` beside `oneOf` applies to all branches.
                has_only(schema, &["oneOf", "type"])?;
                let is_of_strings = schema.get("type").is_none_or(|kind| kind == "string");
                is_of_strings
                    .then(|| self.string_enum(branches))
                    .flatten()
                    .map(SimpleSchema::from)
            }
        }
    }

    /// Reads the form that schemars gives an `Option`: a schema or null.
    fn nullable(&mut self, branches: &[Value]) -> Option<SimpleSchema> {
        let [some, none] = branches else { return None };
        let some = self.schema(some)?;
        let none = self.schema(none)?;
        matches!(none.kind, Kind::Null).then_some(SimpleSchema {
            is_nullable: true,
            ..some
        })
    }

    /// Reads the form that schemars gives an enum with documented variants: a choice of distinct strings.
    fn string_enum(&mut self, branches: &[Value]) -> Option<Kind> {
        let mut all = Vec::new();
        for branch in branches {
            match self.schema(branch)? {
                SimpleSchema {
                    kind: Kind::Enum(words),
                    is_nullable: false,
                } => all.extend(words),
                _ => return None,
            }
        }
        distinct(&all).then(|| Kind::Enum(all.into()))
    }

    fn without_branches(&mut self, schema: &Map<String, Value>) -> Option<SimpleSchema> {
        let (kind, is_nullable) = match schema.get("type") {
            Some(Value::String(kind)) => (&**kind, false),
            Some(Value::Array(kinds)) => match &**kinds {
                [Value::String(kind), Value::String(null)] if null == "null" && kind != "null" => {
                    (&**kind, true)
                }
                _ => return None,
            },
            None if schema.contains_key("const") => ("string", false),
            _ => return None,
        };
        let kind = match kind {
            "null" => has_only(schema, &["type"]).map(|()| Kind::Null),
            "boolean" => has_only(schema, &["type"]).map(|()| Kind::Boolean),
            "number" => has_only(schema, &["type"]).map(|()| Kind::Number),
            "integer" => integer(schema),
            "string" => self.string(schema, is_nullable),
            "array" => {
                has_only(schema, &["type", "items"])?;
                Some(Kind::Array(Box::new(self.schema(schema.get("items")?)?)))
            }
            "object" => self.object(schema).map(Kind::Object),
            _ => None,
        };
        Some(SimpleSchema {
            kind: kind?,
            is_nullable,
        })
    }

    fn string(&mut self, schema: &Map<String, Value>, is_nullable: bool) -> Option<Kind> {
        let words = match (schema.get("enum"), schema.get("const")) {
            (None, None) => return text(schema),
            (Some(Value::Array(words)), None) => &**words,
            (None, Some(word)) => std::slice::from_ref(word),
            _ => return None,
        };
        has_only(schema, &["type", "enum", "const"])?;
        // Beside `enum` or `const`, `null` is valid only if it is one of their values.
        if is_nullable {
            return None;
        }
        self.left = self.left.checked_sub(words.len())?;
        let words: Vec<Box<str>> = words
            .iter()
            .map(|word| word.as_str().map(Box::from))
            .collect::<Option<_>>()?;
        distinct(&words).then(|| Kind::Enum(words.into()))
    }

    fn object(&mut self, schema: &Map<String, Value>) -> Option<Object> {
        has_only(
            schema,
            &["type", "properties", "required", "additionalProperties"],
        )?;
        schema
            .get("additionalProperties")
            .is_none_or(Value::is_boolean)
            .then_some(())?;
        let none = Map::new();
        let properties = match schema.get("properties") {
            None => &none,
            Some(properties) => properties.as_object()?,
        };
        if properties.len() > MOST_MEMBERS {
            return None;
        }
        let members = properties
            .iter()
            .map(|(name, schema)| Some((Box::from(&**name), self.schema(schema)?)));
        let members: Box<[(Box<str>, SimpleSchema)]> = members.collect::<Option<_>>()?;
        let mut required = 0;
        for name in schema
            .get("required")
            .map_or(Some(&Vec::new()), Value::as_array)?
        {
            let bit = 1
                << members
                    .iter()
                    .position(|(own, _)| Some(&**own) == name.as_str())?;
            // The meta-schema refuses a name that is required twice, so the validator decides.
            if required & bit != 0 {
                return None;
            }
            required |= bit;
        }
        Some(Object { members, required })
    }
}

/// Reads a string without `enum` and `const`.
fn text(schema: &Map<String, Value>) -> Option<Kind> {
    has_only(schema, &["type", "minLength", "maxLength"])?;
    let bound = |word, none| match schema.get(word) {
        None => Some(none),
        Some(bound) => usize::try_from(bound.as_u64()?).ok(),
    };
    let lengths = bound("minLength", 0)?..=bound("maxLength", usize::MAX)?;
    Some(Kind::String(
        (lengths != (0..=usize::MAX)).then_some(lengths),
    ))
}

fn integer(schema: &Map<String, Value>) -> Option<Kind> {
    has_only(schema, &["type", "minimum", "maximum"])?;
    let bound = |word, none| match schema.get(word) {
        None => Some(none),
        Some(bound) => bound
            .as_i64()
            .map(i128::from)
            .or_else(|| bound.as_u64().map(i128::from)),
    };
    Some(Kind::Integer(
        bound("minimum", i64::MIN.into())?..=bound("maximum", u64::MAX.into())?,
    ))
}

/// Returns `Some` if the schema has no keywords other than these and annotations.
fn has_only(schema: &Map<String, Value>, keywords: &[&str]) -> Option<()> {
    schema
        .iter()
        .all(|(keyword, value)| keywords.contains(&&**keyword) || is_annotation(keyword, value))
        .then_some(())
}

/// Returns true if the keyword rejects no value and is itself valid by the meta-schema.
fn is_annotation(keyword: &str, value: &Value) -> bool {
    match keyword {
        "default" => true,
        "title" | "description" | "format" | "$comment" => value.is_string(),
        "deprecated" | "readOnly" | "writeOnly" => value.is_boolean(),
        "examples" => value.is_array(),
        _ => false,
    }
}

fn distinct(words: &[Box<str>]) -> bool {
    !words.is_empty() && words.iter().collect::<HashSet<_>>().len() == words.len()
}
