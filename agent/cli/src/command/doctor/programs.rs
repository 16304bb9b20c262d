//! The walls of programs.

use host::Finding;

/// The lines on the confinement of programs, and its faults.
#[derive(Default)]
pub(super) struct Programs {
    pub(super) lines: Vec<String>,
    pub(super) findings: Vec<Finding>,
}

impl Programs {
    /// Asks this machine.
    #[cfg(feature = "builtin")]
    pub(super) fn probe() -> Self {
        let layers = tools_builtin::exec::walls::Layers::probe();
        let findings = layers
            .bubblewrap
            .concern()
            .map(|concern| Finding::new("programs", concern));
        Self {
            lines: layers.to_string().lines().map(str::to_owned).collect(),
            findings: findings.into_iter().collect(),
        }
    }

    #[cfg(not(feature = "builtin"))]
    pub(super) fn probe() -> Self {
        Self::default()
    }
}
