//! [`Section`]: a table of a TOML file, of which one key after the other is taken, each with its line.

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

/// A table whose keys have to be known. What is left when all of them were asked for is a mistake.
pub(super) struct Section<'a> {
    text: &'a str,
    path: &'a Arc<Path>,
    prefix: String,
    table: DeTable<'a>,
    asked: Vec<&'static str>,
}

impl<'a> Section<'a> {
    /// The whole file.
    pub(super) fn parse(path: &'a Arc<Path>, text: &'a str) -> Result<Self, ConfigError> {
        let table = DeTable::parse(text).map_err(|error| ConfigError::Syntax {
            origin: origin(path, text, error.span().map_or(0, |span| span.start)),
            reason: error.message().to_owned(),
        })?;
        Ok(Self { text, path, prefix: String::new(), table: table.into_inner(), asked: Vec::new() })
    }

    /// A text that means something.
    pub(super) fn parsed<T>(
        &mut self,
        key: &'static str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<Setting<T>>, ConfigError> {
        let value = self.take(key);
        value.map(|value| self.text_of(key, &value, parse)).transpose()
    }

    /// A text that is not empty.
    pub(super) fn text(&mut self, key: &'static str) -> Result<Option<Setting<String>>, ConfigError> {
        self.parsed(key, |text| match text.trim() {
            "" => Err("is empty; write something, or leave it out".to_owned()),
            text => Ok(text.to_owned()),
        })
    }

    /// A text such as `30s`.
    pub(super) fn duration(&mut self, key: &'static str) -> Result<Option<Setting<Duration>>, ConfigError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        // A bare number is the likely mistake, and does not say its unit.
        let DeValue::String(_) = value.get_ref() else { return Err(self.unfit(key, &value, "a text such as \"30s\"")) };
        let parse = |text: &str| duration::parse(text).map_err(|reason| format!("is no duration: {reason}"));
        self.text_of(key, &value, parse).map(Some)
    }

    /// A list of texts that mean something.
    pub(super) fn list<T>(
        &mut self,
        key: &'static str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<Setting<Vec<Setting<T>>>>, ConfigError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let origin = self.origin(&value);
        let DeValue::Array(items) = value.get_ref() else {
            return Err(self.unfit(key, &value, "a list of strings, such as [\"a\", \"b\"]"));
        };
        let items = items.iter().map(|item| self.text_of(key, item, &parse)).collect::<Result<_, _>>()?;
        Ok(Some(Setting { value: items, origin }))
    }

    /// A list of tables that read themselves.
    pub(super) fn documents<T: DeserializeOwned>(&mut self, key: &'static str) -> Result<Vec<Setting<T>>, ConfigError> {
        let Some(value) = self.take(key) else { return Ok(Vec::new()) };
        let DeValue::Array(items) = value.get_ref() else {
            return Err(self.unfit(key, &value, &format!("a list of tables, each below a line [[{key}]]")));
        };
        let read = |item: &Spanned<DeValue<'a>>| {
            let document = T::deserialize(ValueDeserializer::from(item.clone()));
            document.map(|value| Setting { value, origin: self.origin(item) }).map_err(|error| ConfigError::Value {
                origin: origin(self.path, self.text, error.span().map_or(item.span().start, |span| span.start)),
                key: self.named(key),
                reason: format!("cannot be read: {}", error.message()),
            })
        };
        items.iter().map(read).collect()
    }

    /// `true` or `false`.
    pub(super) fn switch(&mut self, key: &'static str) -> Result<Option<Setting<bool>>, ConfigError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        match value.get_ref() {
            DeValue::Boolean(switch) => Ok(Some(Setting { value: *switch, origin: self.origin(&value) })),
            _ => Err(self.unfit(key, &value, "true or false")),
        }
    }

    /// A whole number in a range.
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
                Err(self.unfit(key, &value, &expected))
            }
        }
    }

    /// A table inside of this one; an empty one where there is none.
    pub(super) fn section(&mut self, key: &'static str) -> Result<Self, ConfigError> {
        let table = match self.take(key) {
            Some(value) => self.table_of(key, value)?,
            None => DeTable::new(),
        };
        Ok(self.child(key, table))
    }

    /// The tables inside of a table inside of this one, by their names.
    pub(super) fn sections(&mut self, key: &'static str) -> Result<Vec<(Setting<String>, Self)>, ConfigError> {
        let Some(value) = self.take(key) else { return Ok(Vec::new()) };
        let mut sections = Vec::new();
        for (name, value) in self.table_of(key, value)? {
            let path = format!("{key}.{}", name.get_ref());
            let origin = origin(self.path, self.text, name.span().start);
            let table = self.table_of(&path, value)?;
            sections.push((Setting { value: name.into_inner().into_owned(), origin }, self.child(&path, table)));
        }
        Ok(sections)
    }

    /// Refuses the first key that nobody has asked for.
    pub(super) fn finish(self) -> Result<(), ConfigError> {
        let Some((key, _)) = self.table.iter().min_by_key(|(key, _)| key.span().start) else { return Ok(()) };
        let origin = origin(self.path, self.text, key.span().start);
        let name = self.named(key.get_ref());
        if is_like_a_secret(key.get_ref()) {
            return Err(ConfigError::Secret { origin, key: name });
        }
        let advice = match nearest(key.get_ref(), &self.asked) {
            Some(near) => format!("did you mean {}?", self.named(near)),
            None => format!("there are {}", self.asked.join(", ")),
        };
        Err(ConfigError::Unknown { origin, key: name, advice })
    }

    fn take(&mut self, key: &'static str) -> Option<Spanned<DeValue<'a>>> {
        self.asked.push(key);
        self.table.remove(key)
    }

    fn child(&self, key: &str, table: DeTable<'a>) -> Self {
        let prefix = format!("{}{key}.", self.prefix);
        Self { text: self.text, path: self.path, prefix, table, asked: Vec::new() }
    }

    fn table_of(&self, key: &str, value: Spanned<DeValue<'a>>) -> Result<DeTable<'a>, ConfigError> {
        let unfit = self.unfit(key, &value, "a table");
        if let DeValue::Table(table) = value.into_inner() { Ok(table) } else { Err(unfit) }
    }

    fn text_of<T>(
        &self,
        key: &str,
        value: &Spanned<DeValue<'a>>,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Setting<T>, ConfigError> {
        let DeValue::String(text) = value.get_ref() else { return Err(self.unfit(key, value, "a string")) };
        let origin = self.origin(value);
        match parse(text) {
            Ok(value) => Ok(Setting { value, origin }),
            Err(reason) => Err(ConfigError::Value { origin, key: self.named(key), reason }),
        }
    }

    fn unfit(&self, key: &str, value: &Spanned<DeValue<'a>>, expected: &str) -> ConfigError {
        let reason = format!("has to be {expected}, and this is {}", described(value.get_ref()));
        ConfigError::Value { origin: self.origin(value), key: self.named(key), reason }
    }

    fn origin(&self, value: &Spanned<DeValue<'a>>) -> Origin {
        origin(self.path, self.text, value.span().start)
    }

    fn named(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }
}

fn origin(path: &Arc<Path>, text: &str, offset: usize) -> Origin {
    let before = &text.as_bytes()[..offset.min(text.len())];
    Origin::File { path: path.clone(), line: before.iter().filter(|byte| **byte == b'\n').count() + 1 }
}

/// What a value is. Numbers are told; a text might be a secret.
fn described(value: &DeValue<'_>) -> String {
    match value {
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(switch) => switch.to_string(),
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
