//! [`Remembered`]: the approvals that hold for a session.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard};

use tools::policy::{Reason, Ruling};
use tools::{Approval, Basis, Digest, IgnorePoison as _, Target};

use super::ApprovalKey;

/// Approvals that hold for later calls of a tool on the same targets, each with the content that it was given for.
#[derive(Default)]
pub(super) struct Remembered(Mutex<HashMap<ConsentKey, HashSet<Basis>>>);

/// The approvals that are remembered for the targets of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    /// At least one target has none.
    Missing,
    /// They hold for each call.
    Holds,
    /// They hold for calls of the same content.
    Bound,
}

/// A remembered approval: of one tool definition, on one target (`None` for a call without targets).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ConsentKey {
    session: Option<String>,
    /// The run, if the approval holds for it alone.
    run: Option<ApprovalKey>,
    principal: Option<String>,
    domain: String,
    depth: u32,
    /// The path of the sub-agent that makes the call, or `None` for the session itself.
    agent: Option<String>,
    tool_digest: Digest,
    target: Option<Target>,
    /// True if the grant covers the target, or if there is none. The question shows it.
    is_granted: bool,
    /// True if the call asks about the target only because no grant names its host.
    is_only_unnamed: bool,
}

impl Remembered {
    /// Returns the earlier approvals, of the run if there is one, for the targets of the call. There are none for a call with a concern.
    pub(super) fn recall(&self, approval: &Approval<'_>, run: Option<ApprovalKey>) -> Memory {
        let keys = keys(approval, run);
        let allowed = self.lock();
        // A concern is about this one call, such as the text of its URL.
        if !approval.concerns.is_empty() || keys.iter().any(|key| !allowed.contains_key(key)) {
            return Memory::Missing;
        }
        let mut asked = keys.iter();
        let holds = asked.all(|key| allowed[key].contains(&Basis::Arguments));
        if holds { Memory::Holds } else { Memory::Bound }
    }

    /// Returns true if earlier approvals cover each target of the call, whose effect depends on this content.
    pub(super) fn covers(
        &self,
        approval: &Approval<'_>,
        run: Option<ApprovalKey>,
        basis: Basis,
    ) -> bool {
        let allowed = self.lock();
        keys(approval, run)
            .iter()
            .all(|key| allowed.get(key).is_some_and(|bases| bases.contains(&basis)))
    }

    /// Remembers the approval of a call, for the run if there is one, and for this content.
    pub(super) fn add(&self, approval: &Approval<'_>, run: Option<ApprovalKey>, basis: Basis) {
        let mut allowed = self.lock();
        for key in keys(approval, run) {
            allowed.entry(key).or_default().insert(basis);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ConsentKey, HashSet<Basis>>> {
        self.0.lock().ignore_poison()
    }
}

/// Returns true if the only reason to ask is that neither the grant nor a rule names the host.
pub(super) fn is_only_unnamed(ruling: &Ruling<'_>) -> bool {
    ruling.reasons() == [Reason::UnnamedHost]
}

/// Returns the approvals that a call needs, at least one.
fn keys(approval: &Approval<'_>, run: Option<ApprovalKey>) -> Vec<ConsentKey> {
    let cx = approval.cx;
    let keys = approval.rulings().map(|ruling| ConsentKey {
        session: cx.session().map(str::to_owned),
        run,
        principal: cx.principal().map(str::to_owned),
        domain: ruling
            .target
            .map(|target| cx.domain(target.scheme()).to_owned())
            .unwrap_or_default(),
        depth: cx.depth(),
        agent: cx.agent().map(str::to_owned),
        tool_digest: approval.tool_digest,
        target: ruling.target.cloned(),
        is_granted: ruling
            .target
            .is_none_or(|target| cx.grant().permits(target)),
        is_only_unnamed: is_only_unnamed(&ruling),
    });
    keys.collect()
}
