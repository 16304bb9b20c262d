//! Rules for consent that a person gave without a question.

use tools::policy::{Rule, Verdict};
use tools::protocol::ApprovalDefault;
use tools::{Clause, Target};

/// Returns the allow rules implied by clauses that a person granted: writes no longer ask, and neither do tools of MCP servers that a clause
/// [names](Clause::names_servers). Destroys and other unbounded effects still do. Do not pass default grants, which no person named.
pub fn rules_from_grant<'a>(
    granted: impl IntoIterator<Item = &'a Clause>,
) -> impl Iterator<Item = Rule> {
    let consenting = granted
        .into_iter()
        .filter(|clause| clause.names_servers() || !always_asks(clause));
    consenting.map(|clause| Rule::for_target(Verdict::Allow, clause.clone()))
}

/// Returns the allow rules for the targets of a call that a person typed. Typing a target counts as naming it, and all targets below it.
/// Nothing is below a command.
pub fn rules_from_typed(targets: &[Target]) -> impl Iterator<Item = Rule> {
    let named = targets.iter().flat_map(|target| {
        let below = format!("{}/**", target.to_clause()).parse().ok();
        let below = below.filter(|_| target.scheme() != "exec");
        [Some(target.to_clause()), below].into_iter().flatten()
    });
    named.map(|clause| Rule::for_target(Verdict::Allow, clause))
}

/// Returns true if the clause names an access that always asks, even if granted. A clause for any access is not counted: it
/// still consents to the other accesses.
fn always_asks(clause: &Clause) -> bool {
    let (Some(access), Some(scheme)) = (clause.access(), clause.scheme()) else {
        return false;
    };
    let target = Target::new(access, scheme, "x");
    target.is_ok_and(|target| target.approval_default() == ApprovalDefault::AlwaysAsk)
}
