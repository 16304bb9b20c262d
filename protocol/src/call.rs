//! [`ToolCall`]: a request to run a tool.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use crate::json::Json;

/// A request to run a tool.
///
/// The name is the caller's text and not a [`ToolName`](crate::ToolName), because a model may request a tool that does not
/// exist.
#[derive(Clone, PartialEq, Deserialize)]
#[serde(from = "SerializedCall<String, Json>")]
pub struct ToolCall {
    /// The id that the result refers to, unique within one turn.
    pub id: String,
    /// The requested name.
    pub name: String,
    /// The arguments, as received.
    pub arguments: Json,
}

/// The JSON form of a call.
#[derive(Serialize, Deserialize)]
struct SerializedCall<T, J> {
    id: T,
    name: T,
    arguments: J,
    /// The arguments as text if they have integers beyond 64 bits, which JSON parsers round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exact: Option<String>,
}

impl Serialize for ToolCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // JSON parsers round such integers, and a resumed run must have the same arguments.
        let exact = self
            .arguments
            .extent()
            .has_big_integer
            .then(|| self.arguments.to_string());
        SerializedCall {
            id: &*self.id,
            name: &*self.name,
            arguments: &self.arguments,
            exact,
        }
        .serialize(serializer)
    }
}

impl From<SerializedCall<String, Json>> for ToolCall {
    fn from(
        SerializedCall {
            id,
            name,
            arguments,
            exact,
        }: SerializedCall<String, Json>,
    ) -> Self {
        let exact = exact.and_then(|text| Json::parse(text).ok());
        Self {
            id,
            name,
            arguments: exact.unwrap_or(arguments),
        }
    }
}

impl ToolCall {
    /// Creates a call.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: impl Into<Json>) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
        }
    }
}

/// Shows the names of the arguments without their values. Some may be secret, and only the tool knows which.
impl fmt::Debug for ToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self
            .arguments
            .node()
            .members()
            .map(|(name, _)| name)
            .collect();
        f.debug_struct("ToolCall")
            .field("id", &self.id)
            .field("name", &self.name)
            .field("arguments", &names)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Part;

    #[test]
    fn a_call_with_integers_of_any_length_survives_json() {
        for text in [
            r#"{"n":1}"#,
            r#"{"n":[18446744073709551617,-340282366920938463463374607431768211457]}"#,
        ] {
            let part = Part::ToolCall(ToolCall::new("a", "b", Json::parse(text).unwrap()));
            let json = serde_json::to_string(&part).unwrap();
            assert_eq!(serde_json::from_str::<Part>(&json).unwrap(), part, "{json}");
        }
    }
}
