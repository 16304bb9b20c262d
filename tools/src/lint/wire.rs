//! The rule of wire formats.

use protocol::wire::{Format, Strictness};

use super::fault::{Fault, LintRule};
use crate::Entry;

/// Reports the formats in which a tool cannot be sent.
pub(super) fn check(entry: &Entry, faults: &mut Vec<Fault>) {
    for format in Format::ALL {
        if let Err(reason) = entry.wire(format, Strictness::Relaxed) {
            let message = format!("it cannot be sent as {format}: {reason}");
            faults.push(Fault::error(entry, LintRule::Wire, message));
        }
    }
}
