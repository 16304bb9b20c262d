//! [`ApprovalDefault`]: whether a call needs approval if no policy rule decides.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Access, Effects, Target};

/// The approval that a call needs if no policy rule decides. Ordered by strictness: the default of a call is the maximum over
/// its targets.
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
    /// The call runs without approval.
    Run,
    /// The call needs approval. One approval may cover later calls on the same targets.
    Ask,
    /// Each call needs its own approval, because it may destroy its target.
    AlwaysAsk,
}

impl Target {
    /// Returns the approval that this target needs: a read runs, a write asks, and a destruction always asks. A target of scheme
    /// `world` always asks, even for a read.
    pub fn approval_default(&self) -> ApprovalDefault {
        if self.scheme() == Self::UNBOUNDED_SCHEME {
            ApprovalDefault::AlwaysAsk
        } else {
            ApprovalDefault::for_access(self.access())
        }
    }
}

impl Effects {
    /// Returns the approval of a call that touches every declared target.
    pub fn approval_default(&self) -> ApprovalDefault {
        match self {
            Self::Pure => ApprovalDefault::Run,
            Self::Declared(declared) => {
                let greatest = declared.templates().map(|(access, template)| match template.scheme() {
                    Target::UNBOUNDED_SCHEME => ApprovalDefault::AlwaysAsk,
                    _ => ApprovalDefault::for_access(access),
                });
                greatest.max().unwrap_or(ApprovalDefault::AlwaysAsk)
            }
            Self::Undeclared => ApprovalDefault::AlwaysAsk,
        }
    }
}

impl ApprovalDefault {
    fn for_access(access: Access) -> Self {
        match access {
            Access::Read => Self::Run,
            Access::Write => Self::Ask,
            Access::Destroy => Self::AlwaysAsk,
        }
    }
}

/// Writes `runs`, `asks` or `always asks`.
impl fmt::Display for ApprovalDefault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Run => "runs",
            Self::Ask => "asks",
            Self::AlwaysAsk => "always asks",
        })
    }
}
