//! Rewrites the schema of a tool's parameters for a service, without changing which arguments are valid.
//!
//! A [`Dialect`] says which part of JSON Schema a service takes. Each rule rewrites one construct that it does not take. A construct
//! without a counterpart is loosened: the wire schema accepts more, and the canonical schema still judges each call.

mod change;
mod codec;
mod dialect;
mod document;
mod draft;
mod keys;
pub(super) mod keyword;
mod log;
mod merge;
pub(super) mod order;
mod rewriter;
mod rule;
mod strict;
mod unsendable;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use self::document::Document;
use self::keys::WireKeys;
use self::rewriter::Rewriter;

pub use self::change::{Change, Fidelity, Rule};
pub use self::codec::ArgumentsCodec;
pub use self::dialect::{Dialect, Enums, KeyGrammar, Keywords, References};
pub use self::unsendable::{NotStrict, Unsendable};

/// The schema of a tool's parameters as a service takes it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WireSchema {
    /// The schema.
    pub schema: Value,
    /// The codec of arguments.
    pub arguments: ArgumentsCodec,
    /// The differences from the canonical schema, in the order of their places.
    pub changes: Vec<Change>,
}

impl WireSchema {
    /// Rewrites a schema for a dialect.
    ///
    /// # Errors
    /// Returns the reason if the schema has no form in the dialect.
    pub fn new(schema: &Value, dialect: &Dialect) -> Result<Self, Unsendable> {
        if !accepts_objects(schema) {
            return Err(Unsendable::NotAnObject);
        }
        if dialect.is_complete && !(names_root(schema) && has_other_root_type(schema)) {
            return Ok(Self::complete(schema));
        }
        let document = Document::new(schema)?;
        let keys = WireKeys::new(&document, dialect.keys);
        let states = codec::states(&document, &keys, dialect.strict)?;
        let renamed = keys.apply(&document);
        let mut known = BTreeSet::new();
        let Rewritten { mut root, definitions, mut changes, .. } = loop {
            let mut rewritten = rewrite(&renamed, dialect, !keys.is_empty(), &known);
            let count = known.len();
            known.append(&mut rewritten.inexact);
            if known.len() == count {
                break rewritten;
            }
        };
        changes.extend(document.changes.iter().cloned());
        changes.extend(keys.changes(&document));
        if !definitions.is_empty() {
            root.insert("$defs".to_owned(), Value::Object(definitions));
        }
        let mut root = Value::Object(root);
        if dialect.strict {
            strict::check(&root, &renamed, dialect)?;
            changes.extend(require_all(&mut root));
        }
        changes.sort();
        changes.dedup();
        let schema = order::ordered(&root);
        let strict = dialect.strict.then(|| schema.clone());
        Ok(Self { arguments: ArgumentsCodec::new(states, strict), schema, changes })
    }
}

/// Requires all properties of the root and the definitions.
fn require_all(root: &mut Value) -> Vec<Change> {
    let mut log = log::Log::default();
    strict::require_all(root, String::new(), &mut log);
    if let Some(Value::Object(definitions)) = root.get_mut("$defs") {
        for (name, schema) in definitions {
            strict::require_all(schema, format!("/$defs/{name}"), &mut log);
        }
    }
    log.finish()
}

impl WireSchema {
    /// Returns a schema unchanged but for the type of its root.
    fn complete(schema: &Value) -> Self {
        let mut keywords = schema.as_object().cloned().unwrap_or_default();
        let mut log = log::Log::default();
        rule::root::typed(&mut keywords, &mut log);
        let schema = order::ordered(&Value::Object(keywords));
        Self { schema, arguments: ArgumentsCodec::default(), changes: log.finish() }
    }
}

/// The result of one pass over a document.
struct Rewritten {
    root: Map<String, Value>,
    definitions: Map<String, Value>,
    changes: Vec<Change>,
    /// The definitions that accept more on the wire.
    inexact: BTreeSet<String>,
}

/// Rewrites the root and the definitions that it uses, given the definitions that are known to accept more on the wire.
fn rewrite(document: &Document, dialect: &Dialect, has_other_keys: bool, known: &BTreeSet<String>) -> Rewritten {
    let mut rewriter = Rewriter::new(dialect, document, has_other_keys, known);
    let root = rewriter.root();
    let (mut definitions, mut inexact) = (Map::new(), BTreeSet::new());
    while let Some(name) = rewriter.used.iter().find(|name| !definitions.contains_key(*name)).cloned() {
        let Some(definition) = document.target(&name) else { break };
        let mark = rewriter.log.mark();
        let schema = rewriter.definition(&definition.schema, definition.pointer.clone());
        let judges_format = document.judges_format_in(&definition.schema);
        if rewriter.log.is_loosened_since(mark) || uses_any(&schema, known) || judges_format {
            inexact.insert(name.clone());
        }
        definitions.insert(name, schema);
    }
    Rewritten { root, definitions, changes: rewriter.log.finish(), inexact }
}

/// Returns true if a rewritten schema refers to one of the definitions.
fn uses_any(schema: &Value, names: &BTreeSet<String>) -> bool {
    let Value::Object(keywords) = schema else { return false };
    let name = keywords.get("$ref").and_then(Value::as_str).and_then(|name| name.strip_prefix("#/$defs/"));
    let mut found = name.is_some_and(|name| names.contains(name));
    keyword::for_each(keywords, |_, schema| found |= uses_any(schema, names));
    found
}

/// Returns true if a reference may name the root, so that the root's type matters inside as well.
fn names_root(value: &Value) -> bool {
    let is_root = |name: &Value| name.as_str().is_some_and(|name| name.ends_with('#') || !name.contains('#'));
    match value {
        Value::Object(members) => members.iter().any(|(key, member)| {
            (matches!(&**key, "$ref" | "$dynamicRef" | "$recursiveRef") && is_root(member)) || names_root(member)
        }),
        Value::Array(items) => items.iter().any(names_root),
        _ => false,
    }
}

fn has_other_root_type(schema: &Value) -> bool {
    schema.get("type").is_none_or(|kind| kind != "object")
}

/// Returns false if the type of the root excludes objects.
fn accepts_objects(schema: &Value) -> bool {
    match schema {
        Value::Object(keywords) => keyword::types(keywords).is_none_or(|types| types.contains(&"object")),
        schema => schema == &Value::Bool(true),
    }
}
