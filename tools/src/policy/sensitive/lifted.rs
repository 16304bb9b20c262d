//! The clauses and rules that lift the protection of sensitive paths.

use protocol::{Access, Clause, Grant, Target, ToolNames};

use super::{SensitivePath, SensitivePaths, Sensitivity, naming};
use crate::policy::{Policy, Rule, Verdict};

impl SensitivePaths {
    /// Returns the clauses because of which some writes to sensitive paths need no approval: those by which each layer of the grant
    /// names an entry, and those of rules that allow calls of the tool and name one. They are for a person to read: a rule that denies
    /// or asks can leave fewer writes.
    pub fn lifted_by<'a>(
        &self,
        grant: &'a Grant,
        policy: Option<(&'a Policy, ToolNames<'a>)>,
    ) -> Vec<&'a Clause> {
        let rules = policy.iter().flat_map(|(policy, tool)| {
            let is_allowing =
                |rule: &&Rule| rule.verdict == Verdict::Allow && rule.is_for_tool(*tool);
            let allowing = policy.rules().iter().filter(is_allowing);
            allowing.filter_map(|rule| rule.target())
        });
        let rules: Vec<&Clause> = rules.collect();
        let mut lifting: Vec<&Clause> = Vec::new();
        for entry in self
            .paths
            .iter()
            // No clause lifts the protection of settings, and build files have none.
            .filter(|entry| entry.sensitivity == Sensitivity::RunsByItself)
        {
            let is_named = |clause: &&Clause| is_named(entry, clause);
            if grant
                .layers()
                .all(|layer| layer.iter().any(|clause| is_named(&clause)))
            {
                lifting.extend(grant.clauses().filter(is_named));
            }
            lifting.extend(rules.iter().copied().filter(is_named));
        }
        lifting.sort_by_cached_key(|clause| clause.to_string());
        lifting.dedup();
        lifting
    }

    /// Returns true if each layer of the grant has a clause without wildcards for the target, or if a rule allows it by such a clause.
    pub(crate) fn is_spelled(
        grant: &Grant,
        policy: Option<(&Policy, ToolNames<'_>)>,
        target: &Target,
    ) -> bool {
        let is_literal = |clause: &Clause| naming::is_literal(clause, target);
        grant.layers().all(|layer| layer.iter().any(is_literal))
            || policy.is_some_and(|(policy, tool)| {
                let mut rules = policy.applying(Verdict::Allow, tool, Some(target));
                rules.any(|rule| rule.target().is_some_and(is_literal))
            })
    }
}

/// Returns true if the clause is about writes of files and spells the entry.
fn is_named(entry: &SensitivePath, clause: &Clause) -> bool {
    let is_write = clause.scheme().is_none_or(|scheme| scheme == "fs")
        && clause.access().is_none_or(|access| access == Access::Write);
    is_write && naming::is_spelled(clause, entry)
}
