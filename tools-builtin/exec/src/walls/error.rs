//! Errors of the walls.

use std::io;
use std::path::PathBuf;

/// A reason why a program cannot be confined.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WallsError {
    /// This system has no sandbox.
    #[error("programs cannot be confined on {system}; run Toolcrib on Linux")]
    Unavailable {
        /// The operating system.
        system: &'static str,
    },
    /// The layers of this machine do not add up to a confinement.
    #[error(
        "programs cannot be confined on this machine: {missing}; install bubblewrap and allow user namespaces"
    )]
    NotConfinement {
        /// The layers that are missing, and why they are needed.
        missing: String,
    },
    /// Programs have no terminal without bubblewrap.
    #[error(
        "programs have no terminal without bubblewrap; start it without a terminal, or install bubblewrap"
    )]
    NoTerminal,
    /// A path is relative or contains `..`.
    #[error("the path {} is not absolute; give the full path", path.display())]
    NotAbsolute {
        /// The path.
        path: PathBuf,
    },
    /// A path leads through a symbolic link.
    #[error("the path {} leads to {}; grant that path instead", path.display(), real.display())]
    NotReal {
        /// The path.
        path: PathBuf,
        /// The file or folder that it leads to.
        real: PathBuf,
    },
    /// Bubblewrap takes no more arguments, of which each protected path needs three, and each folder around one.
    #[error(
        "{protected} files and folders that run or configure programs lie where the program may write, more than bubblewrap can protect; grant writes of fewer folders, or name these files in a clause, as fs:write:**/.envrc does"
    )]
    TooManyProtected {
        /// The number of protected paths.
        protected: usize,
    },
    /// A path, an argument or a variable cannot be passed on.
    #[error(
        "cannot describe the program to its sandbox: {0}; use only text without NUL characters"
    )]
    NotText(#[source] serde_json::Error),
    /// A path was replaced while it was checked.
    #[error("a path of the grant changed while it was checked: {0}; try again")]
    Moved(#[source] io::Error),
    /// The binary of this process cannot be found.
    #[error("cannot find the binary of this process: {0}; start it again if it was replaced")]
    NoHost(#[source] io::Error),
}
