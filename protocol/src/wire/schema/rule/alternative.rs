//! A `oneOf` becomes an `anyOf` where the service does not take it, or takes a looser form of its parts.

use serde_json::{Map, Value};

use crate::wire::schema::change::{Fidelity, Rule};
use crate::wire::schema::keyword::{members, strings, types};
use crate::wire::schema::rewriter::Rewriter;

pub(in crate::wire::schema) fn apply(keywords: &mut Map<String, Value>, rewriter: &mut Rewriter<'_>) {
    let Some(branches) = keywords.remove("oneOf") else { return };
    if rewriter.dialect.takes("oneOf")
        && let Some(kept) = rewriter.guarded("oneOf", &branches)
    {
        keywords.insert("oneOf".to_owned(), kept);
        return;
    }
    if keywords.contains_key("anyOf") {
        rewriter.log.loosened(Rule::Keyword("oneOf".to_owned()));
        return;
    }
    let exact = branches.as_array().is_some_and(|branches| are_disjoint(branches));
    rewriter.log.push(Rule::Alternative, if exact { Fidelity::Exact } else { Fidelity::Loosened });
    keywords.insert("anyOf".to_owned(), branches);
}

/// Returns true if no value matches two of the schemas, because of their types or of the values of a common required property.
pub(in crate::wire::schema) fn are_disjoint(branches: &[Value]) -> bool {
    let pairs =
        || branches.iter().enumerate().flat_map(|(index, one)| branches[..index].iter().map(move |two| (one, two)));
    pairs().all(|(one, two)| has_other_types(one, two)) || tag(branches).is_some()
}

/// Returns the property that all schemas require and whose values tell them apart.
pub(in crate::wire::schema) fn tag(branches: &[Value]) -> Option<&str> {
    let first = branches.first()?.as_object()?;
    strings(first.get("required")).find(|key| {
        let values: Option<Vec<_>> = branches.iter().map(|branch| tag_values(branch, key)).collect();
        values.is_some_and(|values| {
            let all: Vec<_> = values.iter().flatten().collect();
            all.iter().enumerate().all(|(index, value)| !all[..index].contains(value))
        })
    })
}

/// Returns the strings that a property of an object may have. Returns `None` unless the schema requires it and lists its values.
pub(in crate::wire::schema) fn tag_values<'a>(schema: &'a Value, key: &str) -> Option<Vec<&'a str>> {
    let keywords = schema.as_object()?;
    let is_object = types(keywords) == Some(vec!["object"]);
    let is_required = strings(keywords.get("required")).any(|name| name == key);
    let property = members(keywords, "properties")?.get(key)?;
    let values = match (property.get("const"), property.get("enum")) {
        (Some(value), _) => vec![value.as_str()?],
        (None, Some(Value::Array(values))) => values.iter().map(Value::as_str).collect::<Option<_>>()?,
        _ => return None,
    };
    (is_object && is_required).then_some(values)
}

fn has_other_types(one: &Value, two: &Value) -> bool {
    let named = |schema: &Value| -> Option<Vec<String>> {
        Some(types(schema.as_object()?)?.into_iter().map(|name| name.replace("integer", "number")).collect())
    };
    match (named(one), named(two)) {
        (Some(one), Some(two)) => one.iter().all(|name| !two.contains(name)),
        _ => false,
    }
}
