//! [`TelemetryKeys`]: the table `[telemetry]`.

use host::declare_keys;
use host::settings::{EXPORTS, Key, ProjectRule, Setting, boolean, text, url};

declare_keys! {
    /// The keys of the table `[telemetry]`.
    pub(crate) struct TelemetryKeys;

    /// The URL of a collector that gets traces over OTLP; without it, the one of OTEL_EXPORTER_OTLP_ENDPOINT, if any
    pub(crate) endpoint: Option<Setting<String>> =
        Key::new("telemetry.endpoint", text(url), None, "\"http://localhost:4318\"")
            .with_project(ProjectRule::never(EXPORTS));

    /// Send prompts, answers, arguments and results with traces
    pub(crate) content: Setting<bool> =
        Key::new("telemetry.content", boolean(), Setting::from_default(false), "true")
            .with_project(ProjectRule::never(EXPORTS));
}
