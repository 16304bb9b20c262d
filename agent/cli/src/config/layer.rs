//! [`Layer`]: what one file, or the command line, says.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use agent::{KeySource, RetryPolicy, Timeouts};
use tools::Clause;
use tools::policy::Rule;

use super::origin::{Origin, Setting};

/// What one place says. Whatever it leaves out is left to the places below it.
#[derive(Debug, Default)]
pub(crate) struct Layer {
    pub(crate) provider: Option<Setting<String>>,
    pub(crate) model: Option<Setting<String>>,
    pub(crate) base_url: Option<Setting<String>>,
    pub(crate) key: Option<Setting<KeySource>>,
    pub(crate) streaming: Option<Setting<bool>>,
    pub(crate) profile: Option<Setting<String>>,
    pub(crate) bounds: Bounds,
    pub(crate) waiting: Waiting,
    /// Rules about calls.
    pub(crate) policy: Vec<Setting<Rule>>,
    /// By name.
    pub(crate) profiles: BTreeMap<String, Setting<Bounds>>,
    /// Directories in which a project file may say everything. Only the user's file has them.
    pub(crate) trusted: Vec<Setting<PathBuf>>,
}

/// What a session may use and touch, and how much of it. A profile is a name for some.
#[derive(Debug, Default)]
pub(crate) struct Bounds {
    pub(crate) select: Option<Setting<Vec<String>>>,
    pub(crate) default_grants: Option<Setting<bool>>,
    pub(crate) grants: Vec<Setting<Clause>>,
    pub(crate) within: Option<Setting<Vec<Clause>>>,
    pub(crate) max_steps: Option<Setting<u32>>,
    pub(crate) call_timeout: Option<Setting<Duration>>,
}

/// How long a service may take, and how often it is asked again.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    /// In the order of [`WAITS`].
    pub(crate) waits: [Option<Setting<Duration>>; WAITS.len()],
    pub(crate) retries: Option<Setting<u32>>,
}

/// A duration of [`Timeouts`] or [`RetryPolicy`] by its key.
type Wait = (&'static str, fn(&mut (Timeouts, RetryPolicy)) -> &mut Duration);

/// Every duration that `[patience]` can have.
pub(crate) const WAITS: [Wait; 5] = [
    ("patience.connect", |(timeouts, _)| &mut timeouts.connect),
    ("patience.first_byte", |(timeouts, _)| &mut timeouts.first_byte),
    ("patience.idle", |(timeouts, _)| &mut timeouts.idle),
    ("patience.first_delay", |(_, policy)| &mut policy.first_delay),
    ("patience.longest_delay", |(_, policy)| &mut policy.longest_delay),
];

impl Waiting {
    /// Returns the first key that is set, and where.
    pub(super) fn first(&self) -> Option<(&'static str, &Origin)> {
        let retries = self.retries.as_ref().map(|retries| ("patience.retries", &retries.origin));
        let mut waits = WAITS.into_iter().zip(&self.waits);
        waits.find_map(|((key, _), wait)| Some((key, &wait.as_ref()?.origin))).or(retries)
    }
}
