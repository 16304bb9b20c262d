//! [`Tool`]: the canonical definition that every crate consumes directly.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Digest, Effects, Example, InvalidName, Limits, ToolName, canonical_json};

/// The definition of a tool: what it is called, what it does, what it takes, and what it touches.
///
/// `name`, `description` and `parameters` are the canonical three; a tool with nothing else serialises to exactly those.
///
/// ```
/// use protocol::Tool;
/// use serde_json::json;
///
/// let tool = Tool::new("add", "Adds two integers.", json!({"type": "object"}))?;
/// assert_eq!(
///     serde_json::to_value(&tool)?,
///     json!({"name": "add", "description": "Adds two integers.", "parameters": {"type": "object"}}),
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// The name, unique within a catalog.
    pub name: ToolName,
    /// What the tool does, written for the model that chooses it.
    pub description: String,
    /// The JSON Schema of the arguments, always of an object (2020-12 unless `$schema` says otherwise).
    pub parameters: Value,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The JSON Schema of the structured result.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::present::present")]
    pub output: Option<Value>,
    /// What a call touches. Absent means undeclared, which is treated as an open-world write.
    #[serde(default, skip_serializing_if = "Effects::is_undeclared")]
    pub effects: Effects,
    /// Calls that show how the tool is used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Example>,
    /// Bounds on its calls.
    #[serde(default, skip_serializing_if = "Limits::is_empty")]
    pub limits: Limits,
    /// Whether its calls belong into an audit trail even where others do not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub audit: bool,
    /// Free labels that a selection can ask for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

impl Tool {
    /// A definition with the canonical three and undeclared effects.
    ///
    /// # Errors
    /// [`InvalidName`] when `name` is not a [`ToolName`]. The schema and the description are judged at registration.
    pub fn new(name: impl AsRef<str>, description: impl Into<String>, parameters: Value) -> Result<Self, InvalidName> {
        Ok(Self {
            name: ToolName::new(name)?,
            description: description.into(),
            parameters,
            title: None,
            output: None,
            effects: Effects::Undeclared,
            examples: Vec::new(),
            limits: Limits::default(),
            audit: false,
            tags: Vec::new(),
        })
    }

    /// Sets the name for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the schema of the structured result.
    #[must_use]
    pub fn with_output(mut self, schema: Value) -> Self {
        self.output = Some(schema);
        self
    }

    /// Declares what a call touches.
    #[must_use]
    pub fn with_effects(mut self, effects: Effects) -> Self {
        self.effects = effects;
        self
    }

    /// Adds an example.
    #[must_use]
    pub fn with_example(mut self, example: Example) -> Self {
        self.examples.push(example);
        self
    }

    /// Sets the bounds on its calls.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets whether its calls belong into an audit trail in any case.
    #[must_use]
    pub fn with_audit(mut self, audit: bool) -> Self {
        self.audit = audit;
        self
    }

    /// Sets the labels.
    #[must_use]
    pub fn with_tags<S: Into<String>>(mut self, tags: impl IntoIterator<Item = S>) -> Self {
        self.tags = tags.into_iter().map(Into::into).collect();
        self
    }

    /// The SHA-256 of the whole definition in canonical form: equal for equal definitions, whatever the order of keys in
    /// their schemas.
    pub fn digest(&self) -> Digest {
        // A definition holds strings, numbers and JSON values with string keys: nothing that can fail to serialise.
        let value = serde_json::to_value(self).unwrap_or_default();
        Digest::hash_bytes(canonical_json(&value).as_bytes())
    }
}
