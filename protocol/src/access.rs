//! [`Access`]: read, write or destroy.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The way a call accesses a target.
///
/// No access implies another: a grant to write does not let a tool read. Ordered by strictness: the access of a whole call is
/// the maximum over its targets.
///
/// ```
/// use protocol::Access;
///
/// assert_eq!("write".parse(), Ok(Access::Write));
/// assert_eq!([Access::Read, Access::Destroy, Access::Write].into_iter().max(), Some(Access::Destroy));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Reads the target without changing it.
    Read,
    /// Creates or changes the target.
    Write,
    /// Removes the target or changes it irreversibly.
    Destroy,
}

/// The error for a text other than `read`, `write` and `destroy`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not an access; write `read`, `write` or `destroy`")]
#[non_exhaustive]
pub struct UnknownAccess {
    /// The text as given, cut after 80 characters.
    pub text: String,
}

impl Access {
    /// Returns `read`, `write` or `destroy`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Destroy => "destroy",
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Access {
    type Err = UnknownAccess;

    fn from_str(text: &str) -> Result<Self, UnknownAccess> {
        match text {
            "read" => Ok(Self::Read),
            "write" => Ok(Self::Write),
            "destroy" => Ok(Self::Destroy),
            _ => Err(UnknownAccess {
                text: text.chars().take(80).collect(),
            }),
        }
    }
}
