//! [`Fields`]: the fields of an object, read with the place of each error.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// The place of a value below an object, such as `args[1]`, and the fault there.
pub(super) type Misplaced = (String, String);

/// The fields of an object in a file of servers.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a>(pub(super) &'a Map<String, Value>);

impl<'a> Fields<'a> {
    pub(super) fn get(self, name: &str) -> Option<&'a Value> {
        // Other programs write null for an absent field.
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// Returns a field as `read` converts it. Returns `None` if it is absent.
    pub(super) fn read<T>(
        self,
        name: &str,
        kind: &'static str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, Misplaced> {
        let value = self.get(name);
        value
            .map(|value| read(value).ok_or_else(|| expect_kind(name, kind)))
            .transpose()
    }

    pub(super) fn text(self, name: &str) -> Result<Option<String>, Misplaced> {
        self.get(name)
            .map(|value| string(value, || name.to_owned()))
            .transpose()
    }

    pub(super) fn flag(self, name: &str) -> Result<bool, Misplaced> {
        let flag = self.read(name, "true or false", Value::as_bool)?;
        Ok(flag.unwrap_or_default())
    }

    pub(super) fn texts(self, name: &str) -> Result<Vec<String>, Misplaced> {
        let items = self.read(name, "an array of strings", Value::as_array)?;
        let items = items.into_iter().flatten().enumerate();
        items
            .map(|(index, item)| string(item, || format!("{name}[{index}]")))
            .collect()
    }

    pub(super) fn object(self, name: &str) -> Result<Option<&'a Map<String, Value>>, Misplaced> {
        self.read(name, "an object", Value::as_object)
    }

    pub(super) fn text_map(self, name: &str) -> Result<BTreeMap<String, String>, Misplaced> {
        let entries = self.object(name)?.into_iter().flatten();
        entries
            .map(|(key, value)| Ok((key.clone(), string(value, || format!("{name}.{key}"))?)))
            .collect()
    }
}

/// Returns the fault of the value at this place.
pub(super) fn misplaced(place: impl Into<String>, fault: impl ToString) -> Misplaced {
    (place.into(), fault.to_string())
}

/// Returns the fault of a value of another kind than is expected at a place.
pub(super) fn expect_kind(place: impl Into<String>, expected: &'static str) -> Misplaced {
    misplaced(place, format!("expected {expected}"))
}

fn string(value: &Value, place: impl FnOnce() -> String) -> Result<String, Misplaced> {
    let text = value.as_str().map(str::to_owned);
    text.ok_or_else(|| expect_kind(place(), "a string"))
}
