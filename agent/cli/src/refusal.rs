//! [`hints`]: the remedies for refused calls, in the words of this program.

use std::sync::Arc;

use agent::refusal::{Refusal, Remedy, remedies};
use host::ungranted::Ungranted;
use tools::Target;
use tools::policy::Rule;

/// Words the hint for refused targets.
pub(crate) type HowToGrant = Arc<dyn Fn(&Ungranted<'_>) -> String + Send + Sync>;

/// Returns the hints that would permit the calls: flags or a command, worded by `how_to_grant`, and the rules to change.
pub(crate) fn hints(
    refusals: &[Refusal],
    rules: &[Rule],
    how_to_grant: impl Fn(&[Target]) -> String,
) -> Vec<String> {
    let hints = remedies(refusals, rules).into_iter().map(|remedy| match remedy {
        Remedy::Grant(needed) => how_to_grant(&needed),
        // A clause would not allow such a command, so none is advised.
        Remedy::Approve(target) if target.has_unknown_words() => format!(
            "no flag allows {target}, because the command has parts that are not known before it runs; approve it on a terminal"
        ),
        Remedy::Approve(target) => format!(
            "no flag allows {target}, because it decides what tools may do; edit the file yourself, or approve on a terminal"
        ),
        remedy => remedy.to_string(),
    });
    hints.collect()
}
