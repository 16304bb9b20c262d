//! Rewrites the schema of a tool's parameters for a service, without changing which arguments are valid.
//!
//! A `Dialect` says which part of JSON Schema a service takes. Each rule rewrites one construct that it does not take. A construct
//! without a counterpart is loosened: the wire schema accepts more, and the canonical schema still judges each call.

mod change;
mod codec;
mod cycle;
mod dialect;
mod document;
mod draft;
mod keys;
pub(super) mod keyword;
mod merge;
pub(super) mod order;
mod pattern;
mod rewriter;
mod rule;
mod strict;
mod unsendable;

use serde_json::Value;

use self::change::Changes;
use self::document::Document;
use self::keys::WireKeys;
use self::rewriter::Rewriter;

pub use self::change::{Change, Fidelity, Rule};
pub use self::codec::ArgumentsCodec;
pub(super) use self::dialect::{
    Dialect, Enums, KeyGrammar, Keywords, Patterns, References, SchemaLimits, StrictRules,
};
pub use self::unsendable::{NotStrict, Unsendable};

/// The deepest nesting of a canonical schema, as at registration.
const MOST_NESTING: usize = 64;

/// The deepest nesting of a wire schema. Parsers of JSON take 128 levels, some of which are around the schema.
const MOST_WIRE_NESTING: usize = 110;

/// The schema of a tool's parameters as a service takes it.
pub(super) struct WireSchema {
    /// The schema.
    pub(super) schema: Value,
    /// The codec of arguments.
    pub(super) arguments: ArgumentsCodec,
    /// The differences from the canonical schema, in the order of their places.
    pub(super) changes: Vec<Change>,
}

impl WireSchema {
    /// Rewrites a schema for a dialect.
    ///
    /// # Errors
    /// Returns the reason if the schema has no form in the dialect.
    pub(super) fn new(schema: &Value, dialect: &Dialect) -> Result<Self, Unsendable> {
        if !accepts_objects(schema) {
            return Err(Unsendable::NotAnObject);
        }
        check_nesting(schema, MOST_NESTING)?;
        let mut changes = Changes::default();
        // The root gets a type. A reference to the root would then mean another schema inside.
        if dialect.is_complete && !(names_root(schema) && has_other_root_type(schema)) {
            let mut keywords = schema.as_object().cloned().unwrap_or_default();
            if has_other_root_type(schema) {
                keywords.insert("type".to_owned(), "object".into());
                changes.exact(Rule::RootType);
            }
            return Self::from_parts(&keywords.into(), ArgumentsCodec::default(), changes);
        }
        let document = Document::new(schema, &mut changes)?;
        let keys = WireKeys::new(&document, dialect.keys);
        let mut root = Rewriter::new(dialect, &document, &keys, &mut changes).rewrite()?;
        let requires_all = dialect.strict.is_some_and(|rules| rules.requires_all);
        let arguments = ArgumentsCodec::new(&root, keys, requires_all);
        if requires_all {
            root = strict::require_all(root);
        }
        if let Some(limits) = dialect.strict.and_then(|rules| rules.limits)
            && let Some(problem) = strict::find_exceeded(&root, &limits)
        {
            return Err(NotStrict::TooLarge { problem }.into());
        }
        Self::from_parts(&root, arguments, changes)
    }

    fn from_parts(
        schema: &Value,
        arguments: ArgumentsCodec,
        changes: Changes,
    ) -> Result<Self, Unsendable> {
        check_nesting(schema, MOST_WIRE_NESTING)?;
        // Where `serde_json` keeps the order of members, the value has that of the text.
        let schema =
            serde_json::from_str(&order::to_text(schema)).unwrap_or_else(|_| schema.clone());
        Ok(Self {
            schema,
            arguments,
            changes: changes.all.into_iter().collect(),
        })
    }
}

fn check_nesting(schema: &Value, most: usize) -> Result<(), Unsendable> {
    if nests_deeper(schema, most) {
        return Err(Unsendable::TooLarge {
            problem: format!("nests deeper than {most} levels"),
        });
    }
    Ok(())
}

fn nests_deeper(value: &Value, most: usize) -> bool {
    match value {
        Value::Array(items) => most == 0 || items.iter().any(|item| nests_deeper(item, most - 1)),
        Value::Object(members) => {
            most == 0
                || members
                    .values()
                    .any(|member| nests_deeper(member, most - 1))
        }
        _ => false,
    }
}

/// Returns true if a reference may name the root, so that the root's type matters inside as well.
fn names_root(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.iter().any(|(key, member)| {
            let is_reference = matches!(&**key, "$ref" | "$dynamicRef" | "$recursiveRef");
            let target = member.as_str().filter(|_| is_reference);
            target.is_some_and(|name| name.ends_with('#') || !name.contains('#'))
                || names_root(member)
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
        Value::Object(keywords) => {
            keyword::types(keywords).is_none_or(|types| types.contains(&"object"))
        }
        schema => schema == &Value::Bool(true),
    }
}
