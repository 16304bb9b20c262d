//! The faults of a linked tool's definition.

use protocol::{InvalidName, InvalidTemplate};

/// Why a linked tool's definition cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DefinitionError {
    /// The name is none.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// A target template is none.
    #[error(transparent)]
    Template(#[from] InvalidTemplate),
    /// The schema of the arguments is not one of an object with properties.
    #[error("the arguments of {tool} are not an object; take a struct with named fields as #[args]")]
    NotAnObject {
        /// The tool.
        tool: String,
    },
    /// A field of an args struct without a description.
    #[error("the argument `{field}` of {tool} has no description; write a doc comment on the field")]
    Undocumented {
        /// The tool.
        tool: String,
        /// The field.
        field: String,
    },
    /// An args struct that takes fields it does not have, so that a model's typo in an optional one would go unseen.
    #[error("the arguments of {tool} are not closed; put #[serde(deny_unknown_fields)] on the struct")]
    Open {
        /// The tool.
        tool: String,
    },
    /// The builder looked at a linked tool, maybe at the very one that it builds.
    #[error("a definition may not look at the catalog while it is built; look when the tool runs")]
    Circular,
    /// The builder panicked.
    #[error("building the definition panicked: {message}; mend the function that builds it")]
    Panicked {
        /// What the panic said.
        message: String,
    },
}
