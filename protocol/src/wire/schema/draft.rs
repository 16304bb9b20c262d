//! Turns schemas of older drafts into draft 2020-12.

use serde_json::{Map, Value};

use crate::word_list::has_word;

/// A draft of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Draft {
    D4,
    D6,
    D7,
    D2019,
    D2020,
}

impl Draft {
    /// Returns the draft that `$schema` names, or 2020-12.
    pub(super) fn from_keywords(keywords: &Map<String, Value>) -> Self {
        let name = keywords
            .get("$schema")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let drafts = [
            ("draft-04", Self::D4),
            ("draft-06", Self::D6),
            ("draft-07", Self::D7),
            ("2019-09", Self::D2019),
        ];
        drafts
            .into_iter()
            .find(|(part, _)| name.contains(part))
            .map_or(Self::D2020, |(_, draft)| draft)
    }

    /// Returns the keyword that names the base of references.
    pub(super) fn id(self) -> &'static str {
        if self == Self::D4 { "id" } else { "$id" }
    }

    /// Removes the keywords that the draft ignores.
    pub(super) fn remove_ignored(self, keywords: &mut Map<String, Value>) {
        keywords.retain(|keyword, _| self.has(keyword));
        if self <= Self::D7 && keywords.contains_key("$ref") {
            // Up to draft 7, a reference hides its neighbours.
            keywords.retain(|keyword, _| matches!(&**keyword, "$ref" | "description" | "title"));
        }
        if !keywords.contains_key("if") {
            keywords.remove("then");
            keywords.remove("else");
        }
    }

    /// Rewrites the keywords of one schema, not of those inside. Returns true if it changed their form.
    pub(super) fn modernise(self, keywords: &mut Map<String, Value>) -> bool {
        let mut changed = false;
        if self < Self::D2020 {
            changed |= self.tuples(keywords);
        }
        keywords.remove("additionalItems");
        if self <= Self::D7 {
            changed |= dependencies(keywords);
        }
        keywords.remove("dependencies");
        if self == Self::D4 {
            changed |= rewrite_bound(keywords, "exclusiveMinimum", "minimum");
            changed |= rewrite_bound(keywords, "exclusiveMaximum", "maximum");
        }
        changed
    }

    /// Returns true unless the keyword is newer than the draft, which then ignores it.
    fn has(self, keyword: &str) -> bool {
        const SINCE: [(Draft, &str); 4] = [
            (Draft::D6, "const contains propertyNames examples"),
            (Draft::D7, "if then else"),
            (
                Draft::D2019,
                "dependentRequired dependentSchemas maxContains minContains unevaluatedItems \
                unevaluatedProperties $anchor",
            ),
            (Draft::D2020, "prefixItems $dynamicRef $dynamicAnchor"),
        ];
        let known = SINCE.iter().find(|(_, words)| has_word(words, keyword));
        known.is_none_or(|(since, _)| self >= *since)
    }

    /// Turns an array of `items` into `prefixItems`, and `additionalItems` into `items`. Returns true if there was one.
    fn tuples(self, keywords: &mut Map<String, Value>) -> bool {
        if !keywords.get("items").is_some_and(Value::is_array) {
            return false;
        }
        let rest = keywords.remove("additionalItems");
        match keywords.remove("items") {
            Some(Value::Array(items)) if !items.is_empty() => {
                keywords.insert("prefixItems".to_owned(), Value::Array(items));
            }
            _ => {}
        }
        keywords.extend(rest.map(|rest| ("items".to_owned(), rest)));
        true
    }
}

/// Turns `dependencies` into `dependentRequired` and `dependentSchemas`. Returns true if there were any.
fn dependencies(keywords: &mut Map<String, Value>) -> bool {
    let Some(Value::Object(dependencies)) = keywords.remove("dependencies") else {
        return false;
    };
    let (required, schemas): (Map<_, _>, Map<_, _>) = dependencies
        .into_iter()
        .partition(|(_, value)| value.is_array());
    for (keyword, members) in [
        ("dependentRequired", required),
        ("dependentSchemas", schemas),
    ] {
        if !members.is_empty() {
            keywords.insert(keyword.to_owned(), Value::Object(members));
        }
    }
    true
}

/// Turns a boolean exclusive bound into a number. Returns true if there was one.
fn rewrite_bound(keywords: &mut Map<String, Value>, exclusive: &str, inclusive: &str) -> bool {
    let Some(Value::Bool(is_exclusive)) = keywords.remove(exclusive) else {
        return false;
    };
    if is_exclusive && let Some(bound) = keywords.remove(inclusive) {
        keywords.insert(exclusive.to_owned(), bound);
    }
    true
}
