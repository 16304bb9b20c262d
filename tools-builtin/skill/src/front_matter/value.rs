//! [`Value`]: a value of a front matter.

use serde_json::json;

/// A value of a front matter. YAML's numbers, dates and truth values are texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Text(String),
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
}

impl Value {
    /// Returns the text of a value. Of a list, it is that of its items.
    pub(super) fn to_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::List(items) => items
                .iter()
                .map(Self::to_text)
                .collect::<Vec<_>>()
                .join(", "),
            Self::Map(fields) => {
                let field = |(key, value): &(String, Self)| format!("{key}: {}", value.to_text());
                fields.iter().map(field).collect::<Vec<_>>().join(", ")
            }
        }
    }

    /// Returns a text as it is, and any other value as JSON.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            value => value.to_json().to_string(),
        }
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Text(text) => json!(text),
            Self::List(items) => items.iter().map(Self::to_json).collect(),
            Self::Map(fields) => fields
                .iter()
                .map(|(key, value)| (key.clone(), value.to_json()))
                .collect(),
        }
    }
}
