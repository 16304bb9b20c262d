//! The backend of a program that exports no spans.

use crate::config::{ProgramSettings as _, Settings};
use crate::notice;

/// The running export. This program has none.
pub(crate) enum Telemetry {}

impl Telemetry {
    /// Warns if the settings ask for an export.
    pub(crate) fn start(settings: &Settings) -> Option<Self> {
        if settings.program().telemetry_endpoint.is_some() {
            notice::warning(
                "this program exports no traces; remove telemetry.endpoint, or build the program with its default features",
            );
        }
        None
    }
}
