//! [`Fields`]: the fields of an object, read with the place of each error.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::config::error::Fault;

/// The place of a value below an object, such as `args[1]`, and the fault there.
pub(super) type Misplaced = (String, Fault);

/// The fields of an object in a file of servers.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a>(pub(super) &'a Map<String, Value>);

impl<'a> Fields<'a> {
    pub(super) fn get(self, name: &str) -> Option<&'a Value> {
        // Other programs write null for an absent field.
        self.0.get(name).filter(|value| !value.is_null())
    }

    pub(super) fn text(self, name: &str) -> Result<Option<String>, Misplaced> {
        self.get(name)
            .map(|value| string(value, || name.to_owned()))
            .transpose()
    }

    pub(super) fn flag(self, name: &str) -> Result<bool, Misplaced> {
        let fault = || {
            (
                name.to_owned(),
                Fault::Expected {
                    expected: "true or false",
                },
            )
        };
        self.get(name)
            .map_or(Ok(false), |value| value.as_bool().ok_or_else(fault))
    }

    pub(super) fn texts(self, name: &str) -> Result<Vec<String>, Misplaced> {
        let Some(value) = self.get(name) else {
            return Ok(Vec::new());
        };
        let items = value.as_array().ok_or((
            name.to_owned(),
            Fault::Expected {
                expected: "an array of strings",
            },
        ))?;
        items
            .iter()
            .enumerate()
            .map(|(index, item)| string(item, || format!("{name}[{index}]")))
            .collect()
    }

    pub(super) fn object(self, name: &str) -> Result<Option<&'a Map<String, Value>>, Misplaced> {
        let fault = || {
            (
                name.to_owned(),
                Fault::Expected {
                    expected: "an object",
                },
            )
        };
        self.get(name)
            .map(|value| value.as_object().ok_or_else(fault))
            .transpose()
    }

    pub(super) fn text_map(self, name: &str) -> Result<BTreeMap<String, String>, Misplaced> {
        let entries = self.object(name)?.into_iter().flatten();
        entries
            .map(|(key, value)| Ok((key.clone(), string(value, || format!("{name}.{key}"))?)))
            .collect()
    }
}

fn string(value: &Value, place: impl FnOnce() -> String) -> Result<String, Misplaced> {
    value.as_str().map(str::to_owned).ok_or_else(|| {
        (
            place(),
            Fault::Expected {
                expected: "a string",
            },
        )
    })
}
