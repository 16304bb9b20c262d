//! [`hints`]: the remedies for refused calls, in the words of this program.

use agent::refusal::{Refusal, Remedy, remedies};
use tools::Target;
use tools::policy::Rule;

use crate::config::Setting;

/// Returns the hints that would permit the calls: flags or a command, worded by `how_to_grant`, and the rules to change.
pub(crate) fn hints(
    refusals: &[Refusal],
    rules: &[Setting<Rule>],
    how_to_grant: impl Fn(&[Target]) -> String,
) -> Vec<String> {
    let hint = |remedy| match remedy {
        Remedy::Grant(needed) => how_to_grant(&needed),
        Remedy::Approve(target) => format!(
            "no flag allows {target}, because it decides what tools may do; edit the file yourself, or approve on a terminal"
        ),
        remedy => remedy.to_string(),
    };
    remedies(refusals, rules.iter().map(|rule| (&rule.value, &rule.origin))).into_iter().map(hint).collect()
}
