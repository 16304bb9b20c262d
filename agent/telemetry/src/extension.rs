//! The export of traces: how the family joins a program.

use host::{Extension, Trace, inventory};
use tools::source;

use crate::export::Export;
use crate::settings::TelemetryKeys;

inventory::submit! {
    Extension::new("telemetry", source!())
        .with_keys(|| vec![Box::new(TelemetryKeys::default())])
        .with_host(|settings, host| {
            Ok(host.with_recorded_content(settings.of::<TelemetryKeys>().content.value))
        })
        .with_trace(|settings| Some(Box::new(Export::start(settings)?) as Trace))
}
