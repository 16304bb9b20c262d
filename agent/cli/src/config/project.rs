//! [`ProjectRule`]: whether the file of an untrusted project may set a key.

use super::origin::Origin;
use super::slot::Slot;

pub(super) const REDIRECTS: &str = "it decides where prompts and keys are sent";
pub(super) const EXPORTS: &str = "it decides what leaves this machine, and where to";
pub(super) const RUNS: &str = "it decides what programs reach";
pub(super) const INSTRUCTS: &str = "it decides what the model is told to do";
pub(super) const REACHES: &str = "it decides which machines tools reach, and with which secrets";
pub(super) const CONTRADICTS: &str = "the user's file or the program sets another value";
pub(super) const GRANTS: &str = "it grants more";
/// The label of a rule that accepts every value.
pub(super) const NARROWS: &str = "yes";
pub(super) const SPENDS: &str = "it can raise a limit";

/// Returns the origin of a project's value that the user's value does not permit.
type Refuses<S> = for<'a> fn(&'a S, &S) -> Option<&'a Origin>;

/// Decides whether the file of an untrusted project may set a key.
pub(super) struct ProjectRule<S> {
    /// The rule in a few words.
    pub(super) label: &'static str,
    /// The reason of a refusal.
    pub(super) reason: &'static str,
    /// Takes the project's value and the user's.
    pub(super) refuses: Refuses<S>,
}

impl<S> ProjectRule<S> {
    pub(super) fn new(label: &'static str, reason: &'static str, refuses: Refuses<S>) -> Self {
        Self { label, reason, refuses }
    }

    /// Sets the label of a rule that more checks follow.
    pub(super) fn labelled(self, label: &'static str) -> Self {
        Self { label, ..self }
    }

    /// Accepts every value, because each one only narrows.
    pub(super) fn narrows() -> Self {
        Self::new(NARROWS, GRANTS, |_, _| None)
    }
}

impl<S: Slot> ProjectRule<S> {
    pub(super) fn never(reason: &'static str) -> Self {
        Self::new("no", reason, |project, _| Some(&project.set()?.origin))
    }
}

impl<S: Slot<Value: PartialOrd>> ProjectRule<S> {
    /// Accepts a value if the user's file has none, or the same.
    pub(super) fn if_unset() -> Self {
        Self::new("if the user's file does not", CONTRADICTS, |project, user| {
            let (project, user) = (project.set()?, user.set()?);
            (project.value != user.value).then_some(&project.origin)
        })
    }

    /// Accepts only the value of the user's file.
    pub(super) fn same() -> Self {
        Self::new("only the user's value", REDIRECTS, |project, user| {
            let project = project.set()?;
            let is_same = user.set().is_some_and(|user| user.value == project.value);
            (!is_same).then_some(&project.origin)
        })
    }

    /// Accepts a value that is at most the user's, or any value if the user sets no limit.
    pub(super) fn bounds() -> Self {
        Self::new("only to lower it", SPENDS, |project, user| {
            let project = project.set()?;
            let is_higher = user.settings().iter().any(|user| project.value > user.value);
            is_higher.then_some(&project.origin)
        })
    }

    /// Accepts a value that is at most the user's or the default. Refuses every value if neither is set.
    pub(super) fn lower() -> Self {
        Self::new("only to lower it", SPENDS, |project, user| {
            let project = project.set()?;
            let is_lower = user.settings().iter().any(|user| project.value <= user.value);
            (!is_lower).then_some(&project.origin)
        })
    }
}
