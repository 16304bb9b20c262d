//! [`ArgumentsCodec`]: the arguments of a call on a wire and in the catalog.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::keys::{WireKeys, declares, stem};
use super::keyword::{members, strings};
use crate::json::{Json, Kind, Node};

/// Translates the arguments of a tool's calls between the catalog and a wire.
///
/// A wire may have other property keys than the catalog. A strict wire may also have a null for each absent optional property. For
/// most tools both forms are the same, and nothing is copied.
#[derive(Clone, Debug, Default)]
pub struct ArgumentsCodec(Option<Arc<Differences>>);

/// The differences between both forms. The wire's schema says where they are.
#[derive(Debug)]
struct Differences {
    schema: Value,
    keys: WireKeys,
    /// True if a null for an optional property means absence.
    has_nulls: bool,
}

/// The length of arguments, in bytes, after which no nulls are added. A history may lack nulls; only a model's answer has to have
/// them.
const MOST_WITH_NULLS: usize = 256 * 1024;

/// The direction of a translation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Decode,
    Encode,
}

impl ArgumentsCodec {
    /// Creates a codec, given the schema on the wire. Its optional properties are not required, even in strict mode.
    pub(super) fn new(schema: &Value, keys: WireKeys, has_nulls: bool) -> Self {
        let is_identity = keys.is_empty() && !has_nulls;
        Self((!is_identity).then(|| {
            Arc::new(Differences {
                schema: schema.clone(),
                keys,
                has_nulls,
            })
        }))
    }

    /// Returns true if arguments are the same on the wire and in the catalog.
    pub fn is_identity(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the property keys with another key on the wire, each with that key, in no order.
    pub fn replaced_keys(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .flat_map(|differences| differences.keys.iter())
    }

    /// Returns the arguments as the catalog's schema names them, given those of a model.
    ///
    /// Arguments that do not match the schema are translated as far as they match. The canonical schema judges them afterwards. If an
    /// object has a key of the catalog where the wire has another, all its keys stay: the model knows them from elsewhere.
    pub fn decode(&self, arguments: &Json) -> Json {
        self.translate(arguments, Direction::Decode)
    }

    /// Returns the arguments as the wire's schema names them, such as those of earlier calls.
    pub fn encode(&self, arguments: &Json) -> Json {
        self.translate(arguments, Direction::Encode)
    }

    fn translate(&self, arguments: &Json, direction: Direction) -> Json {
        let Some(differences) = &self.0 else {
            return arguments.clone();
        };
        let mut text = String::new();
        let root = Place::new(differences, vec![&differences.schema]);
        root.write(arguments.node(), direction, &mut text);
        // Different keys stay different, so only arguments that nest too deep for a parser fail. The pipeline refuses those.
        Json::parse(text).unwrap_or_else(|_| arguments.clone())
    }
}

/// The schemas that may apply to one value.
struct Place<'a> {
    differences: &'a Differences,
    schemas: Vec<&'a Map<String, Value>>,
}

impl<'a> Place<'a> {
    /// Creates the place of some schemas and of all that may apply with them.
    fn new(differences: &'a Differences, mut pending: Vec<&'a Value>) -> Self {
        let mut schemas = Vec::new();
        let mut seen = BTreeSet::new();
        while let Some(schema) = pending.pop() {
            let Value::Object(keywords) = schema else {
                continue;
            };
            // References may form cycles.
            if !seen.insert(std::ptr::from_ref(keywords) as usize) {
                continue;
            }
            schemas.push(keywords);
            for keyword in ["allOf", "anyOf"] {
                let parts = keywords.get(keyword).and_then(Value::as_array);
                pending.extend(parts.into_iter().flatten());
            }
            let reference = keywords
                .get("$ref")
                .and_then(Value::as_str)
                .and_then(|text| text.strip_prefix('#'));
            pending.extend(reference.and_then(|pointer| differences.schema.pointer(pointer)));
        }
        Self {
            differences,
            schemas,
        }
    }

    fn write(&self, node: Node<'_>, direction: Direction, text: &mut String) {
        match node.kind() {
            Kind::Object => self.write_object(node, direction, text),
            Kind::Array => self.write_array(node, direction, text),
            _ => text.push_str(&node.to_string()),
        }
    }

    fn write_object(&self, node: Node<'_>, direction: Direction, text: &mut String) {
        if direction == Direction::Encode
            && self.differences.has_nulls
            && text.len() < MOST_WITH_NULLS
        {
            return self.write_with_nulls(node, text);
        }
        // A model may answer with the keys of the catalog. Then none of its keys is read as a replacement, so that all of them stay.
        let has_own_keys = direction == Direction::Decode
            && node
                .members()
                .any(|(key, _)| self.replacement(key).is_some());
        let mut list = List::begin(text, '{');
        for (key, member) in node.members() {
            let encoded = self.encoded_key(key);
            let (wire, written) = match direction {
                Direction::Encode => (&*encoded, Cow::Borrowed(&*encoded)),
                Direction::Decode if has_own_keys => (&*encoded, Cow::Borrowed(key)),
                Direction::Decode => (key, self.decoded_key(key)),
            };
            if direction == Direction::Encode
                || member.kind() != Kind::Null
                || !self.is_absent_as_null(wire)
            {
                list.key(&written);
                self.member(wire).write(member, direction, list.text);
            }
        }
        list.end('}');
    }

    /// Writes an object in the order of the wire's schema, with a null for each absent optional property.
    fn write_with_nulls(&self, node: Node<'_>, text: &mut String) {
        let mut all: Vec<_> = node
            .members()
            .map(|(key, member)| (self.encoded_key(key), Some(member)))
            .collect();
        let present: BTreeSet<_> = all.iter().map(|(wire, _)| wire.to_string()).collect();
        let mut absent = self.nullable();
        absent.retain(|wire| !present.contains(*wire));
        all.extend(absent.into_iter().map(|wire| (Cow::Borrowed(wire), None)));
        let required = self
            .schemas
            .iter()
            .flat_map(|keywords| strings(keywords.get("required")));
        let mut order: Vec<_> = required.collect();
        let properties = self
            .schemas
            .iter()
            .filter_map(|keywords| members(keywords, "properties"));
        let named: BTreeSet<_> = properties.flat_map(Map::keys).map(String::as_str).collect();
        order.extend(named);
        // The last entry of a map wins: a required property has its place among the required ones.
        let positions: BTreeMap<_, _> = order
            .iter()
            .enumerate()
            .rev()
            .map(|(index, wire)| (*wire, index))
            .collect();
        all.sort_by_key(|(wire, _)| positions.get(&**wire).copied().unwrap_or(usize::MAX));
        let mut list = List::begin(text, '{');
        for (wire, member) in all {
            match member {
                Some(member) => {
                    list.key(&wire);
                    self.member(&wire)
                        .write(member, Direction::Encode, list.text);
                }
                None if list.text.len() < MOST_WITH_NULLS => {
                    list.key(&wire);
                    list.text.push_str("null");
                }
                None => {}
            }
        }
        list.end('}');
    }

    fn write_array(&self, node: Node<'_>, direction: Direction, text: &mut String) {
        let first = self
            .schemas
            .iter()
            .filter_map(|keywords| prefix(keywords))
            .map(Vec::len)
            .max()
            .unwrap_or_default();
        let rest = self.element(first);
        let mut list = List::begin(text, '[');
        for (index, element) in node.elements().enumerate() {
            list.separate();
            let own = (index < first).then(|| self.element(index));
            own.as_ref()
                .unwrap_or(&rest)
                .write(element, direction, list.text);
        }
        list.end(']');
    }

    fn member(&self, wire: &str) -> Self {
        let schemas = self.schemas.iter().filter_map(|keywords| {
            let property =
                members(keywords, "properties").and_then(|properties| properties.get(wire));
            property.or_else(|| keywords.get("additionalProperties"))
        });
        Self::new(self.differences, schemas.collect())
    }

    fn element(&self, index: usize) -> Self {
        let schemas = self.schemas.iter().filter_map(|keywords| {
            prefix(keywords)
                .and_then(|schemas| schemas.get(index))
                .or_else(|| keywords.get("items"))
        });
        Self::new(self.differences, schemas.collect())
    }

    /// Returns the wire's key for a key of the catalog. Returns `None` if no schema here replaces the key.
    fn replacement(&self, key: &str) -> Option<&'a str> {
        self.differences
            .keys
            .wire(key)
            .filter(|wire| self.declares(wire))
    }

    /// Returns the catalog's key for the stem of a wire's key. Returns `None` if the stem replaces no key here.
    fn find_replaced(&self, wire: &str) -> Option<&'a str> {
        self.differences
            .keys
            .key(stem(wire))
            .filter(|_| self.declares(stem(wire)))
    }

    fn declares(&self, wire: &str) -> bool {
        self.schemas.iter().any(|keywords| declares(keywords, wire))
    }

    /// Returns the wire's key for a key of the catalog. A key that looks like a replacement gets an underscore.
    fn encoded_key<'k>(&self, key: &'k str) -> Cow<'k, str>
    where
        'a: 'k,
    {
        match self.replacement(key) {
            Some(wire) => Cow::Borrowed(wire),
            None if self.find_replaced(key).is_some() => Cow::Owned(format!("{key}_")),
            None => Cow::Borrowed(key),
        }
    }

    /// Returns the catalog's key for a key on the wire.
    fn decoded_key<'k>(&self, wire: &'k str) -> Cow<'k, str>
    where
        'a: 'k,
    {
        match self.find_replaced(wire) {
            Some(key) if stem(wire) == wire => Cow::Borrowed(key),
            Some(_) => Cow::Borrowed(&wire[..wire.len() - 1]),
            None => Cow::Borrowed(wire),
        }
    }

    /// Returns true if a null for the wire's key means that an optional property is absent.
    fn is_absent_as_null(&self, wire: &str) -> bool {
        self.differences.has_nulls
            && self
                .schemas
                .iter()
                .any(|keywords| is_optional(keywords, wire))
    }

    /// Returns the wire's keys of the optional properties that may be null, in their order.
    fn nullable(&self) -> BTreeSet<&'a str> {
        let mut optional = BTreeSet::new();
        for keywords in &self.schemas {
            let required: BTreeSet<_> = strings(keywords.get("required")).collect();
            let keys = members(keywords, "properties")
                .into_iter()
                .flat_map(Map::keys)
                .map(String::as_str);
            optional.extend(keys.filter(|key| !required.contains(key)));
        }
        optional
    }
}

fn is_optional(keywords: &Map<String, Value>, key: &str) -> bool {
    members(keywords, "properties").is_some_and(|properties| properties.contains_key(key))
        && !strings(keywords.get("required")).any(|other| other == key)
}

fn prefix(keywords: &Map<String, Value>) -> Option<&Vec<Value>> {
    keywords.get("prefixItems").and_then(Value::as_array)
}

/// The members or elements of a JSON value that is being written.
struct List<'t> {
    text: &'t mut String,
    is_empty: bool,
}

impl<'t> List<'t> {
    fn begin(text: &'t mut String, bracket: char) -> Self {
        text.push(bracket);
        Self {
            text,
            is_empty: true,
        }
    }

    fn separate(&mut self) {
        if !std::mem::replace(&mut self.is_empty, false) {
            self.text.push(',');
        }
    }

    fn key(&mut self, key: &str) {
        self.separate();
        self.text.push_str(&Value::from(key).to_string());
        self.text.push(':');
    }

    fn end(self, bracket: char) {
        self.text.push(bracket);
    }
}
