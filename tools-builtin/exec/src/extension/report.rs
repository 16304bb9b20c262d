//! The part of `doctor` on programs.

use host::settings::Settings;
use host::{FamilyReport, Finding};

use super::aside;
use crate::walls::Layers;

/// Returns the walls of this machine and the files that lie aside, and the fault of the walls.
pub(super) fn report(settings: &Settings) -> FamilyReport {
    let layers = Layers::probe();
    let walls = layers.to_string();
    let concern = layers.bubblewrap.concern();
    FamilyReport {
        lines: walls
            .lines()
            .map(str::to_owned)
            .chain(aside::report(settings.root()))
            .collect(),
        findings: concern
            .map(|concern| Finding::new("programs", concern))
            .into_iter()
            .collect(),
        ..FamilyReport::default()
    }
}
