//! From a schema to a plain one.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{Kind, Object, Plain};

/// Most schemas inside of one, words included. With more, a validator may find a large value too costly, and this one would not.
const MOST: usize = 256;

/// Most members of an object: they are ticked off in the bits of a word.
const MOST_MEMBERS: usize = 64;

/// The schema, where it is plain.
pub(super) fn compile(schema: &Value) -> Option<Plain> {
    Compiler { left: MOST }.schema(schema)
}

/// Reads a schema, and gives up at the first thing that is not plain.
struct Compiler {
    /// How many schemas may still come.
    left: usize,
}

impl Compiler {
    fn schema(&mut self, schema: &Value) -> Option<Plain> {
        self.left = self.left.checked_sub(1)?;
        let schema = schema.as_object()?;
        let branches = ["anyOf", "oneOf"].into_iter().find_map(|word| Some((word, schema.get(word)?.as_array()?)));
        match branches {
            None => self.one(schema),
            Some(("anyOf", branches)) => {
                only(schema, &["anyOf"])?;
                self.or_null(branches)
            }
            Some((_, branches)) => {
                // A `type` beside it is one that all of them have.
                only(schema, &["oneOf", "type"])?;
                let is_of_strings = schema.get("type").is_none_or(|kind| kind == "string");
                is_of_strings.then(|| self.words(branches)).flatten().map(Plain::from)
            }
        }
    }

    /// What schemars writes of an option: something, or null.
    fn or_null(&mut self, branches: &[Value]) -> Option<Plain> {
        let [some, none] = branches else { return None };
        let (some, none) = (self.schema(some)?, self.schema(none)?);
        matches!(none.kind, Kind::Null).then_some(Plain { is_nullable: true, ..some })
    }

    /// What schemars writes of an enumeration whose variants are described: words, each of them once.
    fn words(&mut self, branches: &[Value]) -> Option<Kind> {
        let mut all = Vec::new();
        for branch in branches {
            match self.schema(branch)? {
                Plain { kind: Kind::Words(words), is_nullable: false } => all.extend(words),
                _ => return None,
            }
        }
        distinct(&all).then(|| Kind::Words(all.into()))
    }

    fn one(&mut self, schema: &Map<String, Value>) -> Option<Plain> {
        let (kind, is_nullable) = match schema.get("type") {
            Some(Value::String(kind)) => (&**kind, false),
            Some(Value::Array(kinds)) => match &**kinds {
                [Value::String(kind), Value::String(null)] if null == "null" && kind != "null" => (&**kind, true),
                _ => return None,
            },
            None if schema.contains_key("const") => ("string", false),
            _ => return None,
        };
        let kind = match kind {
            "null" => only(schema, &["type"]).map(|()| Kind::Null),
            "boolean" => only(schema, &["type"]).map(|()| Kind::Boolean),
            "number" => only(schema, &["type"]).map(|()| Kind::Number),
            "integer" => integer(schema),
            "string" => self.string(schema, is_nullable),
            "array" => {
                only(schema, &["type", "items"])?;
                Some(Kind::Array(Box::new(self.schema(schema.get("items")?)?)))
            }
            "object" => self.object(schema).map(Kind::Object),
            _ => None,
        };
        Some(Plain { kind: kind?, is_nullable })
    }

    fn string(&mut self, schema: &Map<String, Value>, is_nullable: bool) -> Option<Kind> {
        only(schema, &["type", "enum", "const"])?;
        let words = match (schema.get("enum"), schema.get("const")) {
            (None, None) => return Some(Kind::String),
            (Some(Value::Array(words)), None) => &**words,
            (None, Some(word)) => std::slice::from_ref(word),
            _ => return None,
        };
        // `null` has to be among them to be one.
        if is_nullable {
            return None;
        }
        self.left = self.left.checked_sub(words.len())?;
        let words: Vec<Box<str>> = words.iter().map(|word| word.as_str().map(Box::from)).collect::<Option<_>>()?;
        distinct(&words).then(|| Kind::Words(words.into()))
    }

    fn object(&mut self, schema: &Map<String, Value>) -> Option<Object> {
        only(schema, &["type", "properties", "required", "additionalProperties"])?;
        schema.get("additionalProperties").is_none_or(Value::is_boolean).then_some(())?;
        let none = Map::new();
        let properties = match schema.get("properties") {
            None => &none,
            Some(properties) => properties.as_object()?,
        };
        if properties.len() > MOST_MEMBERS {
            return None;
        }
        let members = properties.iter().map(|(name, schema)| Some((Box::from(&**name), self.schema(schema)?)));
        let members: Box<[(Box<str>, Plain)]> = members.collect::<Option<_>>()?;
        let mut required = 0;
        for name in schema.get("required").map_or(Some(&Vec::new()), Value::as_array)? {
            let bit = 1 << members.iter().position(|(own, _)| Some(&**own) == name.as_str())?;
            if required & bit != 0 {
                return None;
            }
            required |= bit;
        }
        Some(Object { members, required })
    }
}

fn integer(schema: &Map<String, Value>) -> Option<Kind> {
    only(schema, &["type", "minimum", "maximum"])?;
    let bound = |word, none| match schema.get(word) {
        None => Some(none),
        Some(bound) => bound.as_i64().map(i128::from).or_else(|| bound.as_u64().map(i128::from)),
    };
    Some(Kind::Integer(bound("minimum", i64::MIN.into())?..=bound("maximum", u64::MAX.into())?))
}

/// Whether the schema says nothing but these, and what refuses nothing.
fn only(schema: &Map<String, Value>, words: &[&str]) -> Option<()> {
    schema.iter().all(|(word, said)| words.contains(&&**word) || is_annotation(word, said)).then_some(())
}

/// Whether this tells something to people and models alone, and is as the schema of schemas wants it.
fn is_annotation(word: &str, said: &Value) -> bool {
    match word {
        "default" => true,
        "title" | "description" | "format" | "$comment" => said.is_string(),
        "deprecated" | "readOnly" | "writeOnly" => said.is_boolean(),
        "examples" => said.is_array(),
        _ => false,
    }
}

fn distinct(words: &[Box<str>]) -> bool {
    !words.is_empty() && words.iter().collect::<HashSet<_>>().len() == words.len()
}
