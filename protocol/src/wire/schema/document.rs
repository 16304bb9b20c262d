//! [`Document`]: the part of a schema that services take, in draft 2020-12, with all its references in one place.

use std::collections::{BTreeMap, BTreeSet};

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use super::change::{Changes, Rule};
use super::cycle::on_cycles;
use super::draft::Draft;
use super::keyword::{Holds, PLACE, escape_key, for_each, holds, is_any, replace_each};
use super::unsendable::Unsendable;
use crate::word_list::has_word;

/// The maximum size of a document.
const MOST_SCHEMAS: usize = 20_000;

/// The bytes of text that count as one schema.
const BYTES: usize = 256;

/// Keywords without an effect on validity that services need not see, or that lose their meaning in a rewritten schema.
const BOOKKEEPING: &str = "$anchor $comment $defs $dynamicAnchor $id $recursiveAnchor \
    $schema $vocabulary contentSchema definitions";

/// Keywords under which a looser schema may accept less, or that depend on all keywords beside them. They are removed, which
/// accepts more.
const CONDITIONS: &str = "contains dependentSchemas else if maxContains minContains not then \
    unevaluatedItems unevaluatedProperties";

/// A schema in draft 2020-12, without [`CONDITIONS`]. Each schema object in it has its [`PLACE`]. Each reference is the JSON pointer
/// of a definition.
pub(super) struct Document {
    /// The root, whose JSON pointer is empty, and the targets of references, by their JSON pointers in the canonical schema.
    definitions: BTreeMap<String, Referent>,
    /// The JSON pointers of the definitions, by their names on the wire.
    pointers: BTreeMap<String, String>,
}

/// The target of a reference.
pub(super) struct Referent {
    /// The name on the wire.
    pub(super) name: String,
    pub(super) schema: Value,
    /// The number of schemas in it. Long texts count as further schemas.
    pub(super) size: usize,
    /// True if references in it form a cycle through it.
    pub(super) is_recursive: bool,
}

impl Document {
    /// Reads a schema.
    ///
    /// # Errors
    /// Returns an error if it has too many schemas.
    pub(super) fn new(schema: &Value, changes: &mut Changes) -> Result<Self, Unsendable> {
        let draft = schema
            .as_object()
            .map_or(Draft::D2020, Draft::from_keywords);
        let mut source = Source {
            root: schema,
            draft,
            changes,
            count: 0,
            references: BTreeSet::new(),
            is_embedded: false,
        };
        let mut schemas = BTreeMap::new();
        let mut edges = BTreeMap::new();
        // A list, since chains of definitions are longer than a small stack is deep.
        let mut pending = vec![String::new()];
        while let Some(pointer) = pending.pop() {
            if schemas.contains_key(&pointer) {
                continue;
            }
            let before = source.count;
            let target = schema
                .pointer(&pointer)
                .cloned()
                .unwrap_or(Value::Bool(true));
            let imported = source.import(target, pointer.clone());
            if source.count > MOST_SCHEMAS {
                return Err(Unsendable::TooLarge {
                    problem: format!("has more than {MOST_SCHEMAS} schemas"),
                });
            }
            let references = std::mem::take(&mut source.references);
            pending.extend(references.iter().cloned());
            schemas.insert(pointer.clone(), (imported, source.count - before));
            edges.insert(pointer, references);
        }
        let recursive = on_cycles(&edges);
        let mut names = Names::default();
        let mut document = Self {
            definitions: BTreeMap::new(),
            pointers: BTreeMap::new(),
        };
        for (pointer, (schema, size)) in schemas {
            let name = names.unique(pointer.rsplit('/').next().unwrap_or_default());
            document.pointers.insert(name.clone(), pointer.clone());
            let referent = Referent {
                name,
                schema,
                size,
                is_recursive: recursive.contains(&pointer),
            };
            document.definitions.insert(pointer, referent);
        }
        Ok(document)
    }

    /// Returns the root.
    pub(super) fn root(&self) -> Value {
        self.definitions
            .get("")
            .map_or(Value::Bool(true), |root| root.schema.clone())
    }

    /// Returns the target of a reference, with its JSON pointer.
    pub(super) fn target(&self, pointer: &str) -> Option<(&str, &Referent)> {
        self.definitions
            .get_key_value(pointer)
            .map(|(pointer, definition)| (&**pointer, definition))
    }

    /// Returns the definition with a name on the wire.
    pub(super) fn find(&self, name: &str) -> Option<&Value> {
        self.definitions
            .get(self.pointers.get(name)?)
            .map(|definition| &definition.schema)
    }

    /// Calls `each` with every schema object.
    pub(super) fn for_each(&self, each: &mut impl FnMut(&Map<String, Value>)) {
        self.definitions
            .values()
            .for_each(|definition| visit(&definition.schema, each));
    }
}

fn visit(schema: &Value, each: &mut impl FnMut(&Map<String, Value>)) {
    if let Value::Object(keywords) = schema {
        each(keywords);
        for_each(keywords, |_, schema| visit(schema, each));
    }
}

/// The schema as written.
struct Source<'a> {
    root: &'a Value,
    draft: Draft,
    changes: &'a mut Changes,
    /// The size so far, as in [`Referent::size`].
    count: usize,
    /// The references in the current definition.
    references: BTreeSet<String>,
    /// True inside of a schema with its own base, where references have another meaning.
    is_embedded: bool,
}

impl Source<'_> {
    /// Returns the form of a schema in a document.
    fn import(&mut self, schema: Value, place: String) -> Value {
        self.count += 1 + place.len() / BYTES;
        // Ends the walk. The caller refuses the schema.
        if self.count > MOST_SCHEMAS {
            return Value::Bool(true);
        }
        let mut keywords = match schema {
            // Drafts without boolean schemas write `false` so.
            Value::Object(keywords) if keywords.get("not").is_some_and(is_any) => {
                return Value::Bool(false);
            }
            Value::Object(keywords) => keywords,
            Value::Bool(false) => return Value::Bool(false),
            _ => {
                self.change(&place, Rule::Boolean, true);
                Map::new()
            }
        };
        let is_other_draft =
            keywords.contains_key("$schema") && Draft::from_keywords(&keywords) != self.draft;
        if is_other_draft && !place.is_empty() {
            self.change(&place, Rule::Unresolved, false);
            keywords.clear();
        }
        let was_embedded = self.is_embedded;
        self.is_embedded |= !place.is_empty() && self.has_own_base(&keywords);
        self.draft.remove_ignored(&mut keywords);
        // A schema with a member of the name of our mark would forge a place.
        keywords.retain(|keyword, _| keyword != PLACE && !has_word(BOOKKEEPING, keyword));
        self.count += text_length(&keywords) / BYTES;
        self.refer(&mut keywords, &place);
        replace_each(&mut keywords, |schema, at| match schema {
            Value::Bool(_) if at == "/additionalProperties" => schema,
            schema => self.import(schema, format!("{place}{at}")),
        });
        self.is_embedded = was_embedded;
        if self.draft.modernise(&mut keywords) {
            self.change(&place, Rule::Draft, true);
        }
        self.alternatives(&mut keywords, &place);
        for keyword in CONDITIONS.split(' ') {
            // `true` refuses nothing.
            if let Some(value) = keywords.remove(keyword)
                && (!keyword.starts_with("unevaluated") || value != Value::Bool(true))
            {
                self.change(&place, Rule::Keyword(keyword.to_owned()), false);
            }
        }
        keywords.insert(PLACE.to_owned(), place.into());
        Value::Object(keywords)
    }

    fn change(&mut self, place: &str, rule: Rule, is_exact: bool) {
        place.clone_into(&mut self.changes.place);
        self.changes.exact_if(is_exact, rule);
    }

    /// Makes the reference of a schema the JSON pointer of its target.
    fn refer(&mut self, keywords: &mut Map<String, Value>, place: &str) {
        let names =
            ["$ref", "$dynamicRef", "$recursiveRef"].map(|keyword| keywords.remove(keyword));
        let [Some(reference), None, None] = &names else {
            if names.iter().any(Option::is_some) {
                self.change(place, Rule::Unresolved, false);
            }
            return;
        };
        match self.resolve(reference).filter(|_| !self.is_embedded) {
            Some(target) => {
                keywords.insert("$ref".to_owned(), target.clone().into());
                self.references.insert(target);
            }
            None => self.change(place, Rule::Unresolved, false),
        }
    }

    /// Turns `oneOf` into `anyOf`, because looser alternatives could match twice.
    fn alternatives(&mut self, keywords: &mut Map<String, Value>, place: &str) {
        let Some(branches) = keywords.remove("oneOf") else {
            return;
        };
        self.change(place, Rule::Alternative, false);
        if !keywords.contains_key("anyOf") {
            keywords.insert("anyOf".to_owned(), branches);
            return;
        }
        let part = Map::from_iter([
            ("anyOf".to_owned(), branches),
            (PLACE.to_owned(), place.into()),
        ]);
        let parts = keywords
            .entry("allOf")
            .or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(parts) = parts {
            parts.push(part.into());
        }
    }

    /// Returns the JSON pointer of a reference's target. Returns `None` if the schema has no such place.
    fn resolve(&self, reference: &Value) -> Option<String> {
        let reference = reference.as_str()?;
        let base = self
            .root
            .get(self.draft.id())
            .and_then(Value::as_str)
            .unwrap_or_default();
        let fragment = match reference.split_once('#') {
            Some((start, fragment)) if start.is_empty() || start == base.trim_end_matches('#') => {
                fragment
            }
            None if !base.is_empty() && reference == base => "",
            _ => return None,
        };
        let fragment = percent_decode_str(fragment).decode_utf8().ok()?;
        if !fragment.is_empty() && !fragment.starts_with('/') {
            return None; // An anchor.
        }
        let mut target = self.root;
        let mut pointer = String::new();
        for segment in fragment.split('/').skip(1) {
            let key = segment.replace("~1", "/").replace("~0", "~");
            target = child(target, &key)?;
            // A target inside of an embedded schema would need that schema's base.
            if target
                .as_object()
                .is_some_and(|keywords| self.has_own_base(keywords))
            {
                return None;
            }
            pointer.extend(["/", &escape_key(&key)]); // One target has one pointer, however the reference escapes it.
        }
        (target.is_object() || target.is_boolean()).then_some(pointer)
    }

    /// Returns true if a schema inside of another has its own base or draft.
    fn has_own_base(&self, keywords: &Map<String, Value>) -> bool {
        [self.draft.id(), "$schema"].into_iter().any(|keyword| {
            keywords
                .get(keyword)
                .and_then(Value::as_str)
                .is_some_and(|id| !id.starts_with('#'))
        })
    }
}

fn child<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    match value {
        Value::Object(members) => members.get(key),
        Value::Array(items) => items.get(
            key.parse()
                .ok()
                .filter(|index: &usize| index.to_string() == key)?,
        ),
        _ => None,
    }
}

/// Returns the length of the keywords of a schema, without the schemas inside but with their names.
fn text_length(keywords: &Map<String, Value>) -> usize {
    let lengths = keywords.iter().map(|(keyword, value)| {
        let length = match (holds(keyword), value) {
            (Some(Holds::Named), Value::Object(schemas)) => schemas.keys().map(String::len).sum(),
            (Some(_), _) => 0,
            (None, value) => json_length(value),
        };
        keyword.len() + length
    });
    lengths.sum()
}

fn json_length(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(|item| 1 + json_length(item)).sum(),
        Value::Object(members) => members
            .iter()
            .map(|(key, member)| key.len() + 1 + json_length(member))
            .sum(),
        _ => 8,
    }
}

/// The names of definitions on the wire.
#[derive(Default)]
struct Names {
    taken: BTreeSet<String>,
    /// The last number after each word.
    numbers: BTreeMap<String, usize>,
}

impl Names {
    /// Returns the legal characters of a word, with a number if another definition has the same ones.
    fn unique(&mut self, word: &str) -> String {
        let mut word: String = word
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
            .collect();
        if word.is_empty() {
            word.push_str("schema");
        }
        let mut name = word.clone();
        while !self.taken.insert(name.clone()) {
            let number = self.numbers.entry(word.clone()).or_insert(1);
            *number += 1;
            name = format!("{word}_{number}");
        }
        name
    }
}
