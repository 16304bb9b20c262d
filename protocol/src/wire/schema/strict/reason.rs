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
    let has_several = || {
        count_containers(keywords, &target)
            .iter()
            .any(|count| *count > 1)
    };
    if branches.is_some() && has_several() {
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

/// Returns the number of objects and that of arrays among the alternatives of a rewritten schema. A reference of unknown type counts as
/// both.
fn count_containers<'d>(
    keywords: &Map<String, Value>,
    target: &dyn Fn(&str) -> Option<&'d Value>,
) -> [usize; 2] {
    let count =
        |types: Vec<&str>| ["object", "array"].map(|name| usize::from(types.contains(&name)));
    if let Some(reference) = keywords.get("$ref").and_then(Value::as_str) {
        let types = target(reference).and_then(Value::as_object).and_then(types);
        return types.map_or([1, 1], count);
    }
    let branches = keywords.get("anyOf").and_then(Value::as_array);
    branches
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
        .map(|branch| count_containers(branch, target))
        .fold(
            count(types(keywords).unwrap_or_default()),
            |[objects, arrays], [more_objects, more_arrays]| {
                [objects + more_objects, arrays + more_arrays]
            },
        )
}
