//! [`Report`]: the outcome of importing a server's tools.

use tools::{RegisterError, ToolName};

/// The outcome of the latest list of a server's tools.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The registered tools, in the server's order.
    pub tools: Vec<ToolName>,
    /// The definitions that are not registered, in the server's order.
    pub refused: Vec<Refused>,
    /// What ended the list early, if something did, such as a limit. Tools after it are not imported.
    pub cut: Option<String>,
    /// Notes for the user, about definitions with invisible characters and of the host's [review](super::Import::review), such as a
    /// decision about a tool that the server does not have.
    pub notes: Vec<String>,
}

/// A definition that is not registered.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the tool {tool:?} cannot be imported: {refusal}")]
#[non_exhaustive]
pub struct Refused {
    /// The name that the server gives the tool, with invisible characters escaped.
    pub tool: String,
    /// The reason.
    pub refusal: Refusal,
}

/// The reason why a definition is not registered.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The definition is not that of an MCP tool.
    #[error("its definition is malformed: {reason}")]
    Malformed {
        /// The fault.
        reason: String,
    },
    /// The catalog refuses the tool.
    #[error(transparent)]
    Catalog(#[from] RegisterError),
    /// The host's [review](super::Import::review) refuses the tool.
    #[error("{reason}")]
    Review {
        /// The reason that the host gave.
        reason: String,
    },
    /// Two long names of the server have the same form for models.
    #[error(
        "models would call it {wire:?}, as another tool of the server; its server must rename it"
    )]
    WireName {
        /// The common form.
        wire: String,
    },
}
