#![doc = include_str!("../README.md")]

mod client;
mod endpoint;
mod export;
mod exporter;
mod open_spans;
mod settings;

use host::{Extension, Parts, Trace, inventory};
use tools::source;

use crate::export::Export;
use crate::settings::TelemetryKeys;

inventory::submit! {
    Extension::new("telemetry", source!(), Parts {
        keys: || vec![Box::new(TelemetryKeys::default())],
        context: |settings, cx| {
            Ok(cx.with_recorded_content(settings.of::<TelemetryKeys>().content.value))
        },
        trace: |settings| Some(Box::new(Export::start(settings)?) as Trace),
        ..Parts::NONE
    })
}
