//! [`Kind`]: reads the value of a key from TOML, and from the text of a flag or a variable.

use std::fmt::Display;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::error::SettingsError;
use super::origin::{Origin, Setting};
use super::parser::{Base, Parser, number, switch, time};
use super::section::{Section, TomlType};
use super::slot::{Document, Slot};

type FromToml<S> =
    dyn Fn(&mut Section<'_>, &'static str) -> Result<Option<S>, SettingsError> + Send + Sync;
type FromTexts<S> = dyn Fn(&[String], &Origin) -> Result<S, String> + Send + Sync;

/// Reads the value of a key into a slot `S`, and shows it.
pub struct Kind<S: Slot> {
    pub(super) from_toml: Box<FromToml<S>>,
    /// Reads the occurrences of a flag, or the one value of a variable.
    pub(super) from_texts: Box<FromTexts<S>>,
    pub(super) document: fn(&S::Value) -> Value,
    pub(super) is_scalar: bool,
}

/// Returns the kind of a TOML string.
pub fn text<T: Document + 'static, S: Slot<Value = T> + From<Setting<T>>>(
    parse: Parser<T>,
) -> Kind<S> {
    scalar(TomlType::String("a string"), parse, T::document)
}

/// Returns the kind of a TOML string that is shown as it is printed.
pub fn printed_text<T: Display + 'static, S: Slot<Value = T> + From<Setting<T>>>(
    parse: Parser<T>,
) -> Kind<S> {
    scalar(TomlType::String("a string"), parse, |value| {
        json!(value.to_string())
    })
}

/// Returns the [`Kind`] that reads a duration such as `30s`. In TOML it must be a string, since an integer has no unit. A string
/// without a unit is in seconds.
pub fn duration<S: Slot<Value = Duration> + From<Setting<Duration>>>() -> Kind<S> {
    let expected = TomlType::String("a string such as \"30s\"");
    scalar(expected, time, Duration::document)
}

/// Returns the kind of a boolean.
pub fn boolean<S: Slot<Value = bool> + From<Setting<bool>>>() -> Kind<S> {
    scalar(TomlType::Boolean, switch, bool::document)
}

/// Returns the kind of an integer from `LEAST` to `u32::MAX`.
pub fn integer<const LEAST: u32, S: Slot<Value = u32> + From<Setting<u32>>>() -> Kind<S> {
    scalar(TomlType::Integer, number::<LEAST>, u32::document)
}

/// Returns the kind of a number with a fraction.
pub fn float<S: Slot<Value = f64> + From<Setting<f64>>>(parse: Parser<f64>) -> Kind<S> {
    scalar(TomlType::Float, parse, f64::document)
}

/// Returns the kind of a list whose items are settings of their own.
pub fn items<T: Document + 'static>(parse: Parser<T>) -> Kind<Vec<Setting<T>>>
where
    Vec<Setting<T>>: Slot<Value = T>,
{
    list(parse, T::document, |list| list.value)
}

/// Returns the kind of a list that replaces that of a lower layer.
pub fn replaced_list<T: 'static>(parse: Parser<T>) -> Kind<Option<Setting<Vec<T>>>>
where
    Vec<T>: Document,
    Option<Setting<Vec<T>>>: Slot<Value = Vec<T>>,
{
    list(parse, Vec::document, |list| Some(whole(list)))
}

/// Returns the kind of a list that stands next to those of lower layers.
pub fn accumulated_list<T: 'static>(parse: Parser<T>) -> Kind<Vec<Setting<Vec<T>>>>
where
    Vec<T>: Document,
    Vec<Setting<Vec<T>>>: Slot<Value = Vec<T>>,
{
    list(parse, Vec::document, |list| vec![whole(list)])
}

/// Returns the kind of an array of tables. A flag or a variable cannot express it.
pub fn tables<T: DeserializeOwned + Document + 'static>() -> Kind<Vec<Setting<T>>>
where
    Vec<Setting<T>>: Slot<Value = T>,
{
    converted_tables(|table: T, _| Ok(table))
}

/// Returns the kind of an array of tables, each of which is converted.
pub fn converted_tables<T: DeserializeOwned + 'static, U: Document + 'static>(
    convert: fn(T, Base<'_>) -> Result<U, String>,
) -> Kind<Vec<Setting<U>>>
where
    Vec<Setting<U>>: Slot<Value = U>,
{
    of_file(Box::new(move |section, key| {
        section.tables(key, convert).map(Some)
    }))
}

/// Returns the kind of a table of named tables, each of which is converted with its name.
pub fn named_tables<T: DeserializeOwned + 'static, U: Document + 'static>(
    convert: fn(&str, T, Base<'_>) -> Result<U, String>,
) -> Kind<Vec<Setting<U>>>
where
    Vec<Setting<U>>: Slot<Value = U>,
{
    of_file(Box::new(move |section, key| {
        section.named_tables(key, convert).map(Some)
    }))
}

fn of_file<U: Document>(from_toml: Box<FromToml<Vec<Setting<U>>>>) -> Kind<Vec<Setting<U>>>
where
    Vec<Setting<U>>: Slot<Value = U>,
{
    Kind {
        from_toml,
        from_texts: Box::new(|_, _| Err("is accepted only in a file".to_owned())),
        document: U::document,
        is_scalar: false,
    }
}

fn scalar<T: 'static, S: Slot<Value = T> + From<Setting<T>>>(
    toml: TomlType,
    parse: Parser<T>,
    document: fn(&T) -> Value,
) -> Kind<S> {
    Kind {
        from_toml: Box::new(move |section, key| Ok(section.scalar(key, toml, parse)?.map(S::from))),
        from_texts: Box::new(move |texts, origin| {
            let text = texts.last().map(String::as_str).unwrap_or_default();
            let value = parse(text, Base::default())?;
            Ok(S::from(Setting::new(value, origin.clone())))
        }),
        document,
        is_scalar: true,
    }
}

fn list<T: 'static, S: Slot>(
    parse: Parser<T>,
    document: fn(&S::Value) -> Value,
    collect: fn(Setting<Vec<Setting<T>>>) -> S,
) -> Kind<S> {
    Kind {
        from_toml: Box::new(move |section, key| Ok(section.list(key, parse)?.map(collect))),
        from_texts: Box::new(move |texts, origin| {
            let item =
                |text: &String| Ok(Setting::new(parse(text, Base::default())?, origin.clone()));
            let items = texts.iter().map(item).collect::<Result<_, String>>()?;
            Ok(collect(Setting::new(items, origin.clone())))
        }),
        document,
        is_scalar: false,
    }
}

fn whole<T>(list: Setting<Vec<Setting<T>>>) -> Setting<Vec<T>> {
    list.map(|list| list.into_iter().map(|item| item.value).collect())
}
