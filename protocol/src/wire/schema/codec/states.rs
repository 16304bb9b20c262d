//! The [`State`]s of a schema.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::state::State;
use crate::wire::schema::document::Document;
use crate::wire::schema::keys::{WireKeys, declared};
use crate::wire::schema::keyword::{IN_PLACE, members};
use crate::wire::schema::strict::Nulls;
use crate::wire::schema::unsendable::Unsendable;

/// The maximum number of states.
const MOST_STATES: usize = 4_096;

/// A schema that may apply to a value.
#[derive(Clone, Copy)]
pub(in crate::wire::schema) struct Candidate<'a> {
    pub(in crate::wire::schema) keywords: &'a Map<String, Value>,
    /// False if the schema belongs to an alternative or a condition.
    pub(in crate::wire::schema) is_certain: bool,
}

/// Returns the states of a schema: one for each set of schemas that may apply to a value at once. Returns no states if none has an
/// effect.
///
/// # Errors
/// Returns an error if there are too many, or, with `is_strict`, if a null would be ambiguous.
pub(in crate::wire::schema) fn states(
    document: &Document,
    keys: &WireKeys,
    is_strict: bool,
) -> Result<Vec<State>, Unsendable> {
    if keys.is_empty() && !is_strict {
        return Ok(Vec::new());
    }
    let mut sets = Sets { document, numbers: BTreeMap::new(), pending: Vec::new() };
    sets.number(vec![(&document.root, true)])?;
    let mut states = Vec::new();
    while let Some(set) = sets.pending.get(states.len()).cloned() {
        states.push(sets.state(&set, keys, is_strict)?);
    }
    Ok(states)
}

/// The sets of schemas that may apply to one value.
struct Sets<'a> {
    document: &'a Document,
    /// The numbers of the sets, by the addresses of their schemas.
    numbers: BTreeMap<Vec<(usize, bool)>, usize>,
    pending: Vec<Vec<Candidate<'a>>>,
}

impl<'a> Sets<'a> {
    /// Returns the number of the set that begins with these schemas and has all that may apply with them.
    fn number(&mut self, schemas: Vec<(&'a Value, bool)>) -> Result<usize, Unsendable> {
        let mut set: BTreeMap<usize, Candidate<'a>> = BTreeMap::new();
        let mut pending = schemas;
        while let Some((schema, is_certain)) = pending.pop() {
            let Value::Object(keywords) = schema else { continue };
            let address = std::ptr::from_ref(keywords) as usize;
            if set.get(&address).is_some_and(|known| known.is_certain || !is_certain) {
                continue;
            }
            set.insert(address, Candidate { keywords, is_certain });
            pending.extend(in_place(keywords).map(|(schema, is_part)| (schema, is_certain && is_part)));
            let reference = keywords.get("$ref").and_then(Value::as_str);
            let target = reference.and_then(|reference| self.document.target(reference));
            pending.extend(target.map(|definition| (&definition.schema, is_certain)));
        }
        let key = set.iter().map(|(address, candidate)| (*address, candidate.is_certain)).collect();
        if let Some(number) = self.numbers.get(&key) {
            return Ok(*number);
        }
        let number = self.pending.len();
        if number == MOST_STATES {
            let problem = format!("has more than {MOST_STATES} combinations of schemas for one value");
            return Err(Unsendable::TooLarge { problem });
        }
        self.numbers.insert(key, number);
        self.pending.push(set.into_values().collect());
        Ok(number)
    }

    fn state(&mut self, set: &[Candidate<'a>], keys: &WireKeys, is_strict: bool) -> Result<State, Unsendable> {
        let wires: BTreeMap<_, _> = set
            .iter()
            .flat_map(|candidate| declared(candidate.keywords))
            .filter_map(|key| Some((key.to_owned(), keys.wire(key)?.to_owned())))
            .collect();
        let lists = set.iter().filter_map(|candidate| members(candidate.keywords, "properties"));
        let named: BTreeSet<_> = lists.flat_map(Map::keys).collect();
        let mut properties = BTreeMap::new();
        for key in named {
            properties.insert(key.clone(), self.number(for_key(set, Some(key)))?);
        }
        let count = set.iter().map(|candidate| prefix(candidate.keywords).len()).max().unwrap_or_default();
        let first = (0..count).map(|index| self.number(for_index(set, index))).collect::<Result<_, _>>()?;
        Ok(State {
            keys: wires.iter().map(|(key, wire)| (wire.clone(), key.clone())).collect(),
            wires,
            nulls: if is_strict { Nulls::new(self.document, set)? } else { Nulls::default() },
            properties,
            rest: Some(self.number(for_key(set, None))?),
            first,
            elements: Some(self.number(for_index(set, count))?),
        })
    }
}

/// Returns the schemas inside of a schema that apply to the same value. The flag is true if they always do.
fn in_place(keywords: &Map<String, Value>) -> impl Iterator<Item = (&Value, bool)> {
    let present = IN_PLACE.into_iter().filter_map(|keyword| Some((keyword, keywords.get(keyword)?)));
    present.flat_map(|(keyword, value)| {
        let schemas: Vec<_> = match (keyword, value) {
            ("dependentSchemas", Value::Object(schemas)) => schemas.values().collect(),
            (_, Value::Array(schemas)) => schemas.iter().collect(),
            (_, schema) => vec![schema],
        };
        schemas.into_iter().map(move |schema| (schema, keyword == "allOf"))
    })
}

/// Returns the schemas for the member with a key, or for members without an entry in `properties`.
fn for_key<'a>(set: &[Candidate<'a>], key: Option<&str>) -> Vec<(&'a Value, bool)> {
    let mut schemas = Vec::new();
    for Candidate { keywords, is_certain } in set {
        let property = key.and_then(|key| members(keywords, "properties")?.get(key));
        schemas.extend(property.map(|schema| (schema, *is_certain)));
        let patterns = members(keywords, "patternProperties").into_iter().flat_map(Map::values);
        schemas.extend(patterns.chain(keywords.get("unevaluatedProperties")).map(|schema| (schema, false)));
        if property.is_none() {
            schemas.extend(keywords.get("additionalProperties").map(|schema| (schema, false)));
        }
    }
    schemas
}

/// Returns the schemas for the element at an index.
fn for_index<'a>(set: &[Candidate<'a>], index: usize) -> Vec<(&'a Value, bool)> {
    let mut schemas = Vec::new();
    for Candidate { keywords, is_certain } in set {
        let own = prefix(keywords).get(index).or_else(|| keywords.get("items"));
        schemas.extend(own.map(|schema| (schema, *is_certain)));
        let others = ["contains", "unevaluatedItems"].into_iter().filter_map(|keyword| keywords.get(keyword));
        schemas.extend(others.map(|schema| (schema, false)));
    }
    schemas
}

fn prefix(keywords: &Map<String, Value>) -> &[Value] {
    keywords.get("prefixItems").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
