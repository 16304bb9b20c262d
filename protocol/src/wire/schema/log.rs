//! [`Log`]: the changes made so far.

use super::change::{Change, Fidelity, Rule};

/// The changes made so far, and the place of the next ones.
#[derive(Debug, Default)]
pub(super) struct Log {
    changes: Vec<Change>,
    pointer: String,
}

/// A position in a [`Log`].
#[derive(Clone, Copy)]
pub(super) struct Mark(usize);

impl Log {
    pub(super) fn exact(&mut self, rule: Rule) {
        self.push(rule, Fidelity::Exact);
    }

    pub(super) fn loosened(&mut self, rule: Rule) {
        self.push(rule, Fidelity::Loosened);
    }

    pub(super) fn push(&mut self, rule: Rule, fidelity: Fidelity) {
        self.changes.push(Change { pointer: self.pointer.clone(), rule, fidelity });
    }

    /// Sets the place of the next changes. Returns the previous place.
    pub(super) fn enter(&mut self, pointer: String) -> String {
        std::mem::replace(&mut self.pointer, pointer)
    }

    pub(super) fn pointer(&self) -> &str {
        &self.pointer
    }

    pub(super) fn mark(&self) -> Mark {
        Mark(self.changes.len())
    }

    /// Returns true if a change since the mark accepts more.
    pub(super) fn is_loosened_since(&self, mark: Mark) -> bool {
        self.changes[mark.0..].iter().any(|change| change.fidelity == Fidelity::Loosened)
    }

    /// Forgets the changes since the mark.
    pub(super) fn forget_since(&mut self, mark: Mark) {
        self.changes.truncate(mark.0);
    }

    /// Returns the changes in the order of their places, each once.
    pub(super) fn finish(mut self) -> Vec<Change> {
        self.changes.sort();
        self.changes.dedup();
        self.changes
    }
}
