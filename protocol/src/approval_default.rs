//! [`ApprovalDefault`]: whether somebody is asked before a call runs, where no rule says otherwise.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Access, Effects, Target};

/// What happens by default before something is touched. In the order of strictness: the caution of a call is the greatest of
/// those of its targets.
///
/// ```
/// use protocol::{ApprovalDefault, Target};
///
/// assert_eq!("fs:read:a".parse::<Target>()?.approval_default(), ApprovalDefault::Run);
/// assert_eq!("fs:write:a".parse::<Target>()?.approval_default(), ApprovalDefault::Ask);
/// assert_eq!("fs:destroy:a".parse::<Target>()?.approval_default(), ApprovalDefault::AlwaysAsk);
/// # Ok::<(), protocol::InvalidTarget>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ApprovalDefault {
    /// It runs.
    Run,
    /// Somebody is asked. An answer may hold for later calls on the same targets.
    Ask,
    /// Somebody is asked about each call: it may destroy something.
    AlwaysAsk,
}

impl Target {
    /// Reading runs, writing asks, and destroying always asks; so does what may touch anything (scheme `world`), whatever
    /// it says that it does.
    pub fn approval_default(&self) -> ApprovalDefault {
        if self.scheme() == Self::UNBOUNDED_SCHEME {
            ApprovalDefault::AlwaysAsk
        } else {
            ApprovalDefault::of(self.access())
        }
    }
}

impl Effects {
    /// The caution of a call that touches all that is declared.
    pub fn approval_default(&self) -> ApprovalDefault {
        match self {
            Self::Pure => ApprovalDefault::Run,
            Self::Declared(declared) => {
                let greatest = declared.templates().map(|(access, template)| match template.scheme() {
                    Target::UNBOUNDED_SCHEME => ApprovalDefault::AlwaysAsk,
                    _ => ApprovalDefault::of(access),
                });
                greatest.max().unwrap_or(ApprovalDefault::AlwaysAsk)
            }
            Self::Undeclared => ApprovalDefault::AlwaysAsk,
        }
    }
}

impl ApprovalDefault {
    fn of(access: Access) -> Self {
        match access {
            Access::Read => Self::Run,
            Access::Write => Self::Ask,
            Access::Destroy => Self::AlwaysAsk,
        }
    }
}

/// For people: `runs`, `asks` or `always asks`.
impl fmt::Display for ApprovalDefault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Run => "runs",
            Self::Ask => "asks",
            Self::AlwaysAsk => "always asks",
        })
    }
}
