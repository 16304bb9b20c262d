//! [`Nulls`]: the properties for which a null on a strict wire stands for absence.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::wire::schema::codec::Candidate;
use crate::wire::schema::document::Document;
use crate::wire::schema::keyword::{members, types};
use crate::wire::schema::unsendable::NotStrict;

/// The deepest chain of references that is searched for a null.
const MOST_LINKS: usize = 32;

/// The properties of an object for which a null stands for absence.
#[derive(Clone, Debug, Default)]
pub(in crate::wire::schema) struct Nulls(BTreeSet<String>);

impl Nulls {
    /// Returns the nulls of an object to which the schemas in `set` may apply.
    ///
    /// # Errors
    /// Returns an error if a null is a value in one alternative and absence in another.
    pub(in crate::wire::schema) fn new(document: &Document, set: &[Candidate<'_>]) -> Result<Self, NotStrict> {
        let mut absences = BTreeSet::new();
        for key in set.iter().filter_map(|candidate| members(candidate.keywords, "properties")).flat_map(Map::keys) {
            let property = |candidate: &Candidate<'_>| members(candidate.keywords, "properties")?.get(key).cloned();
            let declaring: Vec<_> =
                set.iter().filter_map(|candidate| Some((candidate, property(candidate)?))).collect();
            let (accepting, refusing): (Vec<_>, Vec<_>) =
                declaring.iter().partition(|(_, schema)| accepts_null(document, schema, 0));
            if refusing.is_empty() {
                continue;
            }
            if !accepting.is_empty() && !declaring.iter().all(|(candidate, _)| candidate.is_certain) {
                return Err(NotStrict::AmbiguousNull { key: key.clone() });
            }
            absences.insert(key.clone());
        }
        Ok(Self(absences))
    }

    /// Returns true if a null for the key stands for an absent property.
    pub(in crate::wire::schema) fn is_absence(&self, key: &str) -> bool {
        self.0.contains(key)
    }
}

/// Returns true if null may match the schema.
fn accepts_null(document: &Document, schema: &Value, links: usize) -> bool {
    let Value::Object(keywords) = schema else { return schema != &Value::Bool(false) };
    if links > MOST_LINKS {
        return true;
    }
    let inner = |schema: &Value| accepts_null(document, schema, links + 1);
    let list = |keyword: &str| keywords.get(keyword).and_then(Value::as_array);
    let target = keywords.get("$ref").and_then(Value::as_str).and_then(|reference| document.target(reference));
    types(keywords).is_none_or(|types| types.contains(&"null"))
        && keywords.get("const").is_none_or(Value::is_null)
        && list("enum").is_none_or(|values| values.contains(&Value::Null))
        && target.is_none_or(|definition| inner(&definition.schema))
        && list("allOf").is_none_or(|schemas| schemas.iter().all(inner))
        && list("anyOf").is_none_or(|schemas| schemas.iter().any(inner))
        && list("oneOf").is_none_or(|schemas| schemas.iter().any(inner))
}
