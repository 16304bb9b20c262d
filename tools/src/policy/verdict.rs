//! [`Verdict`]: allow, ask or deny.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The decision of a rule about a call, ordered by strictness. Of several verdicts the greatest holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The call runs if it is granted.
    Allow,
    /// The call needs approval.
    Ask,
    /// The call is refused.
    Deny,
}

/// Writes `allow`, `ask` or `deny`.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}
