//! [`WireKeys`]: property keys that a service does not take, and their replacements.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::dialect::KeyGrammar;
use super::document::Document;
use super::keyword::{members, strings};
use crate::digest::Digest;

/// The replacements of a schema's property keys. A key has the same replacement everywhere in the schema.
///
/// A replacement keeps the allowed characters of its key. It differs from all other keys of the schema, also with underscores
/// appended, which the codec of arguments needs. Only a collision adds a digest.
#[derive(Clone, Debug, Default)]
pub(super) struct WireKeys {
    /// The replacements by key.
    wires: BTreeMap<String, String>,
    /// The keys by replacement.
    keys: BTreeMap<String, String>,
}

impl WireKeys {
    pub(super) fn new(document: &Document, grammar: KeyGrammar) -> Self {
        let mut keys = BTreeSet::new();
        document.for_each(&mut |keywords| keys.extend(declared_keys(keywords).map(str::to_owned)));
        // Stems, because the codec adds underscores to keys that look like replacements.
        let mut taken: BTreeSet<_> = keys.iter().map(|key| stem(key).to_owned()).collect();
        let replaced: Vec<_> = keys.iter().filter(|key| !grammar.allows(key)).collect();
        let words: Vec<_> = replaced.iter().map(|key| words(grammar, key)).collect();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        words
            .iter()
            .for_each(|word| *counts.entry(word).or_default() += 1);
        let mut wires = Self::default();
        for (key, word) in replaced.iter().zip(&words) {
            let is_unique = !taken.contains(word) && counts[&**word] == 1;
            let wire = if is_unique {
                word.clone()
            } else {
                digest_key(key, word, &taken)
            };
            taken.insert(wire.clone());
            wires.wires.insert((*key).clone(), wire.clone());
            wires.keys.insert(wire, (*key).clone());
        }
        wires
    }

    pub(super) fn is_empty(&self) -> bool {
        self.wires.is_empty()
    }

    /// Returns the replaced keys with their replacements.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.wires.iter().map(|(key, wire)| (&**key, &**wire))
    }

    /// Returns the replacement of a key. Returns `None` if the key stays.
    pub(super) fn wire(&self, key: &str) -> Option<&str> {
        self.wires.get(key).map(String::as_str)
    }

    /// Returns the key of a replacement. Returns `None` if the text replaces no key.
    pub(super) fn key(&self, wire: &str) -> Option<&str> {
        self.keys.get(wire).map(String::as_str)
    }

    /// Replaces the keys that the keywords of one schema name, not of those inside.
    pub(super) fn rename(&self, keywords: &mut Map<String, Value>) {
        let name = |key: &str| self.wire(key).unwrap_or(key).to_owned();
        let names = |list: &Value| Value::from(strings(Some(list)).map(name).collect::<Vec<_>>());
        if let Some(Value::Object(properties)) = keywords.get_mut("properties") {
            *properties = std::mem::take(properties)
                .into_iter()
                .map(|(key, schema)| (name(&key), schema))
                .collect();
        }
        if let Some(Value::Object(lists)) = keywords.get_mut("dependentRequired") {
            *lists = lists
                .iter()
                .map(|(key, list)| (name(key), names(list)))
                .collect();
        }
        if let Some(required) = keywords.get_mut("required") {
            *required = names(required);
        }
    }
}

/// Returns true if a schema names the key for the value itself.
pub(super) fn declares(keywords: &Map<String, Value>, key: &str) -> bool {
    members(keywords, "properties").is_some_and(|properties| properties.contains_key(key))
        || required_keys(keywords).any(|other| other == key)
}

/// Returns the keys that a schema names for the value itself.
fn declared_keys(keywords: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let properties = members(keywords, "properties")
        .into_iter()
        .flat_map(Map::keys)
        .map(String::as_str);
    properties.chain(required_keys(keywords))
}

/// Returns the keys that a schema names in lists of required ones.
fn required_keys(keywords: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let dependent = members(keywords, "dependentRequired").into_iter().flatten();
    let names =
        dependent.flat_map(|(key, list)| std::iter::once(&**key).chain(strings(Some(list))));
    names.chain(strings(keywords.get("required")))
}

/// Returns a key without the underscores at its end.
pub(super) fn stem(key: &str) -> &str {
    key.trim_end_matches('_')
}

/// Returns the allowed characters of a key, with an underscore between those that other characters separate.
fn words(grammar: KeyGrammar, key: &str) -> String {
    let mut words = String::new();
    for c in key.chars() {
        if grammar.has(c) {
            words.push(c);
        } else if !words.is_empty() && !words.ends_with('_') {
            words.push('_');
        }
    }
    // An identifier does not begin with a digit.
    if !words.is_empty() && !grammar.allows(&words[..1]) {
        words.insert_str(0, "key_");
    }
    words.truncate(KeyGrammar::MAX_LENGTH);
    match stem(&words) {
        "" => "key".to_owned(),
        words => words.to_owned(),
    }
}

/// Returns the words of a key with a part of its digest. A number is added to the key until no other key has the result.
fn digest_key(key: &str, words: &str, taken: &BTreeSet<String>) -> String {
    const DIGITS: usize = 8;
    let words = stem(&words[..words.len().min(KeyGrammar::MAX_LENGTH - 1 - DIGITS)]);
    let mut number = 0_usize;
    loop {
        let text = if number == 0 {
            key.to_owned()
        } else {
            format!("{key} {number}")
        };
        let wire = format!(
            "{words}_{}",
            &Digest::hash_bytes(text.as_bytes()).to_string()[..DIGITS]
        );
        if !taken.contains(&wire) {
            return wire;
        }
        number += 1;
    }
}
