//! [`Kind`]: reads the value of a key from TOML, and from the text of a flag or a variable.

use std::time::Duration;

use serde::de::DeserializeOwned;

use super::error::ConfigError;
use super::origin::{Origin, Setting};
use super::parser::{Base, Parser, bytes, number, switch, time};
use super::section::{Section, TomlType};
use crate::size::Size;

type FromToml<S> = dyn Fn(&mut Section<'_>, &'static str) -> Result<Option<S>, ConfigError>;
type FromTexts<S> = dyn Fn(&[String], &Origin) -> Result<S, String>;

/// Reads the value of a key into a slot `S`.
pub(super) struct Kind<S> {
    pub(super) from_toml: Box<FromToml<S>>,
    /// Reads the occurrences of a flag, or the one value of a variable.
    pub(super) from_texts: Box<FromTexts<S>>,
    pub(super) is_scalar: bool,
}

/// Returns the kind of a TOML string.
pub(super) fn text<T: 'static, S: From<Setting<T>>>(parse: Parser<T>) -> Kind<S> {
    scalar(TomlType::String("a string"), parse)
}

/// Returns the [`Kind`] that reads a duration such as `30s`. In TOML it must be a string, since an integer has no unit. A string
/// without a unit is in seconds.
pub(super) fn duration<S: From<Setting<Duration>>>() -> Kind<S> {
    scalar(TomlType::String("a string such as \"30s\""), time)
}

/// Returns the kind of a string such as `200MB`.
pub(super) fn size<S: From<Setting<Size>>>() -> Kind<S> {
    scalar(TomlType::String("a string such as \"200MB\""), bytes)
}

/// Returns the kind of a boolean.
pub(super) fn boolean<S: From<Setting<bool>>>() -> Kind<S> {
    scalar(TomlType::Boolean, switch)
}

/// Returns the kind of an integer from `LEAST` to `u32::MAX`.
pub(super) fn integer<const LEAST: u32, S: From<Setting<u32>>>() -> Kind<S> {
    scalar(TomlType::Integer, number::<LEAST, { u32::MAX }>)
}

/// Returns the kind of an integer from 0 to 100.
pub(super) fn percent<S: From<Setting<u32>>>() -> Kind<S> {
    scalar(TomlType::Integer, number::<0, 100>)
}

/// Returns the kind of a number with a fraction.
pub(super) fn float<S: From<Setting<f64>>>(parse: Parser<f64>) -> Kind<S> {
    scalar(TomlType::Float, parse)
}

/// Returns the kind of a list whose items are settings of their own.
pub(super) fn items<T: 'static>(parse: Parser<T>) -> Kind<Vec<Setting<T>>> {
    list(parse, |list| list.value)
}

/// Returns the kind of a list that replaces that of a lower layer.
pub(super) fn replaced<T: 'static>(parse: Parser<T>) -> Kind<Option<Setting<Vec<T>>>> {
    list(parse, |list| Some(whole(list)))
}

/// Returns the kind of a list that stands next to those of lower layers.
pub(super) fn accumulated<T: 'static>(parse: Parser<T>) -> Kind<Vec<Setting<Vec<T>>>> {
    list(parse, |list| vec![whole(list)])
}

/// Returns the kind of an array of tables. A flag or a variable cannot express it.
pub(super) fn tables<T: DeserializeOwned + 'static>() -> Kind<Vec<Setting<T>>> {
    converted_tables(|table: T, _| Ok(table))
}

/// Returns the kind of an array of tables, each of which is converted.
pub(super) fn converted_tables<T: DeserializeOwned + 'static, U: 'static>(
    convert: fn(T, Base<'_>) -> Result<U, String>,
) -> Kind<Vec<Setting<U>>> {
    Kind {
        from_toml: Box::new(move |section, key| section.tables(key, convert).map(Some)),
        from_texts: Box::new(|_, _| Err("is accepted only in a file".to_owned())),
        is_scalar: false,
    }
}

/// Returns the kind of a table of named tables, each of which is converted with its name.
pub(super) fn named_tables<T: DeserializeOwned + 'static, U: 'static>(
    convert: fn(&str, T, Base<'_>) -> Result<U, String>,
) -> Kind<Vec<Setting<U>>> {
    Kind {
        from_toml: Box::new(move |section, key| section.named_tables(key, convert).map(Some)),
        from_texts: Box::new(|_, _| Err("is accepted only in a file".to_owned())),
        is_scalar: false,
    }
}

fn scalar<T: 'static, S: From<Setting<T>>>(toml: TomlType, parse: Parser<T>) -> Kind<S> {
    Kind {
        from_toml: Box::new(move |section, key| Ok(section.scalar(key, toml, parse)?.map(S::from))),
        from_texts: Box::new(move |texts, origin| {
            let text = texts.last().map(String::as_str).unwrap_or_default();
            Ok(S::from(Setting { value: parse(text, Base::default())?, origin: origin.clone() }))
        }),
        is_scalar: true,
    }
}

fn list<T: 'static, S>(parse: Parser<T>, collect: fn(Setting<Vec<Setting<T>>>) -> S) -> Kind<S>
where
    S: 'static,
{
    Kind {
        from_toml: Box::new(move |section, key| Ok(section.list(key, parse)?.map(collect))),
        from_texts: Box::new(move |texts, origin| {
            let item = |text: &String| Ok(Setting { value: parse(text, Base::default())?, origin: origin.clone() });
            let items = texts.iter().map(item).collect::<Result<_, String>>()?;
            Ok(collect(Setting { value: items, origin: origin.clone() }))
        }),
        is_scalar: false,
    }
}

fn whole<T>(list: Setting<Vec<Setting<T>>>) -> Setting<Vec<T>> {
    list.map(|list| list.into_iter().map(|item| item.value).collect())
}
