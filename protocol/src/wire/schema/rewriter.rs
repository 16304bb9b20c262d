//! [`Rewriter`]: walks a document and applies the rules of a dialect.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::change::{Changes, Fidelity, Rule};
use super::dialect::{Dialect, References};
use super::document::Document;
use super::keys::WireKeys;
use super::keyword::{ANNOTATIONS, PLACE, is_any, members, replace_each, strings, types};
use super::merge::merge;
use super::unsendable::NotStrict;
use super::{rule, strict};
use crate::word_list::has_word;

/// The number of times that a recursive schema is unfolded inside of itself.
const MOST_UNFOLDINGS: usize = 2;

/// The maximum number of references that are unfolded inside of each other.
const MOST_UNFOLDING: usize = 64;

/// The maximum number of schemas for the same value that are inside of each other.
const MOST_ABSORBING: usize = 2 * MOST_UNFOLDING;

/// The maximum size of the schemas that replace references.
const MOST_UNFOLDED: usize = 4_000;

/// The deepest nesting of schemas on a wire, in levels of JSON.
const MOST_LEVELS: usize = 64;

pub(super) struct Rewriter<'a> {
    dialect: &'a Dialect,
    document: &'a Document,
    keys: &'a WireKeys,
    changes: &'a mut Changes,
    /// The references on the wire.
    used: BTreeSet<&'a str>,
    /// The references in `used` whose targets are not rewritten yet.
    pending: Vec<&'a str>,
    /// The references that were replaced by their targets at each place around this one, outermost first.
    unfolding: Vec<BTreeSet<&'a str>>,
    /// The references that are being replaced at this place.
    chain: Vec<&'a str>,
    /// The references that were replaced at this place.
    replaced: BTreeSet<&'a str>,
    /// The size of the schemas that replaced references.
    unfolded: usize,
    /// The number of schemas around this one that are for the same value.
    absorbing: usize,
    /// The properties of the root that only its alternatives may name.
    assumed: BTreeSet<String>,
    not_strict: Option<NotStrict>,
}

/// A property of the schema that is being rewritten.
struct Property {
    key: String,
    place: String,
    is_optional: bool,
}

impl<'a> Rewriter<'a> {
    pub(super) fn new(
        dialect: &'a Dialect,
        document: &'a Document,
        keys: &'a WireKeys,
        changes: &'a mut Changes,
    ) -> Self {
        let (used, replaced, assumed) = Default::default();
        let (pending, unfolding, chain) = Default::default();
        Self {
            dialect,
            document,
            keys,
            changes,
            used,
            pending,
            unfolding,
            chain,
            replaced,
            unfolded: 0,
            absorbing: 0,
            assumed,
            not_strict: None,
        }
    }

    /// Returns the wire form of the document.
    ///
    /// # Errors
    /// Returns the first reason that a strict dialect does not take the document.
    pub(super) fn rewrite(mut self) -> Result<Value, NotStrict> {
        let mut root = Map::new();
        self.changes.place.clear();
        self.absorb(&mut root, self.document.root(), true);
        rule::root(&mut root, self.changes);
        let mut root = self.finish(root, 0);
        // Definitions stand beside the root, not inside.
        self.unfolding.clear();
        let mut definitions = Map::new();
        while let Some(pointer) = self.pending.pop() {
            if let Some((_, definition)) = self.document.target(pointer) {
                pointer.clone_into(&mut self.changes.place);
                // `$defs` and the name are two levels.
                let schema = self.schema(definition.schema.clone(), 2);
                definitions.insert(definition.name.clone(), schema);
            }
        }
        if !definitions.is_empty() {
            root.insert("$defs".to_owned(), Value::Object(definitions));
        }
        self.not_strict.map_or(Ok(Value::Object(root)), Err)
    }

    /// Returns the wire form of a schema that is `levels` deep.
    fn schema(&mut self, schema: Value, levels: usize) -> Value {
        let place = schema
            .get(PLACE)
            .and_then(Value::as_str)
            .unwrap_or(&self.changes.place)
            .to_owned();
        let outer = std::mem::replace(&mut self.changes.place, place);
        let depth = self.unfolding.len();
        let mut keywords = Map::new();
        if levels <= MOST_LEVELS {
            self.absorb(&mut keywords, schema, false);
            keywords = self.finish(keywords, levels);
        } else if !is_any(&schema) {
            self.cut_off(NotStrict::TooLarge {
                problem: format!("nests deeper than {MOST_LEVELS} levels"),
            });
        }
        self.unfolding.truncate(depth);
        self.changes.place = outer;
        Value::Object(keywords)
    }

    /// Adds a schema to `into`, without the references and conjunctions that the dialect does not take.
    fn absorb(&mut self, into: &mut Map<String, Value>, schema: Value, is_root: bool) {
        let mut own = match schema {
            Value::Object(keywords) => keywords,
            Value::Bool(true) => return,
            _ => return self.changes.add_loosened(Rule::Boolean),
        };
        // Each level here is one of the stack.
        if self.absorbing == MOST_ABSORBING {
            let problem = format!("nests more than {MOST_ABSORBING} schemas for the same value");
            return self.cut_off(NotStrict::TooLarge { problem });
        }
        self.absorbing += 1;
        let outer = self.changes.place.clone();
        if let Some(Value::String(place)) = own.remove(PLACE) {
            self.changes.place = place;
        }
        let is_alone = own.is_empty() || self.dialect.references == References::Any;
        while !is_alone && let Some(Value::String(target)) = into.remove("$ref") {
            self.unfold(into, &target, is_root); // It gets neighbours.
        }
        let reference = self.take_reference(&mut own, into, is_root);
        let is_split = is_root || !self.dialect.takes("allOf");
        let parts = if is_split { own.remove("allOf") } else { None };
        let branches = if is_root { own.remove("anyOf") } else { None };
        if is_root {
            self.check_assumed(into, &own);
        }
        self.merge(into, own);
        if let Some(target) = reference {
            self.unfold(into, &target, is_root);
        }
        if let Some(Value::Array(parts)) = parts {
            self.changes.exact(Rule::Conjunction);
            parts
                .into_iter()
                .for_each(|part| self.absorb(into, part, is_root));
        }
        if let Some(Value::Array(branches)) = branches {
            self.changes.add_loosened(Rule::RootUnion);
            let objects: Vec<_> = branches
                .into_iter()
                .filter_map(|branch| self.alternative(branch))
                .collect();
            let union = rule::root_union(&objects, into, self.dialect.strict.is_some());
            self.check_assumed(into, &union.keywords);
            self.merge(into, union.keywords);
            self.assumed.extend(union.assumed);
        }
        self.absorbing -= 1;
        self.changes.place = outer;
    }

    /// Returns the keywords of an alternative at the root. Returns `None` if it accepts no object.
    fn alternative(&mut self, branch: Value) -> Option<Map<String, Value>> {
        if branch == Value::Bool(false) {
            return None;
        }
        let mut object = Map::new();
        self.absorb(&mut object, branch, true);
        types(&object)
            .is_none_or(|types| types.contains(&"object"))
            .then_some(object)
    }

    /// Refuses strict mode if a schema at the root names a property that only alternatives in `into` may name.
    fn check_assumed(&mut self, into: &Map<String, Value>, own: &Map<String, Value>) {
        let (Some(ones), Some(others)) = (members(into, "properties"), members(own, "properties"))
        else {
            return;
        };
        if self
            .assumed
            .iter()
            .any(|key| ones.contains_key(key) && others.contains_key(key))
        {
            self.refuse(NotStrict::Union {
                pointer: String::new(),
            });
        }
    }

    fn merge(&mut self, into: &mut Map<String, Value>, other: Map<String, Value>) {
        for keyword in merge(into, other) {
            if matches!(&*keyword, "anyOf" | "items") {
                // The closed objects of one would refuse the properties that only the other names.
                self.refuse(NotStrict::Union {
                    pointer: self.changes.place.clone(),
                });
            }
            self.changes.add_loosened(Rule::Keyword(keyword));
        }
    }

    /// Takes the reference out of a schema if its target has to replace it.
    fn take_reference(
        &mut self,
        own: &mut Map<String, Value>,
        into: &Map<String, Value>,
        is_root: bool,
    ) -> Option<String> {
        let pointer = own.get("$ref")?.as_str()?.to_owned();
        let (_, target) = self.document.target(&pointer)?;
        // Annotations beside a recursive reference are dropped instead.
        let is_alone = into.is_empty()
            && (own.len() == 1
                || (target.is_recursive
                    && own
                        .keys()
                        .all(|keyword| keyword == "$ref" || has_word(ANNOTATIONS, keyword))));
        let is_kept = match self.dialect.references {
            References::None => false,
            References::Any => !into.contains_key("$ref"),
            References::Alone => is_alone,
            References::AloneWithoutRecursion => is_alone && !target.is_recursive,
        };
        if is_kept && !is_root {
            if self.dialect.references != References::Any {
                own.retain(|keyword, _| keyword == "$ref");
            }
            return None;
        }
        own.remove("$ref");
        Some(pointer)
    }

    /// Adds the target of a reference to `into`.
    fn unfold(&mut self, into: &mut Map<String, Value>, pointer: &str, is_root: bool) {
        let Some((pointer, target)) = self.document.target(pointer) else {
            return;
        };
        let count = self
            .unfolding
            .iter()
            .filter(|replaced| replaced.contains(pointer))
            .count();
        // A chain of references alone never reaches a level inside, so that it would not end.
        if count >= MOST_UNFOLDINGS || self.chain.contains(&pointer) {
            return self.cut_off(NotStrict::Recursive {
                pointer: pointer.to_owned(),
            });
        }
        let is_deep = self.unfolding.len() + self.chain.len() >= MOST_UNFOLDING;
        if is_deep || self.unfolded + target.size > MOST_UNFOLDED {
            return self.cut_off(NotStrict::TooLarge {
                problem: "has too many references".to_owned(),
            });
        }
        self.changes.exact(Rule::Reference);
        self.unfolded += target.size;
        self.chain.push(pointer);
        self.absorb(into, target.schema.clone(), is_root);
        self.chain.pop();
        self.replaced.insert(pointer);
    }

    /// Reports that a part of the schema is missing.
    fn cut_off(&mut self, reason: NotStrict) {
        self.changes.add_loosened(Rule::CutOff);
        self.refuse(reason);
    }

    fn refuse(&mut self, reason: NotStrict) {
        if self.dialect.strict.is_some() {
            self.not_strict.get_or_insert(reason);
        }
    }

    /// Rewrites the keywords, then the schemas inside.
    fn finish(&mut self, mut keywords: Map<String, Value>, levels: usize) -> Map<String, Value> {
        if !self.replaced.is_empty() {
            self.unfolding.push(std::mem::take(&mut self.replaced));
        }
        if let Some(Value::Array(required)) = keywords.get_mut("required") {
            let mut seen = BTreeSet::new();
            // Merged conjunctions repeat names, and JSON Schema wants each once.
            required.retain(|name| {
                name.as_str()
                    .is_some_and(|name| seen.insert(name.to_owned()))
            });
        }
        rule::boolean(&mut keywords, self.dialect, self.changes);
        rule::values(
            &mut keywords,
            self.dialect,
            !self.keys.is_empty(),
            self.changes,
        );
        rule::bounds(&mut keywords, self.dialect, self.changes);
        rule::removal(
            &mut keywords,
            self.dialect,
            !self.keys.is_empty(),
            self.changes,
        );
        rule::containers(&mut keywords, self.dialect, self.changes);
        if self.dialect.strict.is_some() {
            strict::close(&mut keywords, self.changes);
        }
        let properties = self.properties(&keywords);
        // Put aside, so that this schema's own reason comes before those of the schemas inside.
        let outer = self.not_strict.take();
        replace_each(&mut keywords, |schema, at| match schema {
            Value::Bool(_) => schema,
            schema => self.schema(schema, levels + at.matches('/').count()),
        });
        self.name_reference(&mut keywords);
        if let Some(rules) = self.dialect.strict {
            let own = strict::reason(&keywords, &self.changes.place, |name| {
                self.document.find(name.strip_prefix("#/$defs/")?)
            });
            self.not_strict = outer.or(own).or(self.not_strict.take());
            if rules.requires_all {
                self.report_optional(&keywords, &properties);
            }
        }
        self.report_keys(&keywords, &properties);
        self.keys.rename(&mut keywords);
        keywords
    }

    fn name_reference(&mut self, keywords: &mut Map<String, Value>) {
        let Some(Value::String(reference)) = keywords.get_mut("$ref") else {
            return;
        };
        let Some((pointer, target)) = self.document.target(reference) else {
            return;
        };
        if self.used.insert(pointer) {
            self.pending.push(pointer);
        }
        *reference = format!("#/$defs/{}", target.name);
    }

    /// Returns the properties whose changes are reported, if any are.
    fn properties(&self, keywords: &Map<String, Value>) -> Vec<Property> {
        if self.keys.is_empty() && self.dialect.strict.is_none() {
            return Vec::new();
        }
        let required: BTreeSet<_> = strings(keywords.get("required")).collect();
        members(keywords, "properties")
            .into_iter()
            .flatten()
            .map(|(key, schema)| Property {
                key: key.clone(),
                place: schema
                    .get(PLACE)
                    .and_then(Value::as_str)
                    .unwrap_or(&self.changes.place)
                    .to_owned(),
                is_optional: !required.contains(&**key),
            })
            .collect()
    }

    fn report_optional(&mut self, keywords: &Map<String, Value>, properties: &[Property]) {
        for Property { key, place, .. } in properties.iter().filter(|property| property.is_optional)
        {
            let outer = std::mem::replace(&mut self.changes.place, place.clone());
            self.changes.exact(Rule::Optional);
            let schema = members(keywords, "properties").and_then(|properties| properties.get(key));
            let accepts_null = schema.is_some_and(|schema| {
                strict::accepts_null(schema, &|name| {
                    self.document.find(name.strip_prefix("#/$defs/")?)
                })
            });
            if accepts_null {
                self.changes.add(Rule::Null, Fidelity::Narrowed);
            }
            self.changes.place = outer;
        }
    }

    fn report_keys(&mut self, keywords: &Map<String, Value>, properties: &[Property]) {
        for Property { key, place, .. } in properties {
            let is_kept = members(keywords, "properties")
                .is_some_and(|properties| properties.contains_key(key));
            if let Some(wire) = self.keys.wire(key).filter(|_| is_kept) {
                let outer = std::mem::replace(&mut self.changes.place, place.clone());
                self.changes.exact(Rule::Key {
                    wire: wire.to_owned(),
                });
                self.changes.place = outer;
            }
        }
    }
}
