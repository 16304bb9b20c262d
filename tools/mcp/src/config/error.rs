//! [`ConfigError`]: a file of servers, or a server in it, that cannot be used.

use std::io;
use std::path::PathBuf;

use tools::protocol::InvalidClause;
use tools::protocol::json::InvalidJson;

use crate::client::InvalidServerName;

/// A file of servers, or a server in it, that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}; check the file", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The fault.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("cannot write {}: {source}; check the permissions of its folder", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The fault.
        source: io::Error,
    },
    /// Another program has written the file meanwhile.
    #[error("{} was changed by another program; try again", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The file is not JSON.
    #[error("{}: {source}; JSON has neither comments nor commas after the last item", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// The fault.
        source: InvalidJson,
    },
    /// A value of the file is not usable.
    #[error("{}: {place}: {fault}", path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// The place in the file, such as `mcpServers.files.args[1]`.
        place: String,
        /// The fault.
        fault: Fault,
    },
}

/// The fault of a value in a file of servers.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The value has another type.
    #[error("expected {expected}")]
    Expected {
        /// The type.
        expected: &'static str,
    },
    /// The server has neither a command nor a URL.
    #[error("add a `command`, or a `url`")]
    Unreachable,
    /// The server has a command and a URL.
    #[error("remove `command` or `url`; a server has one of them")]
    Ambiguous,
    /// The server has an unsupported type.
    #[error("the type {found:?} is not supported; use \"stdio\" or \"http\"")]
    Transport {
        /// The type.
        found: String,
    },
    /// The field does not belong to the type of the server.
    #[error("remove it; it is for servers with a `{belongs}`")]
    Foreign {
        /// The field that goes with it.
        belongs: &'static str,
    },
    /// The name of the server is not usable.
    #[error(transparent)]
    Name(#[from] InvalidServerName),
    /// A reference to a variable is malformed.
    #[error("{text:?} is not a reference to a variable; write ${{NAME}} or ${{NAME:-default}}")]
    Reference {
        /// The reference.
        text: String,
    },
    /// A variable is not set.
    #[error("the variable {name} is not set; set it, or write ${{{name}:-default}}")]
    Unset {
        /// The variable.
        name: String,
    },
    /// The user has not listed the variable for a project's server.
    #[error(
        "this project's server may not have the variable {name}; add it with `mcp approve --variable {name}`"
    )]
    Unlisted {
        /// The variable.
        name: String,
    },
    /// The name of a variable is not usable.
    #[error("{name:?} is not the name of a variable; use letters, digits and `_`")]
    Variable {
        /// The name.
        name: String,
    },
    /// A clause of a grant is invalid.
    #[error(transparent)]
    Clause(#[from] InvalidClause),
    /// The field is not one of the user's decisions.
    #[error("there is no such field; the fields are {known}")]
    Field {
        /// The fields that there are.
        known: String,
    },
    /// The effects are malformed.
    #[error("{reason}")]
    Effects {
        /// The fault.
        reason: String,
    },
}
