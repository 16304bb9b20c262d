//! [`accepted_values`]: the kinds of values that a schema accepts.

use percent_encoding::percent_decode_str;
use serde_json::Value;

/// One kind of values that a schema accepts.
#[derive(Clone, Debug, PartialEq)]
pub enum AcceptedValues<'a> {
    /// The values of a `const` or an `enum`.
    Listed(Vec<&'a Value>),
    /// The values of a JSON type.
    Typed {
        /// The name of the type, such as `integer`.
        name: &'a str,
        /// The schema that names the type.
        schema: &'a Value,
    },
}

/// Returns the kinds of values that a schema inside of `root` accepts, in the order of the schema.
///
/// Resolves references and unions, and leaves out bounds. Returns `None` if the schema does not restrict the type.
pub fn accepted_values<'a>(root: &'a Value, schema: &'a Value) -> Option<Vec<AcceptedValues<'a>>> {
    within(root, schema, &mut { MOST_VISITS })
}

/// Returns a text without the percent escapes of a URI.
pub fn unescape(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// The most subschemas visited, because references can form cycles and unions can branch.
pub(super) const MOST_VISITS: usize = 256;

/// Returns the accepted values, or `None` if `visits` run out.
pub(super) fn within<'a>(
    root: &'a Value,
    schema: &'a Value,
    visits: &mut usize,
) -> Option<Vec<AcceptedValues<'a>>> {
    *visits = visits.checked_sub(1)?;
    let list = |key: &str| {
        schema
            .get(key)
            .and_then(Value::as_array)
            .filter(|list| !list.is_empty())
    };
    let typed = |name: &'a str| {
        let is_known = matches!(
            name,
            "array" | "boolean" | "integer" | "null" | "number" | "object" | "string"
        );
        is_known.then_some(AcceptedValues::Typed { name, schema })
    };
    let accepted: Vec<_> = match (schema.get("const"), list("enum"), schema.get("type")) {
        (Some(value), ..) => vec![AcceptedValues::Listed(vec![value])],
        (_, Some(values), _) => vec![AcceptedValues::Listed(values.iter().collect())],
        (.., Some(Value::Array(names))) => names
            .iter()
            .filter_map(|name| typed(name.as_str()?))
            .collect(),
        (.., Some(name)) => vec![typed(name.as_str()?)?],
        _ => {
            if let Some(place) = schema.get("$ref").and_then(Value::as_str) {
                within(
                    root,
                    root.pointer(&unescape(place.strip_prefix('#')?))?,
                    visits,
                )?
            } else if let Some(branches) = list("anyOf").or_else(|| list("oneOf")) {
                let branches: Option<Vec<_>> = branches
                    .iter()
                    .map(|branch| within(root, branch, visits))
                    .collect();
                branches?.into_iter().flatten().collect()
            } else if let Some(parts) = list("allOf") {
                // The first restricting part, because schemars wraps a described `$ref` in `allOf`.
                parts.iter().find_map(|part| within(root, part, visits))?
            } else {
                let implied = [("properties", "object"), ("items", "array")];
                vec![
                    implied
                        .into_iter()
                        .find_map(|(word, name)| schema.get(word).and(typed(name)))?,
                ]
            }
        }
    };
    (!accepted.is_empty()).then_some(accepted)
}
