//! [`RegisterError`]: why a tool is not taken into a catalog.

use protocol::{EffectsError, InvalidName, ToolName};

use crate::{DefinitionError, SchemaError, Source, Violation};

/// Why a tool is not taken into a catalog. A refused registration changes nothing.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The name is empty or has characters that are not allowed.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// The name is taken.
    #[error(
        "{name} exists: it was declared by {} and is declared again by {refused}; \
         register the new one as {free}, or replace the old one",
        Source::listed(existing)
    )]
    Exists {
        /// The name.
        name: ToolName,
        /// Where the tool that holds the name was declared; several places where they conflict.
        existing: Vec<Source>,
        /// Where the refused one was declared.
        refused: Box<Source>,
        /// A name that is free.
        free: ToolName,
    },
    /// The description is empty or blank.
    #[error("{name} has no description; say what it does, for the model that chooses it")]
    Description {
        /// The tool.
        name: ToolName,
    },
    /// A schema is invalid, unsupported, or costs too much.
    #[error("the {part} schema of {name} cannot be used: {source}")]
    Schema {
        /// The tool.
        name: ToolName,
        /// Which one: `parameters` or `output`.
        part: &'static str,
        /// What is wrong with it.
        source: SchemaError,
    },
    /// The effects do not fit the schema.
    #[error("the effects of {name} cannot be used: {source}")]
    Effects {
        /// The tool.
        name: ToolName,
        /// What is wrong with them.
        source: Box<EffectsError>,
    },
    /// A limit that no call could keep.
    #[error("the limits of {name} cannot be used: {reason}")]
    Limits {
        /// The tool.
        name: ToolName,
        /// What is wrong with them, and what to write.
        reason: String,
    },
    /// A target that has a secret in it.
    #[error(
        "{name} would show the secret `{field}` in its targets: {template:?} names it, and targets are shown and kept; \
         name what the call touches by another argument"
    )]
    SecretTarget {
        /// The tool.
        name: ToolName,
        /// The template.
        template: String,
        /// The argument.
        field: String,
    },
    /// An example that the tool's own schema rejects. [`Entry::verify`](crate::Entry::verify) and
    /// [`problems`](crate::Catalog::problems) find it; registration does not look.
    #[error("example {} of {name} does not validate: {}", index + 1, crate::tool_error::listed(violations))]
    Example {
        /// The tool.
        name: ToolName,
        /// Which example, from 0.
        index: usize,
        /// What is wrong with it.
        violations: Vec<Violation>,
    },
    /// A linked tool's definition cannot be built.
    #[error("{name} of {place} has no definition: {source}")]
    Definition {
        /// The name that was submitted.
        name: String,
        /// Where it was submitted.
        place: Box<Source>,
        /// What is wrong.
        source: DefinitionError,
    },
    /// A submission whose definition bears another name.
    #[error("{place} submits {submitted} and defines {defined}; use one name for both")]
    Renamed {
        /// The name in the submission.
        submitted: String,
        /// The name in the definition.
        defined: ToolName,
        /// Where it was submitted.
        place: Box<Source>,
    },
}
