//! [`ApprovalDefault`]: whether a call needs approval if no policy rule decides.

use serde::{Deserialize, Serialize};

use crate::access::Access;
use crate::effects::Effects;
use crate::target::Target;

/// The approval that a call needs if no policy rule decides. Ordered by strictness: the default of a call is the maximum over
/// its targets.
///
/// ```
/// use protocol::{ApprovalDefault, Target};
///
/// assert_eq!("fs:read:a".parse::<Target>()?.approval_default(), ApprovalDefault::Run);
/// assert_eq!("fs:write:a".parse::<Target>()?.approval_default(), ApprovalDefault::Ask);
/// assert_eq!("fs:destroy:a".parse::<Target>()?.approval_default(), ApprovalDefault::AlwaysAsk);
/// assert_eq!("cron:write:prompt".parse::<Target>()?.approval_default(), ApprovalDefault::AlwaysAsk);
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
    /// `world` always asks, even for a read, and so does a write of scheme `cron`, because a job runs later without a person.
    pub fn approval_default(&self) -> ApprovalDefault {
        ApprovalDefault::for_access(self.scheme(), self.access())
    }
}

impl Effects {
    /// Returns the approval of a call that touches every declared target.
    pub fn approval_default(&self) -> ApprovalDefault {
        match self {
            Self::Pure => ApprovalDefault::Run,
            Self::Declared(declared) => {
                let templates = declared.templates();
                let greatest = templates.map(|(access, template)| {
                    ApprovalDefault::for_access(template.scheme(), access)
                });
                greatest.max().unwrap_or(ApprovalDefault::AlwaysAsk)
            }
            Self::Undeclared => ApprovalDefault::AlwaysAsk,
        }
    }
}

impl ApprovalDefault {
    fn for_access(scheme: &str, access: Access) -> Self {
        match (scheme, access) {
            (Target::UNBOUNDED_SCHEME, _) | (Target::JOB_SCHEME, Access::Write) => Self::AlwaysAsk,
            (_, Access::Read) => Self::Run,
            (_, Access::Write) => Self::Ask,
            (_, Access::Destroy) => Self::AlwaysAsk,
        }
    }
}
