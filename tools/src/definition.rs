//! [`DefinitionError`]: the faults of a linked tool's definition.

use protocol::{InvalidName, InvalidTemplate};

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
