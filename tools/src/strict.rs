//! Reading JSON strictly: serde_json keeps the last of duplicate keys without a word, and what was approved might then not be
//! what is run.

use std::cell::RefCell;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::Violation;

/// How deep arguments may nest, in arrays and objects.
pub const MAX_DEPTH: usize = 64;

/// A JSON value in which no object has a key twice and nothing nests deeper than [`MAX_DEPTH`](crate::call::MAX_DEPTH).
/// Deserialising anything else fails.
///
/// ```
/// use tools::StrictJson;
///
/// assert!(serde_json::from_str::<StrictJson>(r#"{"a": 1}"#).is_ok());
/// let error = serde_json::from_str::<StrictJson>(r#"{"a": 1, "a": 2}"#).unwrap_err();
/// assert!(error.to_string().contains("each key once"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct StrictJson(pub Value);

impl<'de> Deserialize<'de> for StrictJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let refused = RefCell::new(None);
        Strict { path: None, depth: 0, refused: &refused }.deserialize(deserializer).map(Self)
    }
}

/// Why a text is not read.
pub(crate) enum Fault {
    /// It is no JSON.
    Syntax(serde_json::Error),
    /// It is JSON that is refused.
    Refused(Violation),
}

/// Reads a whole text.
pub(crate) fn read(text: &str) -> Result<Value, Fault> {
    let refused = RefCell::new(None);
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let strict = Strict { path: None, depth: 0, refused: &refused };
    let value = strict.deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
    value.map_err(|error| refused.into_inner().map_or(Fault::Syntax(error), Fault::Refused))
}

/// What is wrong with a place that lies too deep.
pub(crate) fn too_deep(pointer: String) -> Violation {
    Violation {
        pointer,
        expected: format!("at most {MAX_DEPTH} levels of nesting"),
        found: "more".to_owned(),
        near: Vec::new(),
    }
}

/// One step of the way to where the parser stands.
#[derive(Clone, Copy)]
struct Step<'a> {
    outer: Option<&'a Step<'a>>,
    token: Token<'a>,
}

#[derive(Clone, Copy)]
enum Token<'a> {
    Key(&'a str),
    Index(usize),
}

impl Step<'_> {
    /// The JSON pointer (RFC 6901) of this place.
    fn pointer(&self) -> String {
        let outer = self.outer.map(Step::pointer).unwrap_or_default();
        match self.token {
            Token::Key(key) => format!("{outer}/{}", key.replace('~', "~0").replace('/', "~1")),
            Token::Index(index) => format!("{outer}/{index}"),
        }
    }
}

/// Reads a value. What it refuses it leaves in `refused` as well: an error of serde can carry no more than text.
#[derive(Clone, Copy)]
struct Strict<'a> {
    path: Option<&'a Step<'a>>,
    depth: usize,
    refused: &'a RefCell<Option<Violation>>,
}

impl<'a> Strict<'a> {
    fn inside(self, step: &'a Step<'a>) -> Self {
        Self { path: Some(step), depth: self.depth + 1, ..self }
    }

    fn pointer(&self) -> String {
        self.path.map(Step::pointer).unwrap_or_default()
    }

    fn refuse<E: Error>(&self, violation: Violation) -> E {
        let error = E::custom(&violation);
        self.refused.replace(Some(violation));
        error
    }

    fn enter<E: Error>(&self) -> Result<(), E> {
        if self.depth < MAX_DEPTH { Ok(()) } else { Err(self.refuse(too_deep(self.pointer()))) }
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        self.enter()?;
        let mut array = Vec::new();
        loop {
            let step = Step { outer: self.path, token: Token::Index(array.len()) };
            match items.next_element_seed(self.shorter().inside(&step))? {
                Some(item) => array.push(item),
                None => return Ok(Value::Array(array)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        self.enter()?;
        let mut object = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            let step = Step { outer: self.path, token: Token::Key(&key) };
            let inner = self.shorter().inside(&step);
            if object.contains_key(&key) {
                return Err(self.refuse(Violation {
                    pointer: inner.pointer(),
                    expected: "each key once".to_owned(),
                    found: "the key a second time".to_owned(),
                    near: Vec::new(),
                }));
            }
            let member = members.next_value_seed(inner)?;
            object.insert(key, member);
        }
        Ok(Value::Object(object))
    }
}

impl<'a> Strict<'a> {
    /// The same with a shorter borrow, so that a step on the stack can be added to its path.
    fn shorter<'b>(&'b self) -> Strict<'b>
    where
        'a: 'b,
    {
        *self
    }
}
