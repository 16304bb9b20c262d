//! [`Tool`]: the definition of a tool.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::digest::Digest;
use crate::effects::Effects;
use crate::example::Example;
use crate::json::canonical::canonical_json;
use crate::limits::Limits;
use crate::name::{InvalidName, ToolName};

/// The definition of a tool: its name, description, parameters and effects. The only definition type of the workspace.
///
/// A tool with only `name`, `description` and `parameters` serializes to exactly these three fields.
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
#[must_use]
pub struct Tool {
    /// The name, unique within a catalog.
    pub name: ToolName,
    /// The former names. Calls and rules with one of them mean this tool; no definition on a wire has them.
    ///
    /// A host that registers definitions of another party, such as a remote server, clears this field. A definition could otherwise name
    /// itself after a name that the host's rules allow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub was: Vec<ToolName>,
    /// The description by which a model chooses the tool.
    pub description: String,
    /// The JSON Schema of the arguments, which are always an object. Draft 2020-12 unless `$schema` names another.
    pub parameters: Value,
    /// A display name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Pictures for user interfaces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// The hints of another party about the behaviour of its tool, as MCP's `ToolAnnotations`. They are shown and passed on, and decide
    /// nothing: permissions follow from `effects`. Absent for other tools, whose hints [follow from their effects](Effects::annotations).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Map<String, Value>>,
    /// The JSON Schema of the structured result.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "crate::example::present"
    )]
    pub output: Option<Value>,
    /// The targets that a call touches. An absent field means undeclared effects, which count as an open-world write.
    #[serde(default, skip_serializing_if = "Effects::is_undeclared")]
    pub effects: Effects,
    /// Example calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Example>,
    /// The limits of its calls.
    #[serde(default, skip_serializing_if = "Limits::is_empty")]
    pub limits: Limits,
    /// True if calls belong in an audit log even if other tools' calls do not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub audit: bool,
    /// Labels by which a selection can include the tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

impl Tool {
    /// Creates a definition with undeclared effects.
    ///
    /// # Errors
    /// Returns [`InvalidName`] if `name` is not a [`ToolName`]. Registration checks the schema and the description.
    pub fn new(
        name: impl AsRef<str>,
        description: impl Into<String>,
        parameters: Value,
    ) -> Result<Self, InvalidName> {
        Ok(Self {
            name: ToolName::new(name)?,
            was: Vec::new(),
            description: description.into(),
            parameters,
            title: None,
            icons: Vec::new(),
            annotations: None,
            output: None,
            effects: Effects::Undeclared,
            examples: Vec::new(),
            limits: Limits::default(),
            audit: false,
            tags: Vec::new(),
        })
    }

    /// Sets the former names.
    pub fn with_was(mut self, names: impl IntoIterator<Item = ToolName>) -> Self {
        self.was = names.into_iter().collect();
        self
    }

    /// Sets the display name.
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the schema of the structured result.
    pub fn with_output(mut self, schema: Value) -> Self {
        self.output = Some(schema);
        self
    }

    /// Sets the effects.
    pub fn with_effects(mut self, effects: Effects) -> Self {
        self.effects = effects;
        self
    }

    /// Adds an example.
    pub fn with_example(mut self, example: Example) -> Self {
        self.examples.push(example);
        self
    }

    /// Sets the limits of its calls.
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets whether its calls always belong in an audit log.
    pub fn with_audit(mut self, audit: bool) -> Self {
        self.audit = audit;
        self
    }

    /// Sets the labels.
    pub fn with_tags<S: Into<String>>(mut self, tags: impl IntoIterator<Item = S>) -> Self {
        self.tags = tags.into_iter().map(Into::into).collect();
        self
    }

    /// Returns the SHA-256 of the definition in [canonical form](canonical_json). It does not depend on the order of keys in the
    /// schemas.
    pub fn digest(&self) -> Digest {
        // A definition holds only strings, numbers and JSON values, so serialization cannot fail.
        let value = serde_json::to_value(self).unwrap_or_default();
        Digest::hash_bytes(canonical_json(&value).as_bytes())
    }
}

/// A picture that a user interface may show beside a tool, as MCP's `Icon` (revision 2025-11-25). Toolcrib never loads it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Icon {
    /// The address of the picture: an `https` or a `data` URI.
    pub src: String,
    /// The media type of the picture, if it differs from the one that its server tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The sizes in which it can be shown, each as width and height in pixels such as `48x48`, or `any`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Vec<String>>,
    /// The background that it is made for: `light` or `dark`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theme: Option<String>,
}
