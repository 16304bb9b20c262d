//! [`hints`]: the remedies for refused calls, in the words of this program.

use std::sync::Arc;

use agent::refusal::{Refusal, Remedy, remedies};
use tools::policy::Rule;
use tools::{Grant, Target};

/// Words the hint for refused targets.
pub(crate) type HowToGrant = Arc<dyn Fn(&Ungranted<'_>) -> String + Send + Sync>;

/// Refused targets that a grant would permit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ungranted<'a> {
    pub(crate) needed: &'a [Target],
    /// The needed targets that today's flags and settings do not permit without a question.
    #[cfg_attr(
        not(feature = "default"),
        allow(dead_code, reason = "only `listen` reads it")
    )]
    pub(crate) missing: &'a [Target],
    /// The grant that a resumed session began with, or under which a job was made. The session has no more.
    pub(crate) first: Option<&'a Grant>,
    /// The flags that resume the session, if it was resumed and has its answer now. Only a chat goes on with it.
    pub(crate) answered: Option<&'a str>,
}

/// Returns true if a flag cannot grant one of the targets, because the session began without a grant for it.
pub(crate) fn is_beyond<'a>(
    first: Option<&Grant>,
    needed: impl IntoIterator<Item = &'a Target>,
) -> bool {
    first.is_some_and(|first| needed.into_iter().any(|target| !first.permits(target)))
}

/// Returns the hints that would permit the calls: flags or a command, worded by `how_to_grant`, and the rules to change.
pub(crate) fn hints(
    refusals: &[Refusal],
    rules: &[Rule],
    how_to_grant: impl Fn(&[Target]) -> String,
) -> Vec<String> {
    let hint = |remedy| match remedy {
        Remedy::Grant(needed) => how_to_grant(&needed),
        Remedy::Approve(target) if target.has_unknown_words() => format!(
            "no flag allows {target}, because the command has parts that are not known before it runs; approve it on a terminal"
        ),
        Remedy::Approve(target) => format!(
            "no flag allows {target}, because it decides what tools may do; edit the file yourself, or approve on a terminal"
        ),
        remedy => remedy.to_string(),
    };
    remedies(refusals, rules).into_iter().map(hint).collect()
}
