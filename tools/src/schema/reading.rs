//! [`read`]: the arguments that a model probably meant, where a schema leaves exactly one reading of what it wrote.

use protocol::Json;
use serde_json::{Map, Number, Value};

use super::accepted::{AcceptedValues, within};
use super::phrase;

/// The most levels of arguments, and the most subschemas and values, that are looked at.
const MAX_DEPTH: usize = 8;
const MAX_VISITS: usize = 4096;

/// The most readings that are reported.
const MAX_REPORTED: usize = 8;

/// A value that was read as another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    /// The JSON Pointer of the value.
    pub(crate) pointer: String,
    /// The kind of the value as it was written, such as `a string`.
    pub(crate) written: &'static str,
    /// The kind of the value as it was read, such as `an integer`. `None` if the argument was left out.
    pub(crate) read: Option<&'static str>,
}

/// Replaces the values that no schema at their place accepts, if it accepts exactly one other reading of them. Accepted values stay, so
/// valid arguments have no reading. Returns `None` if nothing changes.
///
/// | written | accepted | read |
/// |---|---|---|
/// | `"5"`, `"true"`, `"null"` | a number, a boolean, null | the value |
/// | `"[1]"`, `"{}"` | an array, an object | the value |
/// | `5`, `true` | a string | `"5"`, `"true"` |
/// | `"Red"`, `"5"` | one value of a list, without regard to case and quotes | the value |
/// | `"5.0"` | an integer | the value |
/// | `"a"` | an array of strings, and nothing else that `"a"` is read as | `["a"]` |
/// | `null`, `"null"`, `"None"`, `""` | an optional argument that is neither null nor a string | no argument |
pub(crate) fn read(schema: &Value, arguments: &Value) -> Option<(Value, Vec<Reading>)> {
    let mut reader = Reader {
        root: schema,
        visits: MAX_VISITS,
        readings: Vec::new(),
    };
    let whole = match arguments {
        Value::String(text) => {
            let read = document(text).filter(Value::is_object)?;
            reader.report("", "a string", Some("an object"));
            read
        }
        other => other.clone(),
    };
    let read = reader.object(schema, whole, "", 0);
    (!reader.readings.is_empty()).then_some((read, reader.readings))
}

struct Reader<'s> {
    root: &'s Value,
    visits: usize,
    readings: Vec<Reading>,
}

impl<'s> Reader<'s> {
    fn report(&mut self, pointer: &str, written: &'static str, read: Option<&'static str>) {
        if self.readings.len() < MAX_REPORTED {
            self.readings.push(Reading {
                pointer: pointer.to_owned(),
                written,
                read,
            });
        }
    }

    /// Reads the members of an object that this schema names.
    fn object(&mut self, schema: &'s Value, value: Value, pointer: &str, depth: usize) -> Value {
        let Value::Object(members) = value else {
            return value;
        };
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
            return members.into();
        };
        let required = schema.get("required").and_then(Value::as_array);
        let is_required =
            |name: &str| required.is_some_and(|names| names.iter().any(|other| other == name));
        let mut read = Map::new();
        for (name, member) in members {
            let Some(property) = properties.get(&name) else {
                read.insert(name, member);
                continue;
            };
            let place = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
            match self.value(property, member.clone(), &place, depth) {
                None if !is_required(&name) => {
                    let written = if member.is_null() {
                        "null"
                    } else {
                        "a word for nothing"
                    };
                    self.report(&place, written, None);
                }
                value => drop(read.insert(name, value.unwrap_or(member))),
            }
        }
        read.into()
    }

    /// Reads a value. Returns `None` for a null, or a word for it, that the schema does not accept.
    fn value(
        &mut self,
        schema: &'s Value,
        value: Value,
        pointer: &str,
        depth: usize,
    ) -> Option<Value> {
        if depth >= MAX_DEPTH {
            return Some(value);
        }
        let Some(accepted) = within(self.root, schema, &mut self.visits) else {
            return Some(value);
        };
        if accepted.iter().any(|kind| accepts(kind, &value)) {
            return Some(self.inner(&accepted, value, pointer, depth));
        }
        // A value with two readings stays, and the error names both kinds: to choose would be a guess.
        let mut readings: Vec<Value> = Vec::new();
        for reading in accepted.iter().flat_map(|kind| readings_as(kind, &value)) {
            if !readings.iter().any(|other| is_equal(other, &reading)) {
                readings.push(reading);
            }
        }
        if readings.is_empty() && !is_nothing(&value) {
            let wrapped = accepted.iter().filter(|kind| self.is_element(kind, &value));
            readings.extend(wrapped.take(1).map(|_| Value::Array(vec![value.clone()])));
        }
        match <[Value; 1]>::try_from(readings) {
            Ok([reading]) => {
                let (written, read) = match (kind_of(&value), kind_of(&reading)) {
                    (written, read) if written == read => {
                        ("another spelling", "a value of its list")
                    }
                    kinds => kinds,
                };
                self.report(pointer, written, Some(read));
                Some(self.inner(&accepted, reading, pointer, depth))
            }
            Err(_) if is_nothing(&value) => None,
            Err(_) => Some(value),
        }
    }

    /// Returns true if a value is an element of the arrays of this kind. A text that may be a list of several is none.
    fn is_element(&mut self, kind: &AcceptedValues<'s>, value: &Value) -> bool {
        let AcceptedValues::Typed {
            name: "array",
            schema,
        } = kind
        else {
            return false;
        };
        let Some(items) = schema.get("items").filter(|_| {
            !value.as_str().is_some_and(|text| {
                text.starts_with(['[', '{'])
                    || text.contains(|c: char| c.is_whitespace() || ",;".contains(c))
            })
        }) else {
            return false;
        };
        let accepted = within(self.root, items, &mut self.visits).unwrap_or_default();
        accepted
            .iter()
            .any(|kind| accepts(kind, value) || !readings_as(kind, value).is_empty())
    }

    /// Reads the values inside of an array or an object, if one schema alone describes them.
    fn inner(
        &mut self,
        accepted: &[AcceptedValues<'s>],
        value: Value,
        pointer: &str,
        depth: usize,
    ) -> Value {
        let wanted = match value {
            Value::Array(_) => "array",
            Value::Object(_) => "object",
            _ => return value,
        };
        let mut schemas = accepted.iter().filter_map(|kind| match kind {
            AcceptedValues::Typed { name, schema } if *name == wanted => Some(*schema),
            _ => None,
        });
        let (Some(schema), None) = (schemas.next(), schemas.next()) else {
            return value;
        };
        match value {
            Value::Array(elements) => {
                let Some(items) = schema.get("items").filter(|items| items.is_object()) else {
                    return elements.into();
                };
                let read = elements.into_iter().enumerate().map(|(index, element)| {
                    self.value(
                        items,
                        element.clone(),
                        &format!("{pointer}/{index}"),
                        depth + 1,
                    )
                    .unwrap_or(element)
                });
                read.collect()
            }
            object => self.object(schema, object, pointer, depth + 1),
        }
    }
}

/// Returns true if a value is of this kind, without regard to bounds.
fn accepts(kind: &AcceptedValues<'_>, value: &Value) -> bool {
    match kind {
        AcceptedValues::Listed(listed) => listed.iter().any(|other| is_equal(other, value)),
        AcceptedValues::Typed { name, .. } => match value {
            Value::Null => *name == "null",
            Value::Bool(_) => *name == "boolean",
            Value::Number(number) => {
                *name == "number"
                    || (*name == "integer"
                        && (!number.is_f64() || number.as_f64().is_some_and(is_whole)))
            }
            Value::String(_) => *name == "string",
            Value::Array(_) => *name == "array",
            Value::Object(_) => *name == "object",
        },
    }
}

/// Returns true for null, and for the words that models write in its place.
fn is_nothing(value: &Value) -> bool {
    value.is_null() || ["", "null", "None"].iter().any(|word| value == word)
}

fn is_whole(number: f64) -> bool {
    number.fract() == 0.0
}

/// Returns true if JSON Schema takes both for the same value: `1` is `1.0`.
fn is_equal(one: &Value, other: &Value) -> bool {
    one == other || (one.is_number() && other.is_number() && one.as_f64() == other.as_f64())
}

/// Returns the readings of a value as values of this kind.
fn readings_as(kind: &AcceptedValues<'_>, value: &Value) -> Vec<Value> {
    match kind {
        AcceptedValues::Listed(listed) => {
            let Some(text) = text_of(value) else {
                return Vec::new();
            };
            let same = listed.iter().copied().filter(|other| {
                text_of(other).is_some_and(|other| other.eq_ignore_ascii_case(&text))
            });
            same.cloned().collect()
        }
        AcceptedValues::Typed { name, .. } => read_typed(name, value).into_iter().collect(),
    }
}

fn read_typed(name: &str, value: &Value) -> Option<Value> {
    match (name, value) {
        ("string", Value::Bool(_)) => text_of(value).map(Value::String),
        // A float has several spellings, of which the model's is lost by now.
        ("string", Value::Number(number)) if !number.is_f64() => text_of(value).map(Value::String),
        (_, Value::String(text)) => {
            let text = text.trim();
            match name {
                "integer" => {
                    // Only zeros are dropped, so that no number is rounded.
                    let whole = text.split_once('.').filter(|(_, zeros)| {
                        !zeros.is_empty() && zeros.bytes().all(|digit| digit == b'0')
                    });
                    number(whole.map_or(text, |(whole, _)| whole))
                        .filter(|number| !number.is_f64())
                        .map(Value::Number)
                }
                "number" => number(text).map(Value::Number),
                "boolean" if text.eq_ignore_ascii_case("true") => Some(true.into()),
                "boolean" if text.eq_ignore_ascii_case("false") => Some(false.into()),
                "null" if text == "null" => Some(Value::Null),
                "array" => document(text).filter(Value::is_array),
                "object" => document(text).filter(Value::is_object),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns a number whose digits are kept.
fn number(text: &str) -> Option<Number> {
    parse(text)?.node().to_number()
}

fn document(text: &str) -> Option<Value> {
    parse(text).map(Json::into_value)
}

/// Returns the JSON that a text holds. Its integers fit into 64 bits, so that their digits are kept.
fn parse(text: &str) -> Option<Json> {
    let json = Json::parse(text).ok();
    json.filter(|json| !json.extent().has_big_integer)
}

/// Returns the text of a scalar. Returns `None` for other values.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        _ => None,
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Number(number) if !number.is_f64() => "an integer",
        other => phrase::kind(other),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "minLength": 2},
                "end": {"type": "integer", "minimum": 1},
                "size": {"type": ["integer", "null"]},
                "ratio": {"type": "number"},
                "all": {"type": "boolean"},
                "either": {"type": ["integer", "string"]},
                "unit": {"enum": ["celsius", "kelvin"]},
                "level": {"$ref": "#/$defs/Level"},
                "names": {"type": "array", "items": {"type": "string"}},
                "deep": {"type": "object", "properties": {"end": {"type": "integer"}}, "required": ["end"]},
                "any": {},
                "list": {"type": "array", "items": {"type": "object", "properties": {"k": {"type": "integer"}}}},
                "more": {"anyOf": [{"type": "boolean"}, {"type": "array", "items": {"type": "integer"}}]},
            },
            "required": ["path"],
            "$defs": {"Level": {"enum": [1, 2, 3]}},
        })
    }

    #[test]
    fn a_value_with_one_reading_is_read() {
        for (written, expected) in [
            (json!({"end": "1"}), json!({"end": 1})),
            (json!({"end": " 12 "}), json!({"end": 12})),
            (json!({"end": null}), json!({})),
            (json!({"end": "7.0"}), json!({"end": 7})),
            (json!({"end": "null", "all": "None", "unit": ""}), json!({})),
            (json!({"names": "a"}), json!({"names": ["a"]})),
            (json!({"names": 5}), json!({"names": ["5"]})),
            (json!({"more": 3}), json!({"more": [3]})),
            (json!({"list": {"k": "1"}}), json!({"list": [{"k": 1}]})),
            (json!({"size": "null"}), json!({"size": null})),
            (json!({"ratio": "1.5"}), json!({"ratio": 1.5})),
            (json!({"all": "True"}), json!({"all": true})),
            (json!({"path": 5}), json!({"path": "5"})),
            (json!({"unit": "Celsius"}), json!({"unit": "celsius"})),
            (json!({"level": "2"}), json!({"level": 2})),
            (
                json!({"names": "[\"a\", \"b\"]"}),
                json!({"names": ["a", "b"]}),
            ),
            (json!({"names": ["a", 1]}), json!({"names": ["a", "1"]})),
            (
                json!({"deep": "{\"end\": \"3\"}"}),
                json!({"deep": {"end": 3}}),
            ),
            (json!({"more": "[1]"}), json!({"more": [1]})),
            (json!({"more": ["1"]}), json!({"more": [1]})),
            (json!("{\"end\": \"1\"}"), json!({"end": 1})),
        ] {
            assert_eq!(
                read(&schema(), &written).map(|(read, _)| read),
                Some(expected),
                "{written}"
            );
        }
    }

    #[test]
    fn a_value_with_no_reading_or_several_stays() {
        for written in [
            json!({"end": "one"}),
            json!({"end": "1.5"}),
            json!({"end": "1e3"}),
            json!({"end": "0x10"}),
            json!({"end": true}),
            json!({"end": "99999999999999999999"}),
            json!({"all": "yes"}),
            json!({"all": 1}),
            json!({"path": null}),
            json!({"path": 1.5}),
            json!({"path": ["a"]}),
            json!({"either": true}),
            json!({"unit": "c"}),
            json!({"names": "a, b"}),
            json!({"names": "[a"}),
            json!({"names": [null, ["a"]]}),
            json!({"end": "1.5.0", "ratio": "5."}),
            json!({"deep": {"end": "None"}}),
            json!({"any": "1", "unknown": "1"}),
            json!({"deep": {"end": null}}),
            json!("not json"),
            json!([1]),
        ] {
            let either = written.get("either").is_some();
            let read = read(&schema(), &written).map(|(read, _)| read);
            assert_eq!(read, either.then(|| json!({"either": "true"})), "{written}");
        }
    }
}
