//! [`Rewriter`]: walks a schema and applies the rules of a dialect.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::change::Rule;
use super::dialect::{Dialect, References};
use super::document::{Document, UNRESOLVED};
use super::keyword::{ANNOTATIONS, Holds, escaped, holds};
use super::log::{Log, Mark};
use super::merge::merge;
use super::rule;

/// The number of times that a recursive schema is unfolded inside of itself, if the dialect takes no recursion.
const MOST_LEVELS: usize = 2;

/// The maximum number of schemas on a wire. References to more of them are cut off.
const MOST_SCHEMAS: usize = 4_000;

pub(super) struct Rewriter<'a> {
    pub(super) dialect: &'a Dialect,
    pub(super) log: Log,
    document: &'a Document,
    /// True if property keys were replaced, so that patterns of keys have lost their meaning.
    has_other_keys: bool,
    /// The definitions that accept more on the wire.
    inexact: &'a BTreeSet<String>,
    /// The definitions that references on the wire name.
    pub(super) used: BTreeSet<String>,
    /// The references that are being replaced by their targets, outermost first.
    unfolding: Vec<&'a str>,
    /// The number of schemas so far.
    count: usize,
    /// The number of keywords around this place, such as `not`, inside of which a looser schema would accept less.
    guards: usize,
}

impl<'a> Rewriter<'a> {
    pub(super) fn new(
        dialect: &'a Dialect,
        document: &'a Document,
        has_other_keys: bool,
        inexact: &'a BTreeSet<String>,
    ) -> Self {
        let (log, used, unfolding) = (Log::default(), BTreeSet::new(), Vec::new());
        Self { dialect, log, document, has_other_keys, inexact, used, unfolding, count: 0, guards: 0 }
    }

    /// Returns the wire form of the root.
    pub(super) fn root(&mut self) -> Map<String, Value> {
        let mut keywords = Map::new();
        self.absorb(&mut keywords, &self.document.root, true);
        rule::root::without_conditions(&mut keywords, &mut self.log);
        rule::root_union::apply(&mut keywords, self);
        rule::root::typed(&mut keywords, &mut self.log);
        self.finish(keywords)
    }

    /// Returns the wire form of a schema at a place.
    pub(super) fn schema(&mut self, schema: &Value, pointer: String) -> Value {
        if !schema.is_object() {
            return schema.clone();
        }
        self.object(schema, pointer)
    }

    /// Returns the wire form of a definition.
    pub(super) fn definition(&mut self, schema: &Value, pointer: String) -> Value {
        match schema {
            Value::Bool(_) if self.dialect.booleans => schema.clone(),
            schema => self.object(schema, pointer),
        }
    }

    fn object(&mut self, schema: &Value, pointer: String) -> Value {
        let outer = self.log.enter(pointer);
        let depth = self.unfolding.len();
        let mut keywords = Map::new();
        self.absorb(&mut keywords, schema, false);
        let keywords = self.finish(keywords);
        self.unfolding.truncate(depth);
        self.log.enter(outer);
        Value::Object(keywords)
    }

    /// Adds a schema to `keywords`, without the references and conjunctions that the dialect does not take.
    pub(super) fn absorb(&mut self, keywords: &mut Map<String, Value>, schema: &Value, is_root: bool) {
        let mut schema = match schema {
            Value::Object(schema) => schema.clone(),
            Value::Bool(false) => Map::from_iter([("not".to_owned(), Value::Object(Map::new()))]),
            _ => return,
        };
        if self.dialect.references != References::Any
            && !schema.is_empty()
            && let Some(Value::String(name)) = keywords.remove("$ref")
        {
            self.unfold(keywords, &name, is_root); // It gets neighbours.
        }
        rule::unevaluated::apply(&mut schema, &mut self.log);
        if self.has_other_keys {
            rule::key_pattern::apply(&mut schema, &mut self.log);
        }
        let reference = self.replaced_reference(&mut schema, keywords, is_root);
        let is_flat = self.dialect.takes("allOf") && !is_root;
        let parts = match schema.remove("allOf") {
            Some(Value::Array(parts)) if !is_flat => {
                self.log.exact(Rule::Conjunction);
                parts
            }
            kept => {
                schema.extend(kept.map(|parts| ("allOf".to_owned(), parts)));
                Vec::new()
            }
        };
        for lost in merge(keywords, schema) {
            self.log.loosened(Rule::Keyword(lost));
        }
        if let Some(name) = reference {
            self.unfold(keywords, &name, is_root);
        }
        for part in parts {
            self.absorb(keywords, &part, is_root);
        }
    }

    /// Takes the reference out of a schema if its target has to stand in its place.
    fn replaced_reference(
        &mut self,
        schema: &mut Map<String, Value>,
        keywords: &Map<String, Value>,
        is_root: bool,
    ) -> Option<String> {
        let name = schema.get("$ref")?.as_str()?.to_owned();
        let has_room = || self.document.is_recursive(&name) && schema.keys().all(|key| is_annotation(key));
        let is_alone = keywords.is_empty() && (schema.len() == 1 || has_room());
        let is_kept = match self.dialect.references {
            References::None => false,
            References::Any => keywords.get("$ref").is_none(),
            References::Alone => is_alone,
            References::AloneWithoutRecursion => is_alone && !self.document.is_recursive(&name),
        };
        if name == UNRESOLVED {
            schema.remove("$ref");
            self.log.loosened(Rule::Unresolved);
            return None;
        }
        if is_kept && !is_root {
            if self.dialect.references != References::Any {
                schema.retain(|keyword, _| keyword == "$ref");
            }
            return None;
        }
        schema.remove("$ref");
        Some(name)
    }

    /// Adds the target of a reference to `keywords`.
    fn unfold(&mut self, keywords: &mut Map<String, Value>, name: &str, is_root: bool) {
        let document = self.document;
        let Some((name, definition)) = document.definitions.get_key_value(name) else { return };
        let level = self.unfolding.iter().filter(|outer| **outer == name).count();
        if level >= MOST_LEVELS || self.count >= MOST_SCHEMAS {
            self.log.loosened(Rule::Recursion);
            return;
        }
        self.log.exact(Rule::Reference);
        self.unfolding.push(name);
        self.absorb(keywords, &definition.schema, is_root);
    }

    /// Rewrites the schemas inside, then the keywords themselves.
    fn finish(&mut self, keywords: Map<String, Value>) -> Map<String, Value> {
        self.count += 1;
        let mut keywords = self.children(keywords);
        rule::constant::apply(&mut keywords, self.dialect, &mut self.log);
        rule::enumeration::apply(&mut keywords, self.dialect, &mut self.log);
        rule::bound::apply(&mut keywords, self.dialect, &mut self.log);
        rule::format::apply(&mut keywords, self.dialect, &mut self.log);
        if self.guards > 0 && self.document.judges_formats && keywords.contains_key("format") {
            self.log.loosened(Rule::Format); // No value fails on the wire.
        }
        rule::keyword_list::apply(&mut keywords, self.dialect, &mut self.log);
        rule::container::apply(&mut keywords, self.dialect, &mut self.log);
        if self.dialect.strict {
            rule::strict::apply(&mut keywords, &mut self.log);
        }
        keywords
    }

    fn children(&mut self, mut keywords: Map<String, Value>) -> Map<String, Value> {
        rule::negation::apply(&mut keywords, self);
        rule::conditional::apply(&mut keywords, self);
        rule::alternative::apply(&mut keywords, self);
        rule::contains::apply(&mut keywords, self);
        if let Some(Value::String(name)) = keywords.get_mut("$ref") {
            if self.guards > 0 && self.inexact.contains(name) {
                self.log.loosened(Rule::Reference);
            }
            self.used.insert(name.clone());
            *name = format!("#/$defs/{name}");
        }
        let names: Vec<_> =
            keywords.keys().filter(|keyword| !rule::GUARDED.contains(&keyword.as_str())).cloned().collect();
        for keyword in names {
            let Some(value) = keywords.get_mut(&keyword) else { continue };
            self.inner(&keyword, value);
        }
        rule::boolean::apply(&mut keywords, self.dialect, &mut self.log);
        keywords
    }

    /// Rewrites the schemas in a keyword's value.
    pub(super) fn inner(&mut self, keyword: &str, value: &mut Value) {
        let place = format!("{}/{}", self.log.pointer(), escaped(keyword));
        match (holds(keyword), value) {
            (Some(Holds::One), schema) => *schema = self.schema(schema, place),
            (Some(Holds::Many), Value::Array(schemas)) => {
                for (index, schema) in schemas.iter_mut().enumerate() {
                    *schema = self.schema(schema, format!("{place}/{index}"));
                }
            }
            (Some(Holds::Named), Value::Object(schemas)) => {
                for (name, schema) in schemas {
                    *schema = self.schema(schema, format!("{place}/{}", escaped(name)));
                }
            }
            _ => {}
        }
    }

    /// Rewrites a keyword inside of which a looser schema would accept less. Returns `None`, without a trace, if anything inside
    /// accepts more on the wire.
    pub(super) fn guarded(&mut self, keyword: &str, value: &Value) -> Option<Value> {
        let mark = self.log.mark();
        let mut value = value.clone();
        self.guards += 1;
        self.inner(keyword, &mut value);
        self.guards -= 1;
        self.is_exact_since(mark).then_some(value)
    }

    fn is_exact_since(&mut self, mark: Mark) -> bool {
        let is_loosened = self.log.is_loosened_since(mark);
        if is_loosened {
            self.log.forget_since(mark);
        }
        !is_loosened
    }
}

fn is_annotation(keyword: &str) -> bool {
    keyword == "$ref" || ANNOTATIONS.contains(&keyword)
}
