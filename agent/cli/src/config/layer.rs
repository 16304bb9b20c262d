//! [`Layer`]: what one file, or the command line, says.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use agent::KeySource;
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
    pub(crate) connect: Option<Setting<Duration>>,
    pub(crate) first_byte: Option<Setting<Duration>>,
    pub(crate) idle: Option<Setting<Duration>>,
    pub(crate) retries: Option<Setting<u32>>,
    pub(crate) first_delay: Option<Setting<Duration>>,
    pub(crate) longest_delay: Option<Setting<Duration>>,
}

impl Waiting {
    /// The first thing that it says, by its key.
    pub(super) fn first(&self) -> Option<(&'static str, &Origin)> {
        fn said<'a, T>(key: &'static str, setting: &'a Option<Setting<T>>) -> Option<(&'static str, &'a Origin)> {
            setting.as_ref().map(|setting| (key, &setting.origin))
        }
        said("patience.connect", &self.connect)
            .or_else(|| said("patience.first_byte", &self.first_byte))
            .or_else(|| said("patience.idle", &self.idle))
            .or_else(|| said("patience.retries", &self.retries))
            .or_else(|| said("patience.first_delay", &self.first_delay))
            .or_else(|| said("patience.longest_delay", &self.longest_delay))
    }
}
