//! [`WireKeys`]: property keys that a service does not take, and their replacements.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::change::{Change, Fidelity, Rule};
use super::dialect::KeyGrammar;
use super::document::{Definition, Document};
use super::keyword::{Holds, escaped, for_each, holds, members, strings};
use crate::Digest;

/// The replacements of a schema's property keys. A key has the same replacement everywhere in the schema.
///
/// A replacement keeps the allowed characters of its key. It differs from all other keys of the schema, also with underscores
/// appended, which the codec of arguments needs. Only a collision adds a digest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WireKeys(BTreeMap<String, String>);

impl WireKeys {
    pub(super) fn new(document: &Document, grammar: KeyGrammar) -> Self {
        if grammar == KeyGrammar::Any {
            return Self::default();
        }
        let mut keys = BTreeSet::new();
        for schema in document.schemas() {
            collect(schema, &mut keys);
        }
        let (kept, replaced): (BTreeSet<_>, BTreeSet<_>) = keys.into_iter().partition(|key| grammar.allows(key));
        let words: BTreeMap<_, _> = replaced.iter().map(|key| (key, words(grammar, key))).collect();
        let mut taken: BTreeSet<_> = kept.iter().map(|key| stem(key).to_owned()).collect();
        let mut wires = BTreeMap::new();
        for (key, word) in &words {
            let is_unique = !taken.contains(word) && words.values().filter(|other| *other == word).count() == 1;
            let wire = if is_unique { word.clone() } else { digested(key, word, &taken) };
            taken.insert(stem(&wire).to_owned());
            wires.insert((*key).clone(), wire);
        }
        Self(wires)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the replacement of a key. Returns `None` if the key stays.
    pub(super) fn wire(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// Returns a change for each place where a property has another key on the wire.
    pub(super) fn changes(&self, document: &Document) -> Vec<Change> {
        let mut changes = Vec::new();
        if !self.is_empty() {
            self.collect_changes(&document.root, "", &mut changes);
            for definition in document.definitions.values() {
                self.collect_changes(&definition.schema, &definition.pointer, &mut changes);
            }
        }
        changes
    }

    fn collect_changes(&self, schema: &Value, pointer: &str, changes: &mut Vec<Change>) {
        let Value::Object(keywords) = schema else { return };
        for key in members(keywords, "properties").into_iter().flat_map(Map::keys) {
            if let Some(wire) = self.wire(key) {
                let pointer = format!("{pointer}/properties/{}", escaped(key));
                changes.push(Change { pointer, rule: Rule::Key { wire: wire.to_owned() }, fidelity: Fidelity::Exact });
            }
        }
        for_each(keywords, |place, schema| self.collect_changes(schema, &format!("{pointer}{place}"), changes));
    }

    /// Returns the document with the replacements.
    pub(super) fn apply(&self, document: &Document) -> Document {
        let definition = |(name, definition): (&String, &Definition)| {
            let Definition { pointer, schema } = definition;
            (name.clone(), Definition { pointer: pointer.clone(), schema: self.renamed(schema) })
        };
        Document {
            root: self.renamed(&document.root),
            definitions: document.definitions.iter().map(definition).collect(),
            changes: document.changes.clone(),
            judges_formats: document.judges_formats,
        }
    }

    fn renamed(&self, schema: &Value) -> Value {
        let Value::Object(keywords) = schema else { return schema.clone() };
        let name = |key: &str| self.wire(key).unwrap_or(key).to_owned();
        let names = |list: &Value| Value::from(strings(Some(list)).map(name).collect::<Vec<_>>());
        let renamed = keywords.iter().map(|(keyword, value)| {
            let value = match (&**keyword, value) {
                ("required", list) => names(list),
                ("dependentRequired", Value::Object(lists)) => {
                    Value::Object(lists.iter().map(|(key, list)| (name(key), names(list))).collect())
                }
                ("properties" | "dependentSchemas", Value::Object(schemas)) => {
                    Value::Object(schemas.iter().map(|(key, schema)| (name(key), self.renamed(schema))).collect())
                }
                _ => match (holds(keyword), value) {
                    (Some(Holds::One), schema) => self.renamed(schema),
                    (Some(Holds::Many), Value::Array(schemas)) => schemas.iter().map(|one| self.renamed(one)).collect(),
                    (Some(Holds::Named), Value::Object(schemas)) => {
                        Value::Object(schemas.iter().map(|(key, one)| (key.clone(), self.renamed(one))).collect())
                    }
                    _ => value.clone(),
                },
            };
            (keyword.clone(), value)
        });
        Value::Object(renamed.collect())
    }
}

/// Returns the keys that a schema names for the value itself.
pub(super) fn declared(keywords: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let names = |keyword| members(keywords, keyword).into_iter().flat_map(Map::keys).map(String::as_str);
    let lists = members(keywords, "dependentRequired").into_iter().flat_map(Map::values);
    names("properties")
        .chain(names("dependentSchemas"))
        .chain(names("dependentRequired"))
        .chain(lists.flat_map(|list| strings(Some(list))))
        .chain(strings(keywords.get("required")))
}

fn collect(schema: &Value, keys: &mut BTreeSet<String>) {
    let Value::Object(keywords) = schema else { return };
    keys.extend(declared(keywords).map(str::to_owned));
    for_each(keywords, |_, schema| collect(schema, keys));
}

/// Returns a key without the underscores at its end.
pub(super) fn stem(key: &str) -> &str {
    key.trim_end_matches('_')
}

/// Returns the allowed characters of a key, with an underscore for each row of others between them.
fn words(grammar: KeyGrammar, key: &str) -> String {
    let mut words = String::new();
    for c in key.chars() {
        if grammar.has(c) {
            words.push(c);
        } else if !words.is_empty() && !words.ends_with('_') {
            words.push('_');
        }
    }
    words.truncate(KeyGrammar::MAX_LENGTH);
    let words = match stem(&words) {
        "" => "key",
        words => words,
    };
    if grammar.allows(words) { words.to_owned() } else { format!("key_{}", &words[..words.len().min(60)]) }
}

/// Returns the words of a key with as much of its digest as no other key has.
fn digested(key: &str, words: &str, taken: &BTreeSet<String>) -> String {
    let digest = Digest::hash_bytes(key.as_bytes()).to_string();
    let wire = |digits: usize| {
        let words = stem(&words[..words.len().min(KeyGrammar::MAX_LENGTH - 1 - digits)]);
        format!("{words}_{}", &digest[..digits])
    };
    let free = [8, 16, 24, 32, 48, 62].into_iter().map(wire).find(|wire| !taken.contains(wire));
    free.unwrap_or_else(|| wire(62))
}
