//! [`ProjectRule`]: whether the file of an untrusted project may set a key.

use super::origin::Origin;
use super::slot::Slot;

/// The reason for refusing a key that decides where prompts and keys go.
pub const REDIRECTS: &str = "it decides where prompts and keys are sent";
/// The reason for refusing a key that decides what leaves the machine.
pub const EXPORTS: &str = "it decides what leaves this machine, and where to";
/// The reason for refusing a key that decides what programs reach.
pub const RUNS: &str = "it decides what programs reach";
/// The reason for refusing a key that decides what the model is told.
pub const INSTRUCTS: &str = "it decides what the model is told to do";
/// The reason for refusing a key that decides which machines tools reach.
pub const REACHES: &str = "it decides which machines tools reach, and with which secrets";
/// The reason for refusing another value than the user's.
pub const CONTRADICTS: &str = "the user's file or the program sets another value";
/// The reason for refusing more than the user grants.
pub const GRANTS: &str = "it grants more";
/// The label of a rule that accepts every value.
pub const NARROWS: &str = "yes";
/// The reason for refusing a higher limit.
pub const SPENDS: &str = "it can raise a limit";

/// Returns the origin of a project's value that the user's value does not permit.
type Refuses<S> = for<'a> fn(&'a S, &S) -> Option<&'a Origin>;

/// Decides whether the file of an untrusted project may set a key.
pub struct ProjectRule<S> {
    /// The rule in a few words.
    pub label: &'static str,
    /// The reason of a refusal.
    pub reason: &'static str,
    /// Takes the project's value and the user's.
    pub refuses: Refuses<S>,
}

impl<S> ProjectRule<S> {
    /// Creates a rule from its label, the reason of a refusal, and the check of the project's slot and the user's.
    pub fn new(label: &'static str, reason: &'static str, refuses: Refuses<S>) -> Self {
        Self {
            label,
            reason,
            refuses,
        }
    }

    /// Accepts every value, because each one only narrows.
    pub fn narrows() -> Self {
        Self::new(NARROWS, GRANTS, |_, _| None)
    }
}

impl<S: Slot> ProjectRule<S> {
    /// Accepts no value.
    pub fn never(reason: &'static str) -> Self {
        Self::new("no", reason, |project, _| Some(&project.set()?.origin))
    }
}

impl<S: Slot<Value: PartialOrd>> ProjectRule<S> {
    /// Accepts a value if the user's file has none, or the same.
    pub fn if_unset() -> Self {
        Self::new(
            "if the user's file does not",
            CONTRADICTS,
            |project, user| {
                let project = project.set()?;
                let user = user.set()?;
                (project.value != user.value).then_some(&project.origin)
            },
        )
    }

    /// Accepts only the value of the user's file.
    pub fn same() -> Self {
        Self::new("only the user's value", REDIRECTS, |project, user| {
            let project = project.set()?;
            let is_same = user.set().is_some_and(|user| user.value == project.value);
            (!is_same).then_some(&project.origin)
        })
    }

    /// Accepts a value that is at most the user's, or any value if the user sets no limit.
    pub fn bounds() -> Self {
        Self::new("only to lower it", SPENDS, |project, user| {
            let project = project.set()?;
            let mut limits = user.settings().iter();
            let is_higher = limits.any(|user| project.value > user.value);
            is_higher.then_some(&project.origin)
        })
    }

    /// Accepts a value that is at most the user's or the default. Refuses every value if neither is set.
    pub fn lower() -> Self {
        Self::new("only to lower it", SPENDS, |project, user| {
            let project = project.set()?;
            let mut limits = user.settings().iter();
            let is_lower = limits.any(|user| project.value <= user.value);
            (!is_lower).then_some(&project.origin)
        })
    }
}
