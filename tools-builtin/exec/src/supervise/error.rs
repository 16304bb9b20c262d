//! Errors of this module.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

/// Why a program was not started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The host did not call [`enter`](crate::enter).
    #[error(
        "this program cannot run others, because its main does not begin with tools_exec::enter(); add that line"
    )]
    NotEntered,
    /// No supervisor exists for this operating system.
    #[error("programs can only be run on Linux")]
    Unsupported,
    /// The program does not exist, or the interpreter that its first line names.
    #[error("{} was not found; check its name and PATH", program.display())]
    NotFound {
        /// The program.
        program: OsString,
    },
    /// The program is not an executable file, or may not be executed.
    #[error("{} cannot be executed; check that it is a program and its permissions", program.display())]
    NotExecutable {
        /// The program.
        program: OsString,
    },
    /// The working directory cannot be entered.
    #[error("{} is not a directory that can be entered; choose another working directory", cwd.display())]
    NoDirectory {
        /// The working directory.
        cwd: PathBuf,
    },
    /// The operating system refused to start the program.
    #[error("{} was not started: {source}", program.display())]
    Refused {
        /// The program.
        program: OsString,
        /// The answer of the operating system.
        source: io::Error,
    },
    /// No pipe or pseudo-terminal could be opened.
    #[error("no streams for the program: {0}")]
    Streams(#[source] io::Error),
    /// The supervisor could not be started or ended early.
    #[error("no supervisor for the program: {0}")]
    Supervisor(#[source] io::Error),
}

/// The supervisor of a program died, so nobody knows how the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the supervisor of the program was killed{}", consequence(.may_remain))]
#[non_exhaustive]
pub struct SupervisorLost {
    /// True if nothing else ends the processes of the program.
    pub may_remain: bool,
}

fn consequence(may_remain: &bool) -> &'static str {
    if *may_remain {
        "; processes of the program may remain, look for them"
    } else {
        ", which ends the program"
    }
}

/// Why bytes were not written to a program.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StdinError {
    /// The program has ended, has closed its standard input, or it was closed before.
    #[error("the standard input of the program is closed; nothing more can be written to it")]
    Closed,
    /// Writing failed.
    #[error("writing to the program failed: {0}")]
    Io(#[source] io::Error),
}
