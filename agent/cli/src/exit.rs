//! [`Exit`]: what the program tells its caller with one number.

use std::fmt::Write as _;
use std::process::ExitCode;

use tools::ErrorCode;

/// How the program ended. The numbers are part of its interface; `--help` and the README list them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    Success = 0,
    Failed = 1,
    Usage = 2,
    NotFound = 3,
    InvalidArguments = 4,
    Refused = 5,
    Timeout = 6,
    StepBudget = 7,
    Problems = 8,
    Internal = 9,
    Unavailable = 10,
    Cancelled = 130,
}

impl Exit {
    /// All of them by number, each with its meaning in a few words.
    pub(crate) const MEANINGS: [(Self, &str); 12] = [
        (Self::Success, "done"),
        (Self::Failed, "the tool or the run failed"),
        (Self::Usage, "the command line, toolcrib.toml, or a file or directory named there, cannot be used"),
        (Self::NotFound, "there is no tool or provider of that name"),
        (Self::InvalidArguments, "the arguments do not fit the tool"),
        (Self::Refused, "not granted, or denied when asked"),
        (Self::Timeout, "the time ran out"),
        (Self::StepBudget, "the step budget was used up before there was an answer"),
        (Self::Problems, "doctor or audit found problems"),
        (Self::Internal, "something in the program or its surroundings is broken"),
        (Self::Unavailable, "the tool cannot run here: a missing service, a name in conflict, or too many calls"),
        (Self::Cancelled, "cancelled (Ctrl-C)"),
    ];

    /// The table at the end of `--help`.
    pub(crate) fn table() -> String {
        let mut table = "Exit codes:".to_owned();
        for (exit, meaning) in Self::MEANINGS {
            let _ = write!(table, "\n  {:>3}  {meaning}", exit as u8);
        }
        table
    }
}

impl From<ErrorCode> for Exit {
    fn from(code: ErrorCode) -> Self {
        match code {
            ErrorCode::NotFound => Self::NotFound,
            ErrorCode::InvalidArguments => Self::InvalidArguments,
            ErrorCode::PermissionDenied | ErrorCode::Denied | ErrorCode::Unapproved => Self::Refused,
            ErrorCode::Conflict | ErrorCode::Unavailable | ErrorCode::Overloaded | ErrorCode::Replaced => {
                Self::Unavailable
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_has_the_same_table() {
        let readme = include_str!("../README.md");
        for (exit, meaning) in Exit::MEANINGS {
            let row = format!("| {} | {meaning} |", exit as u8);
            assert!(readme.contains(&row), "the README lacks the row {row}");
        }
    }
}
