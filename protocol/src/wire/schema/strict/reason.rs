//! The reason that a rewritten schema has no strict form.

use serde_json::{Map, Value};

use crate::wire::schema::change::{Changes, Fidelity, Rule};
use crate::wire::schema::keyword::{PLACE, has_type, is_any, members, strings, types};
use crate::wire::schema::rule::set_types_of;
use crate::wire::schema::unsendable::NotStrict;

/// Closes an object, and states the types of listed values.
pub(in crate::wire::schema) fn close(keywords: &mut Map<String, Value>, changes: &mut Changes) {
    let is_partial = |branch: &Value| {
        branch.as_object().is_some_and(|branch| {
            branch
                .keys()
                .all(|keyword| matches!(&**keyword, PLACE | "required" | "type"))
        })
    };
    let branches = keywords.get("anyOf").and_then(Value::as_array);
    if keywords.contains_key("properties")
        && branches.is_some_and(|branches| branches.iter().all(is_partial))
    {
        // The alternatives only say which properties are required together.
        keywords.remove("anyOf");
        changes.loosened(Rule::Keyword("anyOf".to_owned()));
    }
    if !keywords.contains_key("type") {
        let values = match (keywords.get("const"), keywords.get("enum")) {
            (Some(value), _) => vec![value.clone()],
            (None, Some(Value::Array(values))) => values.clone(),
            _ => Vec::new(),
        };
        if !values.is_empty() {
            set_types_of(keywords, &values);
        }
    }
    if has_type(keywords, "object") && !keywords.contains_key("additionalProperties") {
        keywords.insert("additionalProperties".to_owned(), false.into());
        changes.add(Rule::Closed, Fidelity::Narrowed);
    }
}

/// Returns the reason that the service would refuse a closed schema, or that its calls could not be read back. Schemas inside have
/// their own reasons. Pass the function that returns the target of a reference.
pub(in crate::wire::schema) fn reason<'d>(
    keywords: &Map<String, Value>,
    place: &str,
    target: impl Fn(&str) -> Option<&'d Value>,
) -> Option<NotStrict> {
    if keywords.contains_key("$ref") {
        return None;
    }
    let pointer = place.to_owned();
    let branches = keywords.get("anyOf").and_then(Value::as_array);
    if branches.is_none() && types(keywords).is_none() {
        return Some(NotStrict::AnyValue { pointer });
    }
    if keywords.contains_key("prefixItems") {
        return Some(NotStrict::Tuple { pointer });
    }
    if has_type(keywords, "array") && keywords.get("items").is_none_or(is_any) {
        return Some(NotStrict::AnyValue {
            pointer: format!("{place}/items"),
        });
    }
    let sum = Containers::from_keywords(keywords, &target);
    if branches.is_some() && (sum.objects > 1 || sum.arrays > 1) {
        return Some(NotStrict::Union { pointer });
    }
    if !has_type(keywords, "object") && !keywords.contains_key("properties") {
        return None;
    }
    let properties = members(keywords, "properties");
    let is_free = properties.is_none_or(Map::is_empty) && !place.is_empty();
    let is_closed = keywords.get("additionalProperties") == Some(&Value::Bool(false));
    if !is_closed || is_free || keywords.contains_key("patternProperties") {
        return Some(NotStrict::OpenObject { pointer });
    }
    let is_listed =
        |name: &&str| properties.is_some_and(|properties| properties.contains_key(*name));
    let unlisted = strings(keywords.get("required")).find(|name| !is_listed(name))?;
    Some(NotStrict::Unlisted {
        pointer,
        key: unlisted.to_owned(),
    })
}

/// The number of alternatives that accept objects, and of those that accept arrays.
#[derive(Clone, Copy)]
struct Containers {
    objects: usize,
    arrays: usize,
}

impl Containers {
    /// Counts the objects and arrays among the alternatives of a rewritten schema. A reference of unknown type counts as both.
    fn from_keywords<'d>(
        keywords: &Map<String, Value>,
        target: &dyn Fn(&str) -> Option<&'d Value>,
    ) -> Self {
        let reference = keywords.get("$ref").and_then(Value::as_str);
        if let Some(target) = reference.map(target) {
            let types = target.and_then(Value::as_object).and_then(types);
            return types.map_or(
                Self {
                    objects: 1,
                    arrays: 1,
                },
                |types| Self::from_types(&types),
            );
        }
        let branches = keywords
            .get("anyOf")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_object);
        let own = Self::from_types(&types(keywords).unwrap_or_default());
        branches
            .map(|branch| Self::from_keywords(branch, target))
            .fold(own, Self::plus)
    }

    fn from_types(types: &[&str]) -> Self {
        let count = |name| usize::from(types.contains(&name));
        Self {
            objects: count("object"),
            arrays: count("array"),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            objects: self.objects + other.objects,
            arrays: self.arrays + other.arrays,
        }
    }
}
