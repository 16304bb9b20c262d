//! A schema as a graph: subschemas as nodes, and an edge to each subschema that one applies to a part of the value.

use std::collections::{BTreeSet, HashMap};

use jsonschema::{Draft, ReferencingError, Registry, RegistryBuilder, Uri, uri};
use serde_json::Value;

use super::{SchemaError, phrase, walk};

/// The most reachable subschemas. More cannot be within the budget, because each counts at least once.
const MOST_NODES: usize = 10_000;

/// A schema with its identifiers and anchors indexed. Never fetches a document.
pub(super) struct Document<'a> {
    registry: Registry<'a>,
    base: Uri<String>,
    draft: Draft,
}

impl<'a> Document<'a> {
    pub(super) fn new(schema: &'a Value) -> Result<Self, SchemaError> {
        let draft = Draft::default().detect(schema);
        if draft == Draft::Unknown {
            return Err(unknown_dialect(schema));
        }
        let resource = draft.create_resource_ref(schema);
        let base = resource.id().unwrap_or("json-schema:///");
        let base = uri::from_str(base).map_err(|error| explain_unresolved(base, &error))?;
        let registry = Registry::new()
            .draft(draft)
            .add(base.as_str(), resource)
            .and_then(RegistryBuilder::prepare)
            .map_err(|error| explain_unresolved("$ref", &error))?;
        Ok(Self {
            registry,
            base,
            draft,
        })
    }
}

/// Every subschema that validation can reach from the root, which is node 0.
pub(super) struct Graph<'a> {
    pub(super) nodes: Vec<SchemaNode<'a>>,
    /// Regular expressions of `pattern`.
    pub(super) patterns: BTreeSet<&'a str>,
    /// Regular expressions of `patternProperties`.
    pub(super) name_patterns: BTreeSet<&'a str>,
    is_dynamic: bool,
}

#[derive(Default)]
pub(super) struct SchemaNode<'a> {
    /// The subschemas that it applies, each with a part of the value.
    pub(super) edges: Vec<(ValuePart<'a>, usize)>,
    /// True if it has `unevaluatedProperties` or `unevaluatedItems`, which evaluate the subschemas beside them again.
    pub(super) is_unevaluated: bool,
    /// An upper bound of its errors about one value, weighted by the copies that they hold.
    pub(super) errors: u64,
    /// The first reference that led to it.
    pub(super) reference: Option<&'a str>,
    /// True if it has `writeOnly`.
    pub(super) is_secret: bool,
    /// True if it has a keyword, which `true` and `{}` do not.
    pub(super) has_keywords: bool,
    /// True if it applies to the names of properties instead of their values.
    pub(super) is_for_names: bool,
}

/// The part of a value that a subschema is applied to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ValuePart<'a> {
    /// The value itself.
    Whole,
    /// The property of this name.
    Property(&'a str),
    /// Any property.
    Properties,
    /// The item at this index.
    Item(usize),
    /// Any item.
    Items,
}

impl<'a> Graph<'a> {
    /// Builds the graph of a schema. The nesting of `schema` must be bounded before.
    ///
    /// Follows every keyword of every dialect, so the graph may be larger than the schema that runs, but never smaller.
    /// `jsonschema` itself resolves the references, so both agree on their targets.
    pub(super) fn new(schema: &'a Value, document: &'a Document<'a>) -> Result<Self, SchemaError> {
        let mut graph = Self {
            nodes: vec![SchemaNode::default()],
            patterns: BTreeSet::new(),
            name_patterns: BTreeSet::new(),
            is_dynamic: false,
        };
        // A node is a subschema and a base URI, because a reference resolves differently under another base.
        let mut known: HashMap<(*const Value, String), usize> = HashMap::new();
        known.insert((schema, document.base.as_str().to_owned()), 0);
        let mut pending = vec![(
            0,
            schema,
            document.registry.resolver(document.base.clone()),
            document.draft,
        )];
        while let Some((index, value, resolver, draft)) = pending.pop() {
            let applied = graph.read(index, value)?;
            let mut targets = Vec::with_capacity(applied.parts.len() + applied.references.len());
            for (part, child) in applied.parts {
                let draft = draft.detect(child);
                let inside = resolver.in_subresource(draft.create_resource_ref(child));
                targets.push((
                    part,
                    child,
                    inside.map_err(|error| explain_unresolved("$id", &error))?,
                    draft,
                    None,
                ));
            }
            for reference in applied.references {
                let found = resolver
                    .lookup(reference)
                    .map_err(|error| explain_unresolved(reference, &error))?;
                let (target, inside, draft) = found.into_inner();
                let draft = draft.detect(target);
                targets.push((ValuePart::Whole, target, inside, draft, Some(reference)));
            }
            for (part, target, resolver, draft, reference) in targets {
                if draft == Draft::Unknown {
                    return Err(unknown_dialect(target));
                }
                let key = (
                    std::ptr::from_ref(target),
                    resolver.base_uri().as_str().to_owned(),
                );
                let next = *known.entry(key).or_insert_with(|| {
                    graph.nodes.push(SchemaNode {
                        reference,
                        ..SchemaNode::default()
                    });
                    pending.push((graph.nodes.len() - 1, target, resolver, draft));
                    graph.nodes.len() - 1
                });
                let names = value.get("propertyNames");
                graph.nodes[next].is_for_names |=
                    names.is_some_and(|names| std::ptr::eq(names, target));
                graph.nodes[index].edges.push((part, next));
            }
            // Checked within the loop: a reference from each of many bases makes a node each.
            if graph.nodes.len() > MOST_NODES {
                return Err(SchemaError::OverBudget {
                    measure: "subschemas",
                    limit: MOST_NODES as u64,
                });
            }
        }
        if graph.is_dynamic && has_rival_anchors(schema) {
            return Err(SchemaError::Unsupported {
                reason: "several dynamic anchors of one name; use `$ref` instead of `$dynamicRef`"
                    .into(),
            });
        }
        Ok(graph)
    }

    /// Records the properties of a subschema and returns the subschemas that it applies.
    fn read(&mut self, index: usize, value: &'a Value) -> Result<Applied<'a>, SchemaError> {
        let mut applied = Applied::default();
        let node = &mut self.nodes[index];
        let Some(object) = value.as_object() else {
            return Ok(applied);
        };
        // Each keyword fails at most once for one value.
        node.errors = object.len() as u64 + 1;
        node.has_keywords = !object.is_empty();
        for (keyword, value) in object {
            match (keyword.as_str(), value) {
                ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(reference)) => {
                    if is_meta_schema(reference) {
                        return Err(SchemaError::ExternalRef {
                            reference: phrase::quote(reference, 128),
                        });
                    }
                    self.is_dynamic |= keyword != "$ref";
                    applied.references.push(reference);
                }
                ("pattern", Value::String(pattern)) => {
                    self.patterns.insert(pattern);
                }
                ("patternProperties", Value::Object(patterns)) => {
                    self.name_patterns
                        .extend(patterns.keys().map(String::as_str));
                }
                ("writeOnly", Value::Bool(true)) => node.is_secret = true,
                ("unevaluatedProperties" | "unevaluatedItems", _) => node.is_unevaluated = true,
                // One error for each name; `not` copies its schema into every error.
                ("required" | "dependentRequired" | "dependencies" | "not", _) => {
                    node.errors += text_length(value) / 4;
                }
                _ => {}
            }
            applied.keyword(keyword, value);
        }
        Ok(applied)
    }
}

/// The subschemas that one subschema applies.
#[derive(Default)]
struct Applied<'a> {
    parts: Vec<(ValuePart<'a>, &'a Value)>,
    references: Vec<&'a str>,
}

impl<'a> Applied<'a> {
    fn keyword(&mut self, keyword: &str, value: &'a Value) {
        match keyword {
            "not" | "if" | "then" | "else" => self.one(ValuePart::Whole, value),
            "allOf" | "anyOf" | "oneOf" => self.each(|_| ValuePart::Whole, value),
            "dependentSchemas" | "dependencies" => self.add_named(|_| ValuePart::Whole, value),
            "properties" => self.add_named(ValuePart::Property, value),
            "patternProperties" => self.add_named(|_| ValuePart::Properties, value),
            "additionalProperties" | "unevaluatedProperties" | "propertyNames" => {
                self.one(ValuePart::Properties, value)
            }
            "prefixItems" => self.each(ValuePart::Item, value),
            "items" => {
                self.one(ValuePart::Items, value);
                self.each(ValuePart::Item, value);
            }
            "additionalItems" | "unevaluatedItems" | "contains" | "contentSchema" => {
                self.one(ValuePart::Items, value)
            }
            _ => {}
        }
    }

    fn one(&mut self, part: ValuePart<'a>, value: &'a Value) {
        if value.is_object() || value.is_boolean() {
            self.parts.push((part, value));
        }
    }

    fn each(&mut self, part: impl Fn(usize) -> ValuePart<'a>, value: &'a Value) {
        for (place, value) in value.as_array().into_iter().flatten().enumerate() {
            self.one(part(place), value);
        }
    }

    fn add_named(&mut self, part: impl Fn(&'a str) -> ValuePart<'a>, value: &'a Value) {
        for (name, value) in value.as_object().into_iter().flatten() {
            self.one(part(name), value);
        }
    }
}

/// Returns true if a dynamic reference has several possible targets. Its target then depends on the path to it, which a [`Graph`]
/// does not represent.
fn has_rival_anchors(schema: &Value) -> bool {
    let mut names = BTreeSet::new();
    for object in walk::values(schema).filter_map(|(value, _)| value.as_object()) {
        let recursive = object.get("$recursiveAnchor") == Some(&Value::Bool(true));
        let name = object.get("$dynamicAnchor").and_then(Value::as_str);
        if recursive && !names.insert("") || name.is_some_and(|name| !names.insert(name)) {
            return true;
        }
    }
    false
}

/// Returns the length of a value as JSON text, in bytes.
pub(super) fn text_length(value: &Value) -> u64 {
    crate::size::encoded_len(value) as u64
}

fn unknown_dialect(schema: &Value) -> SchemaError {
    SchemaError::UnknownDialect {
        dialect: phrase::show(&schema["$schema"]),
    }
}

/// Returns true if the reference names a meta-schema. `jsonschema` has them built in, but they are not part of the document.
fn is_meta_schema(reference: &str) -> bool {
    reference.starts_with("http://json-schema.org/")
        || reference.starts_with("https://json-schema.org/")
}

fn explain_unresolved(reference: &str, error: &ReferencingError) -> SchemaError {
    match error {
        ReferencingError::Unretrievable { uri, .. } => SchemaError::ExternalRef {
            reference: phrase::quote(uri, 128),
        },
        ReferencingError::UnknownSpecification { specification } => SchemaError::UnknownDialect {
            dialect: phrase::quote(specification, 128),
        },
        _ => SchemaError::UnresolvedRef {
            reference: phrase::quote(reference, 128),
        },
    }
}
