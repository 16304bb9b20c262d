//! A walk over all values inside of a schema.

use serde_json::Value;

/// Returns each value with its level of nesting. The schema itself comes first, at level 1. Does not recurse, because the nesting
/// of the schema is not bounded yet.
pub(super) fn values(schema: &Value) -> impl Iterator<Item = (&Value, usize)> {
    let mut pending = vec![(schema, 1)];
    std::iter::from_fn(move || {
        let (value, nesting) = pending.pop()?;
        match value {
            Value::Array(items) => pending.extend(items.iter().map(|item| (item, nesting + 1))),
            Value::Object(members) => {
                pending.extend(members.values().map(|member| (member, nesting + 1)))
            }
            _ => {}
        }
        Some((value, nesting))
    })
}
