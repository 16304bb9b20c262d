//! Authorize: the concrete targets of a call against the grant.

use protocol::{Grant, Target};

/// The targets that the grant does not cover.
pub(super) fn uncovered(grant: &Grant, mut targets: Vec<Target>) -> Vec<Target> {
    targets.retain(|target| !grant.permits(target));
    targets
}
