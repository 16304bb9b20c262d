//! [`Concern`]: a reason to ask about one call.

use protocol::Target;

/// A reason to ask about one call that its targets do not show, such as the text of a file that is new.
///
/// A person is asked about the target, whatever the grant and the rules say about it, and each time: no earlier answer holds for it.
/// Without an approver the call is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Concern {
    /// The target, which is one of the call's.
    pub target: Target,
    /// The reason, as a clause that can follow "because": `the file is new, and programs run it`.
    pub reason: String,
    /// The next step of a call that no person was asked about.
    pub remedy: String,
    pub(crate) is_lifted_by_name: bool,
}

impl Concern {
    /// Creates a concern about a target of the call.
    pub fn new(target: Target, reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            target,
            reason: reason.into(),
            remedy: remedy.into(),
            is_lifted_by_name: false,
        }
    }

    /// Drops the concern if each layer of the grant has a clause without wildcards for the target, or a rule allows it by such a
    /// clause.
    #[must_use]
    pub fn unless_named(mut self) -> Self {
        self.is_lifted_by_name = true;
        self
    }
}
