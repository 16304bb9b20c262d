//! [`ConfigError`]: a file of servers, or a server in it, that cannot be used.

use std::io;
use std::path::PathBuf;

use tools::protocol::json::InvalidJson;

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
        /// The fault and its repair.
        fault: String,
    },
}
