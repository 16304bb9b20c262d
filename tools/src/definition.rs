//! Definitions that come from elsewhere: what can be wrong with them, and reading them from a file.

use std::path::{Path, PathBuf};

use protocol::{InvalidName, InvalidTemplate, Tool};

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

/// Why a file of definitions cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file cannot be read.
    #[error("cannot read tool definitions from {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file holds something else.
    #[error("{} does not hold tool definitions: {source}; write one object or an array of them", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// What the JSON reader said.
        source: serde_json::Error,
    },
}

/// Reads tool definitions, one object or an array of them, from a JSON file. Register each with its handler.
///
/// # Errors
/// [`LoadError`] when the file cannot be read or holds something else.
pub fn load_definitions(path: impl AsRef<Path>) -> Result<Vec<Tool>, LoadError> {
    let path = path.as_ref();
    let text = std::fs::read_to_string(path).map_err(|source| LoadError::Io { path: path.into(), source })?;
    Tool::list_from_json(&text).map_err(|source| LoadError::Json { path: path.into(), source })
}
