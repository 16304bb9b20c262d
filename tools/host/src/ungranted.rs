//! [`Ungranted`]: the refused targets that a hint is about.

use tools::{Grant, Target};

use crate::shell;

/// The flag that grants a target. A target that always asks needs another one, too.
pub const GRANT: &str = "--grant";

/// Refused targets that a grant would permit.
#[derive(Clone, Copy, Debug)]
pub struct Ungranted<'a> {
    /// The targets.
    pub needed: &'a [Target],
    /// The needed targets that today's flags and settings do not permit without a question.
    pub missing: &'a [Target],
    /// The grant that a resumed session began with, or that of its [scope](crate::sessions::SessionScope). The session has no more.
    pub first: Option<&'a Grant>,
    /// The flags that resume the session, if it was resumed and has its answer now. Only a chat goes on with it.
    pub answered: Option<&'a str>,
    /// Returns the flag with which a target is permitted and not asked about.
    pub consenting_flag: fn(&Target) -> &'static str,
}

impl Ungranted<'_> {
    /// Returns true if a flag cannot grant one of the targets, because the session began without a grant for it.
    pub fn is_beyond<'t>(&self, targets: impl IntoIterator<Item = &'t Target>) -> bool {
        self.first
            .is_some_and(|first| targets.into_iter().any(|target| !first.permits(target)))
    }

    /// Returns the flags with which the targets are permitted and not asked about.
    pub fn consenting_flags(&self, targets: &[Target]) -> String {
        // With --grant alone, a target that always asks would be refused again for lack of approval.
        flags(targets, self.consenting_flag)
    }
}

/// Returns one flag per target, with the clause that matches only this target.
pub fn flags(targets: &[Target], flag: impl Fn(&Target) -> &'static str) -> String {
    let flags = targets.iter().map(|target| {
        format!(
            "{} {}",
            flag(target),
            shell::quote(target.to_clause().as_str())
        )
    });
    flags.collect::<Vec<_>>().join(" ")
}
