//! The export of traces: how the family joins a program.

use host::{Extension, Parts, Trace, inventory};
use tools::source;

use crate::export::Export;
use crate::settings::TelemetryKeys;

inventory::submit! {
    Extension::new("telemetry", source!(), Parts {
        keys: || vec![Box::new(TelemetryKeys::default())],
        host: |settings, host| {
            Ok(host.with_recorded_content(settings.of::<TelemetryKeys>().content.value))
        },
        trace: |settings| Some(Box::new(Export::start(settings)?) as Trace),
        ..Parts::NONE
    })
}
