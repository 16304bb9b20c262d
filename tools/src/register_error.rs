//! [`RegisterError`]: the errors of registration.

use protocol::{EffectsError, InvalidName, InvalidTemplate, ToolName};

use crate::schema::{SchemaError, Violation};
use crate::source::Source;

/// The error of a failed registration, which leaves the catalog unchanged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The name is empty or contains invalid characters.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// The name is taken.
    #[error(
        "{name} exists: it was declared by {} and is declared again by {refused}; \
         register the new tool as {free}, or replace the old one",
        Source::join(existing)
    )]
    Exists {
        /// The name.
        name: ToolName,
        /// The declaration of the existing tool, or several declarations if they conflict.
        existing: Vec<Source>,
        /// The declaration of the refused tool.
        refused: Box<Source>,
        /// A similar name that is free.
        free: ToolName,
    },
    /// A former name is taken.
    #[error(
        "{name} cannot keep its former name {was}, which is declared by {}; remove the former name, or the other tool",
        Source::join(existing)
    )]
    FormerName {
        /// The tool.
        name: ToolName,
        /// The former name.
        was: ToolName,
        /// The places that declare a tool with this name.
        existing: Vec<Source>,
    },
    /// The description is empty or blank.
    #[error("{name} has no description; say what it does, for the model that chooses it")]
    Description {
        /// The tool.
        name: ToolName,
    },
    /// A schema is invalid, unsupported or over budget.
    #[error("the {part} schema of {name} cannot be used: {source}")]
    Schema {
        /// The tool.
        name: ToolName,
        /// The schema: `parameters` or `output`.
        part: &'static str,
        /// The fault.
        source: SchemaError,
    },
    /// The effects do not fit the schema.
    #[error("the effects of {name} cannot be used: {source}")]
    Effects {
        /// The tool.
        name: ToolName,
        /// The fault.
        source: Box<EffectsError>,
    },
    /// No call could run within the limits.
    #[error("the limits of {name} cannot be used: {reason}")]
    Limits {
        /// The tool.
        name: ToolName,
        /// The fault, and a valid value.
        reason: String,
    },
    /// A target template contains a secret argument.
    #[error(
        "{name} would show the secret `{field}` in its targets: the template {template:?} contains it, and targets are shown \
         and stored; use another argument in the template"
    )]
    SecretTarget {
        /// The tool.
        name: ToolName,
        /// The template.
        template: String,
        /// The secret argument.
        field: String,
    },
    /// An example does not fit the tool's schema. Reported by [`Entry::verify`](crate::Entry::verify) and
    /// [`problems`](crate::Catalog::problems), not by registration.
    #[error("example {} of {name} does not validate: {}", index + 1, crate::join(violations, "; "))]
    Example {
        /// The tool.
        name: ToolName,
        /// The index of the example, from 0.
        index: usize,
        /// The faults.
        violations: Vec<Violation>,
    },
    /// A linked tool's definition cannot be built.
    #[error("{name} of {place} has no definition: {source}")]
    Definition {
        /// The submitted name.
        name: String,
        /// The place of the submission.
        place: Box<Source>,
        /// The fault.
        source: DefinitionError,
    },
    /// A submission and its definition have different names.
    #[error("{place} submits {submitted} and defines {defined}; use one name for both")]
    Renamed {
        /// The name in the submission.
        submitted: String,
        /// The name in the definition.
        defined: ToolName,
        /// The place of the submission.
        place: Box<Source>,
    },
}

/// The reason why a linked tool's definition cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DefinitionError {
    /// The name is invalid.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// A target template is invalid.
    #[error(transparent)]
    Template(#[from] InvalidTemplate),
    /// The arguments' schema does not describe an object with properties.
    #[error(
        "the arguments of {tool} are not an object; take a struct with named fields as #[args]"
    )]
    NotAnObject {
        /// The tool.
        tool: String,
    },
    /// A field of the argument struct has no description.
    #[error(
        "the argument `{field}` of {tool} has no description; write a doc comment on the field"
    )]
    Undocumented {
        /// The tool.
        tool: String,
        /// The field.
        field: String,
    },
    /// The argument struct accepts unknown fields, so a model's typo in an optional field would go unnoticed.
    #[error(
        "the arguments of {tool} accept unknown fields; put #[serde(deny_unknown_fields)] on the struct"
    )]
    Open {
        /// The tool.
        tool: String,
    },
    /// The builder resolved a linked tool, which would deadlock if that is the one it builds.
    #[error("a definition resolved a tool while it was built; resolve tools when this tool runs")]
    Circular,
    /// The builder panicked.
    #[error("building the definition panicked: {message}; fix the function that builds it")]
    Panicked {
        /// The message of the panic.
        message: String,
    },
}
