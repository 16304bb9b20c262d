//! [`Section`]: a TOML table whose values are taken key by key, each with its line.

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};
use tools::ToolError;

use super::error::ConfigError;
use super::origin::{Origin, Setting};
use crate::duration;

/// A TOML table that reports unknown keys: [`Section::finish`] refuses every key that was not taken.
pub(super) struct Section<'a> {
    text: &'a str,
    path: &'a Arc<Path>,
    prefix: String,
    table: DeTable<'a>,
    known_keys: Vec<&'static str>,
}

impl<'a> Section<'a> {
    /// Parses a whole file.
    pub(super) fn parse(path: &'a Arc<Path>, text: &'a str) -> Result<Self, ConfigError> {
        let table = DeTable::parse(text).map_err(|error| ConfigError::Syntax {
            origin: origin(path, text, error.span().map_or(0, |span| span.start)),
            reason: error.message().to_owned(),
        })?;
        Ok(Self { text, path, prefix: String::new(), table: table.into_inner(), known_keys: Vec::new() })
    }

    /// Takes a string and parses it.
    pub(super) fn parsed<T>(
        &mut self,
        key: &'static str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<Setting<T>>, ConfigError> {
        let value = self.take(key);
        value.map(|value| self.parse_string(key, &value, parse)).transpose()
    }

    /// Takes a string that is not empty.
    pub(super) fn string(&mut self, key: &'static str) -> Result<Option<Setting<String>>, ConfigError> {
        self.parsed(key, |text| match text.trim() {
            "" => Err("is empty; set a value, or remove the key".to_owned()),
            text => Ok(text.to_owned()),
        })
    }

    /// Takes a duration string such as `30s`.
    pub(super) fn duration(&mut self, key: &'static str) -> Result<Option<Setting<Duration>>, ConfigError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        // Unlike on the command line, a bare number is refused, because it has no unit.
        let DeValue::String(_) = value.get_ref() else {
            return Err(self.type_error(key, &value, "a string such as \"30s\""));
        };
        let parse = |text: &str| duration::parse(text).map_err(|reason| format!("is not a duration: {reason}"));
        self.parse_string(key, &value, parse).map(Some)
    }

    /// Takes a list of strings and parses each.
    pub(super) fn list<T>(
        &mut self,
        key: &'static str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<Setting<Vec<Setting<T>>>>, ConfigError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let origin = self.origin(&value);
        let DeValue::Array(items) = value.get_ref() else {
            return Err(self.type_error(key, &value, "a list of strings, such as [\"a\", \"b\"]"));
        };
        let items = items.iter().map(|item| self.parse_string(key, item, &parse)).collect::<Result<_, _>>()?;
        Ok(Some(Setting { value: items, origin }))
    }

    /// Takes a list of tables and deserializes each.
    pub(super) fn tables<T: DeserializeOwned>(&mut self, key: &'static str) -> Result<Vec<Setting<T>>, ConfigError> {
        let Some(value) = self.take(key) else { return Ok(Vec::new()) };
        let DeValue::Array(items) = value.get_ref() else {
            return Err(self.type_error(key, &value, &format!("a list of tables, each with the header [[{key}]]")));
        };
        let read = |item: &Spanned<DeValue<'a>>| {
            let document = T::deserialize(ValueDeserializer::from(item.clone()));
            document.map(|value| Setting { value, origin: self.origin(item) }).map_err(|error| ConfigError::Value {
                origin: origin(self.path, self.text, error.span().map_or(item.span().start, |span| span.start)),
                key: self.full_key(key),
                reason: format!("is invalid: {}", error.message()),
            })
        };
        items.iter().map(read).collect()
    }

    /// Takes a boolean.
    pub(super) fn boolean(&mut self, key: &'static str) -> Result<Option<Setting<bool>>, ConfigError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        match value.get_ref() {
            DeValue::Boolean(boolean) => Ok(Some(Setting { value: *boolean, origin: self.origin(&value) })),
            _ => Err(self.type_error(key, &value, "true or false")),
        }
    }

    /// Takes an integer in a range.
    pub(super) fn number(
        &mut self,
        key: &'static str,
        range: RangeInclusive<u32>,
    ) -> Result<Option<Setting<u32>>, ConfigError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let number = match value.get_ref() {
            DeValue::Integer(number) => u32::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        match number.filter(|number| range.contains(number)) {
            Some(number) => Ok(Some(Setting { value: number, origin: self.origin(&value) })),
            None => {
                let expected = format!("a whole number from {} to {}", range.start(), range.end());
                Err(self.type_error(key, &value, &expected))
            }
        }
    }

    /// Takes a nested table; an empty one if the key is missing.
    pub(super) fn section(&mut self, key: &'static str) -> Result<Self, ConfigError> {
        let table = match self.take(key) {
            Some(value) => self.table_from(key, value)?,
            None => DeTable::new(),
        };
        Ok(self.child(key, table))
    }

    /// Takes a nested table of named tables.
    pub(super) fn sections(&mut self, key: &'static str) -> Result<Vec<(Setting<String>, Self)>, ConfigError> {
        let Some(value) = self.take(key) else { return Ok(Vec::new()) };
        let mut sections = Vec::new();
        for (name, value) in self.table_from(key, value)? {
            let path = format!("{key}.{}", name.get_ref());
            let origin = origin(self.path, self.text, name.span().start);
            let table = self.table_from(&path, value)?;
            sections.push((Setting { value: name.into_inner().into_owned(), origin }, self.child(&path, table)));
        }
        Ok(sections)
    }

    /// Returns an error for the first key that was not taken.
    pub(super) fn finish(self) -> Result<(), ConfigError> {
        let Some((key, _)) = self.table.iter().min_by_key(|(key, _)| key.span().start) else { return Ok(()) };
        let origin = origin(self.path, self.text, key.span().start);
        let name = self.full_key(key.get_ref());
        if is_like_a_secret(key.get_ref()) {
            return Err(ConfigError::Secret { origin, key: name });
        }
        let advice = match nearest(key.get_ref(), &self.known_keys) {
            Some(near) => format!("did you mean {}?", self.full_key(near)),
            None => format!("the settings here are {}", self.known_keys.join(", ")),
        };
        Err(ConfigError::Unknown { origin, key: name, advice })
    }

    fn take(&mut self, key: &'static str) -> Option<Spanned<DeValue<'a>>> {
        self.known_keys.push(key);
        self.table.remove(key)
    }

    fn child(&self, key: &str, table: DeTable<'a>) -> Self {
        let prefix = format!("{}{key}.", self.prefix);
        Self { text: self.text, path: self.path, prefix, table, known_keys: Vec::new() }
    }

    fn table_from(&self, key: &str, value: Spanned<DeValue<'a>>) -> Result<DeTable<'a>, ConfigError> {
        let type_error = self.type_error(key, &value, "a table");
        if let DeValue::Table(table) = value.into_inner() { Ok(table) } else { Err(type_error) }
    }

    fn parse_string<T>(
        &self,
        key: &str,
        value: &Spanned<DeValue<'a>>,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Setting<T>, ConfigError> {
        let DeValue::String(text) = value.get_ref() else { return Err(self.type_error(key, value, "a string")) };
        let origin = self.origin(value);
        match parse(text) {
            Ok(value) => Ok(Setting { value, origin }),
            Err(reason) => Err(ConfigError::Value { origin, key: self.full_key(key), reason }),
        }
    }

    fn type_error(&self, key: &str, value: &Spanned<DeValue<'a>>, expected: &str) -> ConfigError {
        let reason = format!("must be {expected}, not {}", described(value.get_ref()));
        ConfigError::Value { origin: self.origin(value), key: self.full_key(key), reason }
    }

    fn origin(&self, value: &Spanned<DeValue<'a>>) -> Origin {
        origin(self.path, self.text, value.span().start)
    }

    fn full_key(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }
}

fn origin(path: &Arc<Path>, text: &str, offset: usize) -> Origin {
    let before = &text.as_bytes()[..offset.min(text.len())];
    Origin::File { path: path.clone(), line: before.iter().filter(|byte| **byte == b'\n').count() + 1 }
}

/// Describes a value in an error. Strings are not quoted, because one may be a secret.
fn described(value: &DeValue<'_>) -> String {
    match value {
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(boolean) => boolean.to_string(),
        DeValue::String(_) => "a string".to_owned(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

fn is_like_a_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    ["key", "token", "secret", "password"].iter().any(|word| key.ends_with(word))
}

fn nearest(key: &str, known: &[&'static str]) -> Option<&'static str> {
    let near = ToolError::near(key, known.iter().copied());
    known.iter().copied().find(|name| near.first().is_some_and(|near| near == name))
}
