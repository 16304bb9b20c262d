//! [`Document`]: a schema of draft 2020-12 with all its references in one place.

use std::collections::{BTreeMap, BTreeSet};

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use super::change::{Change, Fidelity, Rule};
use super::draft::Draft;
use super::keyword::{BOOKKEEPING, Holds, escaped, for_each, holds};
use super::unsendable::Unsendable;

/// The reference that stands for one without a target in the schema. It accepts any value.
pub(super) const UNRESOLVED: &str = "?";

/// The deepest nesting of a schema's text, as at registration.
const MOST_NESTING: usize = 64;

/// A schema in draft 2020-12. Each reference in it is the name of a definition, or [`UNRESOLVED`].
pub(super) struct Document {
    pub(super) root: Value,
    pub(super) definitions: BTreeMap<String, Definition>,
    /// The changes that its draft required.
    pub(super) changes: Vec<Change>,
    /// True if the draft judges values by `format`. Draft 2020-12 does not.
    pub(super) judges_formats: bool,
}

/// The target of a reference.
pub(super) struct Definition {
    /// Its place in the canonical schema.
    pub(super) pointer: String,
    pub(super) schema: Value,
}

impl Document {
    /// Reads a schema.
    ///
    /// # Errors
    /// Returns an error if the schema nests too deep.
    pub(super) fn new(schema: &Value) -> Result<Self, Unsendable> {
        if nests_deeper(schema, MOST_NESTING) {
            return Err(Unsendable::TooLarge { problem: format!("nests deeper than {MOST_NESTING} levels") });
        }
        let mut anchors = BTreeMap::new();
        collect_anchors(schema, String::new(), &mut anchors);
        let source = Source { root: schema, draft: Draft::of(schema), anchors };
        let names = source.names();
        let mut changes = Vec::new();
        let mut import = |pointer: &str| {
            let schema = schema.pointer(pointer).unwrap_or(&Value::Bool(true));
            source.import(schema, pointer, &names, &mut changes)
        };
        let root = import("");
        let definitions = names
            .iter()
            .map(|(pointer, name)| (name.clone(), Definition { pointer: pointer.clone(), schema: import(pointer) }));
        let definitions = definitions.collect();
        Ok(Self { root, definitions, changes, judges_formats: Draft::of(schema) <= Draft::D7 })
    }

    /// Returns the schema that a reference of this document names. Returns `None` if it is unresolved.
    pub(super) fn target(&self, reference: &str) -> Option<&Definition> {
        self.definitions.get(reference)
    }

    /// Returns true if the named definition contains itself.
    pub(super) fn is_recursive(&self, name: &str) -> bool {
        let (mut seen, mut pending) = (BTreeSet::new(), vec![name.to_owned()]);
        while let Some(current) = pending.pop() {
            let mut references = Vec::new();
            if let Some(definition) = self.target(&current) {
                collect_references(&definition.schema, &mut references);
            }
            if references.iter().any(|reference| reference == name) {
                return true;
            }
            pending.extend(references.into_iter().filter(|reference| seen.insert(reference.clone())));
        }
        false
    }

    /// Returns true if a schema has a `format` that judges values.
    pub(super) fn judges_format_in(&self, schema: &Value) -> bool {
        let Value::Object(keywords) = schema else { return false };
        let mut found = keywords.contains_key("format");
        for_each(keywords, |_, schema| found |= self.judges_format_in(schema));
        self.judges_formats && found
    }

    /// Returns the root and the definitions.
    pub(super) fn schemas(&self) -> impl Iterator<Item = &Value> {
        let definitions = self.definitions.values().map(|definition| &definition.schema);
        std::iter::once(&self.root).chain(definitions)
    }
}

/// The schema as written.
struct Source<'a> {
    root: &'a Value,
    draft: Draft,
    anchors: BTreeMap<String, String>,
}

impl Source<'_> {
    /// Names the targets of all references, in the order of their places.
    fn names(&self) -> BTreeMap<String, String> {
        let mut targets = BTreeSet::new();
        let mut pending = vec![String::new()];
        let mut seen = BTreeSet::from([String::new()]);
        while let Some(pointer) = pending.pop() {
            let Some(schema) = self.root.pointer(&pointer) else { continue };
            let mut references = Vec::new();
            self.references(schema, &pointer, &mut references);
            for target in references {
                targets.insert(target.clone());
                if seen.insert(target.clone()) {
                    pending.push(target);
                }
            }
        }
        let mut taken = BTreeSet::new();
        let name = |pointer: String| {
            let last = pointer.rsplit('/').next().unwrap_or_default();
            let word: String = last.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')).collect();
            let word = if word.is_empty() { "schema".to_owned() } else { word };
            let numbered = (2..).map(|number| format!("{word}_{number}"));
            let name = std::iter::once(word.clone()).chain(numbered).find(|name| !taken.contains(name));
            let name = name.unwrap_or_default();
            taken.insert(name.clone());
            (pointer, name)
        };
        targets.into_iter().map(name).collect()
    }

    /// Collects the targets of the references in a schema.
    fn references(&self, schema: &Value, pointer: &str, targets: &mut Vec<String>) {
        let Value::Object(keywords) = schema else { return };
        if self.is_embedded(keywords, pointer) {
            return;
        }
        let mut keywords = keywords.clone();
        self.draft.modernise(&mut keywords);
        targets.extend(keywords.get("$ref").and_then(|reference| self.resolve(reference)));
        // Places below are those of the modern form. Only this walk uses them, to find embedded schemas.
        for_each(&keywords, |place, schema| self.references(schema, &format!("{pointer}{place}"), targets));
    }

    /// Returns the modern form of a schema, with the names of its references.
    fn import(
        &self,
        schema: &Value,
        pointer: &str,
        names: &BTreeMap<String, String>,
        changes: &mut Vec<Change>,
    ) -> Value {
        let Value::Object(keywords) = schema else {
            return Value::Bool(schema != &Value::Bool(false));
        };
        let unresolved = || Map::from_iter([("$ref".to_owned(), Value::from(UNRESOLVED))]);
        if self.is_embedded(keywords, pointer) {
            return Value::Object(unresolved());
        }
        let mut keywords = keywords.clone();
        if self.draft.modernise(&mut keywords) {
            changes.push(Change { pointer: pointer.to_owned(), rule: Rule::Draft, fidelity: Fidelity::Exact });
        }
        let is_dynamic = ["$dynamicRef", "$recursiveRef"].map(|keyword| keywords.remove(keyword).is_some());
        if let Some(reference) = keywords.get_mut("$ref") {
            let name = self.resolve(reference).and_then(|target| names.get(&target));
            *reference = Value::from(name.map_or(UNRESOLVED, |name| name));
        } else if is_dynamic.contains(&true) {
            keywords.extend(unresolved());
        }
        keywords.retain(|keyword, _| !BOOKKEEPING.contains(&&**keyword));
        for (keyword, value) in &mut keywords {
            let place = format!("{pointer}/{}", escaped(keyword));
            match (holds(keyword), value) {
                (Some(Holds::One), schema) => *schema = self.import(schema, &place, names, changes),
                (Some(Holds::Many), Value::Array(schemas)) => {
                    for (index, schema) in schemas.iter_mut().enumerate() {
                        *schema = self.import(schema, &format!("{place}/{index}"), names, changes);
                    }
                }
                (Some(Holds::Named), Value::Object(schemas)) => {
                    for (name, schema) in schemas {
                        *schema = self.import(schema, &format!("{place}/{}", escaped(name)), names, changes);
                    }
                }
                _ => {}
            }
        }
        Value::Object(keywords)
    }

    /// Returns true if the schema has its own base or draft, so that its references mean something else.
    fn is_embedded(&self, keywords: &Map<String, Value>, pointer: &str) -> bool {
        let is_name =
            |keyword: &str| keywords.get(keyword).and_then(Value::as_str).is_some_and(|id| !id.starts_with('#'));
        !pointer.is_empty() && ["$id", "id", "$schema"].into_iter().any(is_name)
    }

    /// Returns the JSON pointer of a reference's target. Returns `None` if the schema has no such place.
    fn resolve(&self, reference: &Value) -> Option<String> {
        let reference = reference.as_str()?;
        let base = ["$id", "id"].into_iter().find_map(|keyword| self.root.get(keyword)?.as_str()).unwrap_or_default();
        let fragment = match reference.split_once('#') {
            Some((start, fragment)) if start.is_empty() || start == base.trim_end_matches('#') => fragment,
            None if !base.is_empty() && reference == base => "",
            _ => return None,
        };
        let fragment = percent_decode_str(fragment).decode_utf8().ok()?;
        let pointer = match &*fragment {
            "" => String::new(),
            pointer if pointer.starts_with('/') => pointer.to_owned(),
            anchor => self.anchors.get(anchor)?.clone(),
        };
        // A target inside of an embedded schema would need that schema's base.
        let mut outer = String::new();
        for segment in pointer.split('/').skip(1) {
            outer = format!("{outer}/{segment}");
            if self.root.pointer(&outer)?.as_object().is_some_and(|keywords| self.is_embedded(keywords, &outer)) {
                return None;
            }
        }
        let target = self.root.pointer(&pointer)?;
        (target.is_object() || target.is_boolean()).then_some(pointer)
    }
}

/// Collects the places of `$anchor`s, and of the names in `$id` that older drafts used for them.
fn collect_anchors(schema: &Value, pointer: String, anchors: &mut BTreeMap<String, String>) {
    match schema {
        Value::Object(keywords) => {
            for keyword in ["$anchor", "$dynamicAnchor"] {
                if let Some(Value::String(anchor)) = keywords.get(keyword) {
                    anchors.insert(anchor.clone(), pointer.clone());
                }
            }
            if let Some(anchor) = keywords.get("$id").and_then(Value::as_str).and_then(|id| id.strip_prefix('#')) {
                anchors.insert(anchor.to_owned(), pointer.clone());
            }
            keywords.iter().for_each(|(key, value)| {
                collect_anchors(value, format!("{pointer}/{}", escaped(key)), anchors);
            });
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect_anchors(item, format!("{pointer}/{index}"), anchors);
            }
        }
        _ => {}
    }
}

fn nests_deeper(value: &Value, most: usize) -> bool {
    match value {
        Value::Array(items) => most == 0 || items.iter().any(|item| nests_deeper(item, most - 1)),
        Value::Object(members) => most == 0 || members.values().any(|member| nests_deeper(member, most - 1)),
        _ => false,
    }
}

fn collect_references(schema: &Value, references: &mut Vec<String>) {
    let Value::Object(keywords) = schema else { return };
    references.extend(keywords.get("$ref").and_then(Value::as_str).map(str::to_owned));
    for_each(keywords, |_, schema| collect_references(schema, references));
}
