//! The context of a preview.

use std::sync::Arc;

use protocol::{Clause, Grant};

use super::{NotInherited, ToolContext};

/// The clause that covers every read.
const READS: &str = "*:read:**";

impl ToolContext {
    /// Returns the grant of the call that a preview describes, so that it can show what the call may do. Its own
    /// [grant](Self::grant) is for reading only. Outside of a preview both are the same.
    pub fn previewed_grant(&self) -> &Grant {
        self.facts.previewed.as_deref().unwrap_or(self.grant())
    }

    /// Returns the caller's context for a preview: its grant for reading only, and no way to be noticed outside of it. There is no
    /// approver and no person, because a preview must not ask, and no journal and no progress sink, because a preview is no call.
    pub(crate) fn for_preview(&self) -> Self {
        // Without the clause the grant would be empty, which is safe.
        let reads = READS.parse::<Clause>().ok();
        self.clone().with(|facts| {
            facts.previewed = Some(facts.grant.clone());
            facts.grant = Arc::new(facts.grant.narrowed(reads));
            facts.approver = None;
            facts.person = None;
            facts.journal = None;
            facts.progress = None;
            facts.observer = NotInherited::default();
            facts.records_content = false;
        })
    }
}
