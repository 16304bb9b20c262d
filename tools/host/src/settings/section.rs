//! [`Section`]: a TOML table whose values are taken key by key, each with its line.

use std::path::Path;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue, ValueDeserializer};
use tools::ToolError;

use super::error::SettingsError;
use super::origin::{Origin, Setting};
use super::parser::{Base, Parser};

/// The TOML type of a scalar.
#[derive(Clone, Copy, Debug)]
pub enum TomlType {
    /// A string, described for an error.
    String(&'static str),
    /// A whole number.
    Integer,
    /// A number.
    Float,
    /// True or false.
    Boolean,
}

/// A TOML table that reports unknown keys: [`Section::finish`] refuses every key that was not taken.
pub struct Section<'a> {
    text: &'a str,
    path: &'a Arc<Path>,
    home: Option<&'a Path>,
    prefix: String,
    table: DeTable<'a>,
    known_keys: Vec<&'static str>,
}

impl<'a> Section<'a> {
    /// Parses a whole file. `~/` stands for `home`.
    pub fn parse(
        path: &'a Arc<Path>,
        text: &'a str,
        home: Option<&'a Path>,
    ) -> Result<Self, SettingsError> {
        match Self::readable(path, text, home) {
            (section, None) => Ok(section),
            (_, Some(mistake)) => Err(mistake),
        }
    }

    /// Parses what can be read of a file. Returns the first mistake, too.
    pub(super) fn readable(
        path: &'a Arc<Path>,
        text: &'a str,
        home: Option<&'a Path>,
    ) -> (Self, Option<SettingsError>) {
        let (table, errors) = DeTable::parse_recoverable(text);
        let mistake = errors.first().map(|error| SettingsError::Syntax {
            origin: origin(path, text, error.span().map_or(0, |span| span.start)),
            reason: error.message().to_owned(),
        });
        let section = Self {
            text,
            path,
            home,
            prefix: String::new(),
            table: table.into_inner(),
            known_keys: Vec::new(),
        };
        (section, mistake)
    }

    /// Takes a scalar of this type and parses its text.
    pub fn scalar<T>(
        &mut self,
        key: &'static str,
        expected: TomlType,
        parse: Parser<T>,
    ) -> Result<Option<Setting<T>>, SettingsError> {
        let Some(value) = self.take(key)? else {
            return Ok(None);
        };
        let text = match (expected, value.get_ref()) {
            (TomlType::String(_), DeValue::String(text)) => text.to_string(),
            (TomlType::Integer, DeValue::Integer(number)) => {
                // TOML writes `0x10`, too.
                let decimal = i64::from_str_radix(number.as_str(), number.radix());
                decimal.map_or_else(|_| number.to_string(), |number| number.to_string())
            }
            (TomlType::Float, DeValue::Float(number)) => number.as_str().to_owned(),
            (TomlType::Float, DeValue::Integer(number)) => number.as_str().to_owned(),
            (TomlType::Boolean, DeValue::Boolean(boolean)) => boolean.to_string(),
            (TomlType::String(expected), _) => return Err(self.type_error(key, &value, expected)),
            (TomlType::Integer, _) => return Err(self.type_error(key, &value, "a whole number")),
            (TomlType::Float, _) => return Err(self.type_error(key, &value, "a number")),
            (TomlType::Boolean, _) => return Err(self.type_error(key, &value, "true or false")),
        };
        self.parse_value(key, &value, &text, parse).map(Some)
    }

    /// Takes a list of strings and parses each.
    pub fn list<T>(
        &mut self,
        key: &'static str,
        parse: Parser<T>,
    ) -> Result<Option<Setting<Vec<Setting<T>>>>, SettingsError> {
        let Some(value) = self.take(key)? else {
            return Ok(None);
        };
        let origin = self.origin(&value);
        let DeValue::Array(items) = value.get_ref() else {
            return Err(self.type_error(key, &value, "a list of strings, such as [\"a\", \"b\"]"));
        };
        let item = |item: &Spanned<DeValue<'a>>| match item.get_ref() {
            DeValue::String(text) => self.parse_value(key, item, text, parse),
            _ => Err(self.type_error(key, item, "a string")),
        };
        let items = items.iter().map(item).collect::<Result<_, _>>()?;
        Ok(Some(Setting::new(items, origin)))
    }

    /// Takes a list of tables, and deserializes and converts each.
    pub fn tables<T: DeserializeOwned, U>(
        &mut self,
        key: &'static str,
        convert: fn(T, Base<'_>) -> Result<U, String>,
    ) -> Result<Vec<Setting<U>>, SettingsError> {
        let Some(value) = self.take(key)? else {
            return Ok(Vec::new());
        };
        let DeValue::Array(items) = value.get_ref() else {
            let expected = format!("a list of tables, each with the header [[{key}]]");
            return Err(self.type_error(key, &value, &expected));
        };
        items
            .iter()
            .map(|item| self.convert(key, item, convert))
            .collect()
    }

    /// Takes a table of named tables, and deserializes and converts each with its name.
    pub fn named_tables<T: DeserializeOwned, U>(
        &mut self,
        key: &'static str,
        convert: fn(&str, T, Base<'_>) -> Result<U, String>,
    ) -> Result<Vec<Setting<U>>, SettingsError> {
        let Some(value) = self.take(key)? else {
            return Ok(Vec::new());
        };
        let DeValue::Table(items) = value.get_ref() else {
            let expected = format!("a table of tables, each with the header [{key}.NAME]");
            return Err(self.type_error(key, &value, &expected));
        };
        let mut items: Vec<_> = items.iter().collect();
        // The first mistake of a file is reported first, whatever the order of the table.
        items.sort_by_key(|(name, _)| name.span().start);
        let tables = items.into_iter().map(|(name, item)| {
            let path = format!("{key}.{}", name.get_ref());
            if let DeValue::Table(fields) = item.get_ref()
                // Before serde's error of an unknown field, which does not say where a secret belongs.
                && let Some((field, _)) = fields
                    .iter()
                    .find(|(field, _)| is_like_a_secret(field.get_ref()))
            {
                let origin = origin(self.path, self.text, field.span().start);
                let key = self.full_key(&format!("{path}.{}", field.get_ref()));
                return Err(SettingsError::Secret { origin, key });
            }
            self.convert(&path, item, |table, base| {
                convert(name.get_ref(), table, base)
            })
        });
        tables.collect()
    }

    /// Deserializes and converts a table.
    fn convert<T: DeserializeOwned, U>(
        &self,
        key: &str,
        item: &Spanned<DeValue<'a>>,
        convert: impl FnOnce(T, Base<'_>) -> Result<U, String>,
    ) -> Result<Setting<U>, SettingsError> {
        let invalid = |at: usize, reason: String| {
            let origin = origin(self.path, self.text, at);
            SettingsError::value(&origin, self.full_key(key), reason)
        };
        let table = T::deserialize(ValueDeserializer::from(item.clone())).map_err(|error| {
            let at = error.span().map_or(item.span().start, |span| span.start);
            invalid(at, format!("is invalid: {}", error.message()))
        })?;
        let value =
            convert(table, self.base()).map_err(|reason| invalid(item.span().start, reason))?;
        Ok(Setting::new(value, self.origin(item)))
    }

    /// Takes a nested table of named tables.
    pub fn sections(
        &mut self,
        key: &'static str,
    ) -> Result<Vec<(Setting<String>, Self)>, SettingsError> {
        let Some(value) = self.take(key)? else {
            return Ok(Vec::new());
        };
        let mut sections = Vec::new();
        for (name, value) in self.table_from(key, value)? {
            let path = format!("{key}.{}", name.get_ref());
            let origin = origin(self.path, self.text, name.span().start);
            let table = self.table_from(&path, value)?;
            let name = Setting::new(name.into_inner().into_owned(), origin);
            sections.push((name, self.child(&path, table)));
        }
        Ok(sections)
    }

    /// Returns an error for the first key that was not taken.
    pub fn finish(self) -> Result<(), SettingsError> {
        self.check_taken(&self.table, "")
    }

    fn check_taken(&self, table: &DeTable<'a>, inside: &str) -> Result<(), SettingsError> {
        let mut left: Vec<_> = table.iter().collect();
        left.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in left {
            let name = format!("{inside}{}", key.get_ref());
            let inner = format!("{name}.");
            let mut known = self.known_keys.iter();
            let is_known = known.any(|known| known.starts_with(&inner));
            match value.get_ref() {
                DeValue::Table(table) if is_known => self.check_taken(table, &inner)?,
                _ => return Err(self.unknown(key, inside)),
            }
        }
        Ok(())
    }

    fn unknown(&self, key: &Spanned<DeString<'a>>, inside: &str) -> SettingsError {
        let origin = origin(self.path, self.text, key.span().start);
        let name = self.full_key(&format!("{inside}{}", key.get_ref()));
        if is_like_a_secret(key.get_ref()) {
            return SettingsError::Secret { origin, key: name };
        }
        let inside_known = self.known_keys.iter();
        let inside_known = inside_known.filter_map(|known| known.strip_prefix(inside));
        let known = inside_known.filter_map(|known| known.split('.').next());
        let mut known: Vec<_> = known.collect();
        known.dedup();
        let near = ToolError::near(key.get_ref(), known.iter().copied());
        let near = near.first().map(|near| format!("{inside}{near}"));
        let near = near.or_else(|| {
            let mut known = self.known_keys.iter();
            // The right key in the wrong table.
            let moved = known.find(|known| known.rsplit('.').next() == Some(&**key.get_ref()));
            moved.map(|moved| (*moved).to_owned())
        });
        let near: Vec<_> = near.iter().map(|near| self.full_key(near)).collect();
        let advice = ToolError::did_you_mean(&near);
        let advice =
            advice.unwrap_or_else(|| format!("the settings here are {}", known.join(", ")));
        SettingsError::Unknown {
            origin,
            key: name,
            advice,
        }
    }

    /// Takes a key such as `model`, or `limits.max_steps` from the table `limits`.
    fn take(&mut self, key: &'static str) -> Result<Option<Spanned<DeValue<'a>>>, SettingsError> {
        // Also of an absent key, for the advice about a misspelt one.
        self.known_keys.push(key);
        let Some((name, inner)) = key.split_once('.') else {
            return Ok(self.table.remove(key));
        };
        match self.table.get_mut(name) {
            None => Ok(None),
            Some(value) => match value.get_mut() {
                DeValue::Table(table) => Ok(table.remove(inner)),
                _ => {
                    let value = value.clone();
                    Err(self.type_error(name, &value, "a table"))
                }
            },
        }
    }

    fn child(&self, key: &str, table: DeTable<'a>) -> Self {
        let prefix = format!("{}{key}.", self.prefix);
        Self {
            text: self.text,
            path: self.path,
            home: self.home,
            prefix,
            table,
            known_keys: Vec::new(),
        }
    }

    fn table_from(
        &self,
        key: &str,
        value: Spanned<DeValue<'a>>,
    ) -> Result<DeTable<'a>, SettingsError> {
        let type_error = self.type_error(key, &value, "a table");
        if let DeValue::Table(table) = value.into_inner() {
            Ok(table)
        } else {
            Err(type_error)
        }
    }

    fn parse_value<T>(
        &self,
        key: &str,
        value: &Spanned<DeValue<'a>>,
        text: &str,
        parse: Parser<T>,
    ) -> Result<Setting<T>, SettingsError> {
        let origin = self.origin(value);
        match parse(text, self.base()) {
            Ok(value) => Ok(Setting { value, origin }),
            Err(reason) => Err(SettingsError::value(&origin, self.full_key(key), reason)),
        }
    }

    fn type_error(&self, key: &str, value: &Spanned<DeValue<'a>>, expected: &str) -> SettingsError {
        let reason = format!("must be {expected}, not {}", describe(value.get_ref()));
        SettingsError::value(&self.origin(value), self.full_key(key), reason)
    }

    fn origin(&self, value: &Spanned<DeValue<'a>>) -> Origin {
        origin(self.path, self.text, value.span().start)
    }

    fn base(&self) -> Base<'a> {
        Base {
            folder: self.path.parent(),
            home: self.home,
        }
    }

    fn full_key(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }
}

fn origin(path: &Arc<Path>, text: &str, offset: usize) -> Origin {
    let before = &text.as_bytes()[..offset.min(text.len())];
    Origin::File {
        path: path.clone(),
        line: before.iter().filter(|byte| **byte == b'\n').count() + 1,
    }
}

/// Describes a value in an error. Strings are not quoted, because one may be a secret.
fn describe(value: &DeValue<'_>) -> String {
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
    ["key", "token", "secret", "password"]
        .iter()
        .any(|word| key.ends_with(word))
}
