//! [`Caution`]: whether somebody is asked before a call runs, where no rule says otherwise.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Access, Effects, Target};

/// What happens by default before something is touched. In the order of strictness: the caution of a call is the greatest of
/// those of its targets.
///
/// ```
/// use protocol::{Caution, Target};
///
/// assert_eq!("fs:read:a".parse::<Target>()?.caution(), Caution::Run);
/// assert_eq!("fs:write:a".parse::<Target>()?.caution(), Caution::Ask);
/// assert_eq!("fs:destroy:a".parse::<Target>()?.caution(), Caution::AlwaysAsk);
/// # Ok::<(), protocol::InvalidTarget>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Caution {
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
    pub fn caution(&self) -> Caution {
        if self.scheme() == Self::UNBOUNDED_SCHEME { Caution::AlwaysAsk } else { Caution::of(self.access()) }
    }
}

impl Effects {
    /// The caution of a call that touches all that is declared.
    pub fn caution(&self) -> Caution {
        match self {
            Self::Pure => Caution::Run,
            Self::Declared(declared) => {
                let greatest = declared.templates().map(|(access, template)| match template.scheme() {
                    Target::UNBOUNDED_SCHEME => Caution::AlwaysAsk,
                    _ => Caution::of(access),
                });
                greatest.max().unwrap_or(Caution::AlwaysAsk)
            }
            Self::Undeclared => Caution::AlwaysAsk,
        }
    }
}

impl Caution {
    fn of(access: Access) -> Self {
        match access {
            Access::Read => Self::Run,
            Access::Write => Self::Ask,
            Access::Destroy => Self::AlwaysAsk,
        }
    }
}

/// For people: `runs`, `asks` or `always asks`.
impl fmt::Display for Caution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Run => "runs",
            Self::Ask => "asks",
            Self::AlwaysAsk => "always asks",
        })
    }
}
