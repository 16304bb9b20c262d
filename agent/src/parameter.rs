//! [`Parameter`]: a parameter of a tool, in words for a person.

use std::fmt;

use serde_json::Value;
use tools::schema::{AcceptedValues, accepted_values, describe_schema};

use tools::visible::visible;

/// A parameter of a tool. All texts are single lines in which [invisible](tools::protocol::is_invisible) characters are escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parameter {
    /// The name.
    pub name: String,
    /// The accepted values, such as `an integer or null`.
    pub values: String,
    /// The regular expression that an accepted string matches, or `None` if there is none.
    pub pattern: Option<String>,
    /// Required, or the default.
    pub presence: Presence,
    /// The description; empty if there is none.
    pub description: String,
}

/// The effect of leaving out a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Presence {
    /// The call is refused.
    Required,
    /// The tool uses this default, as JSON.
    Default(String),
    /// The tool runs without it.
    Optional,
}

/// Returns the parameters that a tool's schema describes, the required ones first, then in the order of the schema.
///
/// Without the feature `preserve_order` of `serde_json`, a schema keeps no order, and the parameters are ordered by name.
///
/// ```
/// use serde_json::json;
///
/// let schema = json!({
///     "properties": {"depth": {"type": "integer", "default": 1}, "path": {"type": "string", "description": "A path."}},
///     "required": ["path"],
/// });
/// let parameters = agent::parameters(&schema);
/// assert_eq!((&*parameters[0].name, &*parameters[0].description), ("path", "A path."));
/// assert_eq!(format!("{}, {}", parameters[1].values, parameters[1].presence), "an integer, default 1");
/// ```
pub fn parameters(schema: &Value) -> Vec<Parameter> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut properties: Vec<_> = properties.into_iter().flatten().collect();
    properties.sort_by_key(|(name, _)| !is_required(schema, name));
    let parameters = properties.into_iter().map(|(name, property)| {
        let description = property.get("description").and_then(Value::as_str);
        let description = description.unwrap_or_default();
        let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
        Parameter {
            name: visible(name).into_owned(),
            values: visible(&describe_schema(schema, property)).into_owned(),
            pattern: pattern(schema, property).map(|pattern| visible(pattern).into_owned()),
            presence: match property.get("default") {
                _ if is_required(schema, name) => Presence::Required,
                Some(default) => Presence::Default(visible(&default.to_string()).into_owned()),
                None => Presence::Optional,
            },
            description: visible(&description).into_owned(),
        }
    });
    parameters.collect()
}

/// Returns the pattern of the strings that a property accepts.
fn pattern<'a>(schema: &'a Value, property: &'a Value) -> Option<&'a str> {
    accepted_values(schema, property)?
        .into_iter()
        .find_map(|accepted| match accepted {
            AcceptedValues::Typed {
                name: "string",
                schema,
            } => schema.get("pattern")?.as_str(),
            _ => None,
        })
}

/// Returns true if the schema requires the parameter.
pub(crate) fn is_required(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|required| required == name))
}

/// Writes `required`, `default 1` or `optional`.
impl fmt::Display for Presence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Required => f.write_str("required"),
            Self::Default(default) => write!(f, "default {default}"),
            Self::Optional => f.write_str("optional"),
        }
    }
}
