//! The keys of requests to providers: the tables `[timeouts]` and `[retries]`.

use std::time::Duration;

use agent::{RetryPolicy, Timeouts};

use host::declare_keys;
use host::settings::{Key, ProjectRule, SPENDS, Setting, duration, integer};

declare_keys! {
    /// The values of the keys about requests to providers.
    pub(crate) struct RequestKeys;

    /// The time from a request to the first byte of the answer
    pub(crate) first_byte: Setting<Duration> =
        Key::new("timeouts.first_byte", duration(), Setting::from_default(Timeouts::default().first_byte), "\"300s\"")
            .with_project(ProjectRule::never(SPENDS));

    /// The time between two bytes of a streamed answer
    pub(crate) idle: Setting<Duration> =
        Key::new("timeouts.idle", duration(), Setting::from_default(Timeouts::default().idle), "\"90s\"")
            .with_project(ProjectRule::never(SPENDS));

    /// The maximum number of retries of a provider request
    pub(crate) max_retries: Setting<u32> =
        Key::new("retries.max", integer::<0, _>(), Setting::from_default(default_retries()), "4")
            .with_project(ProjectRule::never(SPENDS));
}

fn default_retries() -> u32 {
    u32::try_from(RetryPolicy::default().max_retries).unwrap_or(u32::MAX)
}
