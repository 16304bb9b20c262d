//! [`SentTexts`]: the arguments of a call that may reach the hosts that it reads.

use std::borrow::Cow;

use protocol::{Access, Normaliser, Target};
use serde_json::Value;

use crate::entry::Entry;
use crate::input::Input;

/// The arguments of a call that are URLs of hosts which it reads, and the texts beside them.
pub(super) struct SentTexts<'a> {
    /// The URLs, each with its target. A host by itself is the URL of its root.
    pub(super) urls: Vec<(&'a Target, String)>,
    /// The other texts, which the tool may send too. Choices of the schema, numbers and names of arguments are none.
    pub(super) texts: Vec<Cow<'a, str>>,
}

impl<'a> SentTexts<'a> {
    pub(super) fn new(entry: &Entry, arguments: &'a Input, targets: &'a [Target]) -> Self {
        let mut sent = Self {
            urls: Vec::new(),
            texts: Vec::new(),
        };
        let schema = &entry.tool().parameters;
        for (name, value) in arguments.value().as_object().into_iter().flatten() {
            // A model can put text into the name of an argument too, which an open schema accepts.
            if schema["properties"].get(name).is_none() {
                sent.texts.push(name.into());
            }
            sent.push(value, schema, targets);
        }
        sent
    }

    fn push(&mut self, value: &'a Value, schema: &Value, targets: &'a [Target]) {
        match value {
            Value::String(text) => match url(text, targets) {
                Some(url) => self.urls.push(url),
                None if is_choice(schema, value) => {}
                None => self.texts.push(text.into()),
            },
            Value::Array(items) if !items.is_empty() => {
                self.push_parts(value, items.iter(), targets)
            }
            Value::Object(fields) if !fields.is_empty() => {
                self.push_parts(value, fields.values(), targets)
            }
            _ => {}
        }
    }

    /// Adds the URLs in an array or an object, and all of it as a text if it has anything else.
    fn push_parts(
        &mut self,
        whole: &Value,
        parts: impl Iterator<Item = &'a Value>,
        targets: &'a [Target],
    ) {
        let mut is_list_of_urls = whole.is_array();
        for part in parts {
            is_list_of_urls &= part
                .as_str()
                .is_some_and(|text| url(text, targets).is_some());
            push_nested(part, targets, &mut self.urls);
        }
        // The order and the names in a structure carry text as well, so the whole counts.
        if !is_list_of_urls {
            self.texts.push(whole.to_string().into());
        }
    }
}

/// Adds the URLs at any depth.
fn push_nested<'a>(value: &'a Value, targets: &'a [Target], urls: &mut Vec<(&'a Target, String)>) {
    match value {
        Value::String(text) => urls.extend(url(text, targets)),
        Value::Array(items) => items
            .iter()
            .for_each(|item| push_nested(item, targets, urls)),
        Value::Object(fields) => fields
            .values()
            .for_each(|field| push_nested(field, targets, urls)),
        _ => {}
    }
}

/// Returns the text as a URL of a host that the call reads.
fn url<'a>(text: &str, targets: &'a [Target]) -> Option<(&'a Target, String)> {
    let host = Normaliser::Host.apply(text).ok();
    targets
        .iter()
        .filter(|target| target.scheme() == "net" && target.access() == Access::Read)
        .find_map(|target| match &host {
            Some(host) => (target.value() == host).then(|| (target, text.to_owned())),
            None => (target.value() == text).then(|| (target, format!("https://{text}/"))),
        })
}

/// Returns true if the schema lists the value.
fn is_choice(schema: &Value, value: &Value) -> bool {
    match schema {
        Value::Object(fields) => fields
            .iter()
            .any(|(keyword, part)| match (&**keyword, part) {
                ("const", choice) => choice == value,
                ("enum", Value::Array(choices)) => choices.contains(value),
                _ => is_choice(part, value),
            }),
        Value::Array(parts) => parts.iter().any(|part| is_choice(part, value)),
        _ => false,
    }
}
