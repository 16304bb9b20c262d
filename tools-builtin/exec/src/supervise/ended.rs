//! [`Ended`]: how a program ended.

use serde::{Deserialize, Serialize};

/// The end of a program and of its descendants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ended {
    /// How the program itself ended.
    pub exit: Exit,
    /// The number of processes that could not be killed, because they belong to another user or wait in the kernel for a
    /// device. Usually 0. Their supervisor keeps trying.
    pub remaining: u32,
}

/// The exit status of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Exit {
    /// The program ended with this code.
    Code(i32),
    /// A signal ended the program. After `stop` that is 9, `SIGKILL`.
    Signal(i32),
    /// The program has not ended: it is among the processes that could not be killed.
    Unknown,
}
