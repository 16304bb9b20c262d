//! [`Exit`]: the program's exit codes.

use std::fmt::Write as _;
use std::process::ExitCode;

use tools::ErrorCode;

/// An exit code. The numbers are part of the interface; `--help` and the README list them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Success.
    Success = 0,
    /// The tool, the run or the check failed.
    Failed = 1,
    /// The command line, the settings or a file named there is not usable.
    Usage = 2,
    /// There is no such name.
    NotFound = 3,
    /// The arguments do not match the tool's schema.
    InvalidArguments = 4,
    /// Not granted or not approved.
    Refused = 5,
    /// A call passed its time limit.
    Timeout = 6,
    /// A limit of the run ended it.
    Budget = 7,
    /// A check found problems.
    Problems = 8,
    /// An internal error.
    Internal = 9,
    /// A tool or a server is unavailable.
    Unavailable = 10,
    /// Calls wait for an approval.
    Waiting = 11,
    /// Cancelled by a person.
    Cancelled = 130,
}

impl Exit {
    /// All exit codes in order, with their meanings.
    pub const MEANINGS: [(Self, &str); 13] = [
        (Self::Success, "success"),
        (
            Self::Failed,
            "the tool or the run failed, or lint or lock --check has findings",
        ),
        (
            Self::Usage,
            "the command line, the settings file, or a file or directory named there is not usable",
        ),
        (
            Self::NotFound,
            "no tool, provider or MCP server has this name",
        ),
        (
            Self::InvalidArguments,
            "the arguments do not match the tool's schema",
        ),
        (
            Self::Refused,
            "the call was not granted, or it or an MCP server not approved",
        ),
        (Self::Timeout, "a call passed its time limit"),
        (Self::Budget, "a limit of the run, such as --deadline"),
        (
            Self::Problems,
            "doctor or audit found problems, providers --check an unusable service, or lock unusable tools",
        ),
        (
            Self::Internal,
            "an internal error, or a failure of the output or the system",
        ),
        (
            Self::Unavailable,
            "the tool or MCP server is unavailable: a missing service, a name conflict, or too many calls",
        ),
        (
            Self::Waiting,
            "calls wait for an approval; run --resume continues with --approve or --deny",
        ),
        (Self::Cancelled, "cancelled (Ctrl-C, SIGTERM, SIGHUP)"),
    ];

    /// Returns the table at the end of `--help`.
    pub fn table() -> String {
        let mut table = "Exit codes:".to_owned();
        for (exit, meaning) in Self::MEANINGS {
            let _ = write!(table, "\n  {:>3}  {meaning}", exit as u8);
        }
        table
    }

    /// Returns this exit if a condition holds, and success otherwise.
    #[must_use]
    pub fn when(self, is_so: bool) -> Self {
        if is_so { self } else { Self::Success }
    }
}

impl From<ErrorCode> for Exit {
    fn from(code: ErrorCode) -> Self {
        match code {
            ErrorCode::NotFound => Self::NotFound,
            ErrorCode::InvalidArguments => Self::InvalidArguments,
            ErrorCode::PermissionDenied | ErrorCode::Denied | ErrorCode::Unapproved => {
                Self::Refused
            }
            ErrorCode::Conflict
            | ErrorCode::Unavailable
            | ErrorCode::Overloaded
            | ErrorCode::Replaced => Self::Unavailable,
            ErrorCode::Timeout => Self::Timeout,
            ErrorCode::Cancelled => Self::Cancelled,
            ErrorCode::Internal => Self::Internal,
            _ => Self::Failed,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
