//! [`ToolCall`]: what a model, or anybody else, asks for.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use crate::Json;

/// A request to run a tool.
///
/// The name is the asker's text and not a [`ToolName`](crate::ToolName): a model may ask for what does not exist, and is
/// then told so.
#[derive(Clone, PartialEq, Deserialize)]
#[serde(from = "Written<String, Json>")]
pub struct ToolCall {
    /// Ties the result to the call; unique within one turn.
    pub id: String,
    /// The name asked for.
    pub name: String,
    /// The arguments asked for, as they came.
    pub arguments: Json,
}

/// A call as it is written down.
#[derive(Serialize, Deserialize)]
struct Written<T, J> {
    id: T,
    name: T,
    arguments: J,
    /// The text of arguments with integers beyond 64 bits, which readers of JSON round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exact: Option<String>,
}

impl Serialize for ToolCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let exact = self.arguments.extent().has_big_integer.then(|| self.arguments.to_string());
        Written { id: &*self.id, name: &*self.name, arguments: &self.arguments, exact }.serialize(serializer)
    }
}

impl From<Written<String, Json>> for ToolCall {
    fn from(Written { id, name, arguments, exact }: Written<String, Json>) -> Self {
        let exact = exact.and_then(|text| Json::parse(text).ok());
        Self { id, name, arguments: exact.unwrap_or(arguments) }
    }
}

impl ToolCall {
    /// A call.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: impl Into<Json>) -> Self {
        Self { id: id.into(), name: name.into(), arguments: arguments.into() }
    }
}

/// With the names of the arguments and not their values: some may be secret, and which is known to their tool alone.
impl fmt::Debug for ToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.arguments.node().members().map(|(name, _)| name).collect();
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
    use crate::Part;

    #[test]
    fn a_call_with_integers_of_any_length_is_written_down_and_read_again() {
        for text in [r#"{"n":1}"#, r#"{"n":[18446744073709551617,-340282366920938463463374607431768211457]}"#] {
            let part = Part::ToolCall(ToolCall::new("a", "b", Json::parse(text).unwrap()));
            let written = serde_json::to_string(&part).unwrap();
            assert_eq!(serde_json::from_str::<Part>(&written).unwrap(), part, "{written}");
        }
    }
}
