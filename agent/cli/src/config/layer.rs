//! [`Layer`]: the settings of one file or of the command line.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use agent::{KeySource, RetryPolicy, Timeouts};
use tools::Clause;
use tools::policy::Rule;

use super::origin::{Origin, Setting};

/// The settings of one file or of the command line. Unset fields leave the lower layers in effect.
#[derive(Debug, Default)]
pub(crate) struct Layer {
    pub(crate) provider: Option<Setting<String>>,
    pub(crate) model: Option<Setting<String>>,
    pub(crate) base_url: Option<Setting<String>>,
    pub(crate) key: Option<Setting<KeySource>>,
    pub(crate) streaming: Option<Setting<bool>>,
    pub(crate) profile: Option<Setting<String>>,
    pub(crate) bounds: Bounds,
    pub(crate) requests: RequestSettings,
    pub(crate) policy: Vec<Setting<Rule>>,
    pub(crate) profiles: BTreeMap<String, Setting<Bounds>>,
    /// Directories whose project files are trusted. Only the user's file may set them.
    pub(crate) trusted: Vec<Setting<PathBuf>>,
}

/// The tools, permissions and limits of a session. A profile is a named set of them.
#[derive(Debug, Default)]
pub(crate) struct Bounds {
    pub(crate) select: Option<Setting<Vec<String>>>,
    pub(crate) default_grants: Option<Setting<bool>>,
    pub(crate) grants: Vec<Setting<Clause>>,
    pub(crate) within: Option<Setting<Vec<Clause>>>,
    pub(crate) max_steps: Option<Setting<u32>>,
    pub(crate) call_timeout: Option<Setting<Duration>>,
}

/// The timeouts and retries of provider requests.
#[derive(Debug, Default)]
pub(crate) struct RequestSettings {
    /// The durations in the order of [`DURATIONS`].
    pub(crate) durations: [Option<Setting<Duration>>; DURATIONS.len()],
    /// The maximum number of retries.
    pub(crate) max_retries: Option<Setting<u32>>,
}

/// The key of a duration and its field in [`Timeouts`] or [`RetryPolicy`].
type DurationField = (&'static str, fn(&mut (Timeouts, RetryPolicy)) -> &mut Duration);

/// The durations of `[timeouts]` and `[retries]`.
pub(crate) const DURATIONS: [DurationField; 5] = [
    ("timeouts.connect", |(timeouts, _)| &mut timeouts.connect),
    ("timeouts.first_byte", |(timeouts, _)| &mut timeouts.first_byte),
    ("timeouts.idle", |(timeouts, _)| &mut timeouts.idle),
    ("retries.first_delay", |(_, retries)| &mut retries.first_delay),
    ("retries.longest_delay", |(_, retries)| &mut retries.longest_delay),
];

impl RequestSettings {
    /// Returns the first set key and its origin, or `None` if all are unset.
    pub(super) fn first(&self) -> Option<(&'static str, &Origin)> {
        let retries = self.max_retries.as_ref().map(|retries| ("retries.max", &retries.origin));
        let mut durations = DURATIONS.into_iter().zip(&self.durations);
        durations.find_map(|((key, _), setting)| Some((key, &setting.as_ref()?.origin))).or(retries)
    }
}
