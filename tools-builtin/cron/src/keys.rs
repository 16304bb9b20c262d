//! The keys of jobs: the table `[cron]`.

use host::declare_keys;
use host::settings::{Key, ProjectRule, Setting, integer};

use crate::jobs::MAX_JOBS;

/// The reason why no project sets the limit.
const SIZE: &str = "it decides how many jobs of yours are kept";

declare_keys! {
    /// The keys of jobs.
    pub struct JobKeys;

    /// The maximum number of jobs of a workspace
    pub max_jobs: Setting<u32> = Key::new("cron.max_jobs", integer::<1, _>(), Setting::from_default(MAX_JOBS), "10000")
        .with_project(ProjectRule::never(SIZE));
}
