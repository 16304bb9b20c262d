//! [`Raw`]: JSON text that is read where it is needed, without a tree of the rest.
//!
//! Replies of services hold the arguments of calls, whose text has to stay as it was sent: a tree would lose repeated keys and the digits
//! of long integers.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// One JSON value. A member that does not exist is `null`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Raw<'a>(&'a str);

/// The members of an object, with repeated keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields<'a>(Vec<(Cow<'a, str>, Raw<'a>)>);

impl<'a> Raw<'a> {
    pub(crate) const NULL: Self = Raw("null");

    /// Wraps the text of one JSON value without white space around it.
    pub(crate) fn new(text: &'a RawValue) -> Self {
        Self(text.get())
    }

    /// Returns the text of the value.
    pub(crate) fn json(self) -> &'a str {
        self.0
    }

    /// Returns the members. A value that is no object has none.
    pub(crate) fn fields(self) -> Fields<'a> {
        if self.is_object() {
            serde_json::from_str(self.0).unwrap_or_default()
        } else {
            Fields::default()
        }
    }

    /// Returns a member.
    pub(crate) fn get(self, name: &str) -> Self {
        self.fields().get(name)
    }

    /// Returns the elements. A value that is no array has none.
    pub(crate) fn elements(self) -> Vec<Self> {
        if !self.0.starts_with('[') {
            return Vec::new();
        }
        let elements: Vec<&RawValue> = serde_json::from_str(self.0).unwrap_or_default();
        elements.into_iter().map(Self::new).collect()
    }

    /// Returns the members of each element, of those that are objects in one pass.
    pub(crate) fn objects(self) -> Vec<Fields<'a>> {
        let objects = serde_json::from_str(self.0);
        objects.unwrap_or_else(|_| self.elements().into_iter().map(Raw::fields).collect())
    }

    /// Returns the elements of an array, or the value itself if it is anything else but `null`.
    pub(crate) fn one_or_more(self) -> Vec<Self> {
        match self.0.as_bytes() {
            [b'[', ..] => self.elements(),
            _ if self.is_null() => Vec::new(),
            _ => vec![self],
        }
    }

    /// Returns the text of a string.
    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        let inner = self.0.strip_prefix('"')?.strip_suffix('"')?;
        // Most texts have no escapes, and are borrowed from the document.
        if inner.contains('\\') {
            serde_json::from_str(self.0).ok().map(Cow::Owned)
        } else {
            Some(Cow::Borrowed(inner))
        }
    }

    /// Returns the text of a string that is not empty.
    pub(crate) fn words(self) -> Option<Cow<'a, str>> {
        self.text().filter(|text| !text.is_empty())
    }

    /// Returns the text of a string that is not empty, as its own.
    pub(crate) fn into_text(self) -> Option<String> {
        self.words().map(Cow::into_owned)
    }

    /// Returns a whole number, also one that is written as a string.
    pub(crate) fn number(self) -> Option<u64> {
        // Services write counts and indices as text.
        let digits = self.0.trim_matches('"');
        digits.parse().ok()
    }

    /// Keeps the text of a string that is not empty. The chunks of a stream repeat most texts that are kept.
    pub(crate) fn keep_text(self, kept: &mut Option<String>) {
        if let Some(text) = self.words()
            && kept.as_deref() != Some(&*text)
        {
            *kept = Some(text.into_owned());
        }
    }

    pub(crate) fn is_null(self) -> bool {
        self.0 == "null"
    }

    pub(crate) fn is_true(self) -> bool {
        self.0 == "true"
    }

    pub(crate) fn is_string(self) -> bool {
        self.0.starts_with('"')
    }

    pub(crate) fn is_object(self) -> bool {
        self.0.starts_with('{')
    }

    /// Returns true if this is an array or an object without elements.
    pub(crate) fn is_empty(self) -> bool {
        let inner = self.0.strip_prefix(['{', '[']).unwrap_or("…");
        inner.trim_start().len() == 1
    }

    /// Returns the value as a tree, or `null` if it nests too deeply.
    pub(crate) fn value(self) -> Value {
        serde_json::from_str(self.0).unwrap_or_default()
    }
}

impl<'a> Fields<'a> {
    /// Returns a member. Of a repeated key, the last counts.
    pub(crate) fn get(&self, name: &str) -> Raw<'a> {
        // This is how serde_json reads members; repeated keys in arguments are found where those are parsed.
        let found = self.0.iter().rev().find(|(key, _)| key == name);
        found.map_or(Raw::NULL, |(_, value)| *value)
    }

    /// Returns the first of these members that is not `null`.
    pub(crate) fn first(&self, names: &[&str]) -> Raw<'a> {
        let mut members = names.iter().map(|name| self.get(name));
        members.find(|value| !value.is_null()).unwrap_or(Raw::NULL)
    }

    /// Returns the members with names such as `finishReason` for `finish_reason`.
    pub(crate) fn in_camel_case(self) -> Self {
        let members = self.0.into_iter();
        Self(members.map(|(name, value)| (camel(name), value)).collect())
    }

    /// Returns the members as a tree.
    pub(crate) fn to_map(&self) -> Map<String, Value> {
        self.without(&[])
    }

    /// Returns the members except these as a tree.
    pub(crate) fn without(&self, names: &[&str]) -> Map<String, Value> {
        let rest = self.iter().filter(|(name, _)| !names.contains(name));
        rest.map(|(name, value)| (name.to_owned(), value.value()))
            .collect()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, Raw<'a>)> {
        self.0.iter().map(|(key, value)| (&**key, *value))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                // Most objects of a stream have no more, so that they are read into one allocation.
                let mut members = Vec::with_capacity(8);
                while let Some(Key(key)) = map.next_key()? {
                    members.push((key, Raw::new(map.next_value()?)));
                }
                Ok(Fields(members))
            }
        }

        deserializer.deserialize_map(Object)
    }
}

fn camel(name: Cow<'_, str>) -> Cow<'_, str> {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    if first.len() == name.len() {
        return name;
    }
    let camel = words.fold(first, |name, word| match word.split_at_checked(1) {
        Some((begin, rest)) => name + &begin.to_ascii_uppercase() + rest,
        None => name,
    });
    camel.into()
}

/// A key that is borrowed if it has no escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> Raw<'_> {
        Raw::new(serde_json::from_str(json).unwrap())
    }

    #[test]
    fn members_are_read_in_their_own_text() {
        let json = raw(
            r#"{"a": {"n": 123456789012345678901, "n": 2}, "\u0062": "x\ny", "c": ["1", 2], "d": {}}"#,
        );
        assert_eq!(
            json.get("a").json(),
            r#"{"n": 123456789012345678901, "n": 2}"#
        );
        assert_eq!(json.get("a").get("n").number(), Some(2));
        assert_eq!(json.get("b").text().as_deref(), Some("x\ny"));
        let numbers: Vec<_> = json
            .get("c")
            .elements()
            .into_iter()
            .map(Raw::number)
            .collect();
        assert_eq!(numbers, [Some(1), Some(2)]);
        assert!(json.get("d").is_empty() && !json.get("a").is_empty());
        assert!(json.get("e").is_null() && json.get("e").get("f").is_null());
        assert!(
            json.get("b").elements().is_empty() && json.get("c").fields().iter().next().is_none()
        );
    }
}
