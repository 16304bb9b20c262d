//! [`ServerTool`]: the definition of a tool as its server sent it.

use std::fmt;
use std::sync::OnceLock;

use rmcp::model;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tools::{Digest, visible_text};

/// The fields that the text begins with.
const FIRST: [&str; 3] = ["name", "title", "description"];

/// The definition of a tool as its server sent it: name, title, description, schemas, annotations and icons. Other fields, such as
/// `_meta`, reach neither a model nor a person, so they are left out.
///
/// Two definitions are equal if their JSON has the same value: the order of keys, white space, escapes in strings and the spelling of
/// numbers do not matter, so `1`, `1.0` and `10e-1` are one number.
#[derive(Clone, Serialize, Deserialize)]
#[serde(from = "model::Tool")]
pub struct ServerTool {
    #[serde(flatten)]
    pub(super) tool: model::Tool,
    /// The digest, which is a third of the work of a process that begins with pinned definitions.
    #[serde(skip)]
    pub(crate) digest: OnceLock<Digest>,
}

impl PartialEq for ServerTool {
    fn eq(&self, other: &Self) -> bool {
        self.tool == other.tool
    }
}

impl From<model::Tool> for ServerTool {
    fn from(mut tool: model::Tool) -> Self {
        tool.meta = None;
        let digest = OnceLock::new();
        Self { tool, digest }
    }
}

impl ServerTool {
    /// Creates a definition from its JSON.
    ///
    /// # Errors
    /// Returns an error if the JSON is not the definition of an MCP tool.
    pub fn from_json(definition: Value) -> Result<Self, serde_json::Error> {
        serde_json::from_value(definition)
    }

    /// Returns the name that the server gives the tool.
    pub fn name(&self) -> &str {
        &self.tool.name
    }

    /// Returns the JSON.
    pub fn to_json(&self) -> Value {
        // A definition holds only strings, numbers and JSON values, so serialization cannot fail.
        serde_json::to_value(&self.tool).unwrap_or_default()
    }

    /// Returns the SHA-256 of the JSON in [canonical form](tools::protocol::canonical_json). Computed once, also for later clones.
    pub fn digest(&self) -> Digest {
        *self
            .digest
            .get_or_init(|| Digest::hash_json(&self.to_json()))
    }

    /// Returns the definition as lines of text for a person, with invisible characters escaped. Lines that are not indented are names of
    /// fields.
    pub fn to_text(&self) -> String {
        let Value::Object(mut fields) = self.to_json() else {
            return String::new();
        };
        let first = FIRST.iter().filter_map(|name| fields.remove_entry(*name));
        let first: Vec<_> = first.collect();
        let mut text = String::new();
        for (name, value) in first.into_iter().chain(sort_fields(fields)) {
            let shown = match value {
                Value::String(text) => text,
                value => serde_json::to_string_pretty(&value).unwrap_or_default(),
            };
            text += &format!("{name}:\n");
            for line in visible_text(&shown).lines() {
                text += &format!("  {line}\n");
            }
        }
        text
    }
}

impl fmt::Debug for ServerTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ServerTool").field(&self.to_json()).finish()
    }
}

/// Sorts the keys of all objects, whatever order the build keeps.
fn sort_fields(fields: Map<String, Value>) -> Vec<(String, Value)> {
    let mut fields: Vec<_> = fields
        .into_iter()
        .map(|(name, value)| (name, sorted_value(value)))
        .collect();
    fields.sort_by(|(one, _), (other, _)| one.cmp(other));
    fields
}

fn sorted_value(value: Value) -> Value {
    match value {
        Value::Object(fields) => sort_fields(fields).into_iter().collect(),
        Value::Array(items) => items.into_iter().map(sorted_value).collect(),
        other => other,
    }
}
