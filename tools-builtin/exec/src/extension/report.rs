//! The part of `doctor` on programs.

use host::settings::Settings;
use host::{FamilyReport, Finding};

use super::aside;
use crate::walls::Layers;

/// Returns the walls of this machine and the files that lie aside, and the fault of the walls.
pub(super) fn report(settings: &Settings) -> FamilyReport {
    let layers = Layers::probe();
    let walls = layers.to_string();
    let lines = walls.lines().map(str::to_owned);
    let concern = layers.bubblewrap.concern().into_iter();
    let findings = concern.map(|concern| Finding::new("programs", concern));
    FamilyReport {
        lines: lines.chain(aside::report(settings.root())).collect(),
        findings: findings.collect(),
        ..FamilyReport::default()
    }
}
