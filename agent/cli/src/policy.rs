//! [`PolicyOptions`]: which of the granted calls run, are asked about and are refused.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use tools::policy::{Rule, Verdict};
use tools::protocol::ApprovalDefault;
use tools::{Clause, Policy, Target};

use crate::config::{self, ConfigError, Origin, Setting, Settings};
use crate::{duration, shell};

/// The options of every command that runs tools.
#[derive(Args, Debug)]
pub(crate) struct PolicyOptions {
    /// Grants what the clause covers and does not ask about it, not even where it destroys something, if the clause says so, such
    /// as fs:destroy:tmp/**; repeatable
    #[arg(long, value_name = "CLAUSE")]
    pub(crate) allow: Vec<Clause>,

    /// A TOML file with tables `[[policy]]`: rules that allow, ask about or deny calls, the strictest of which holds
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,

    /// How long a question waits for its answer [default: 5m]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    pub(crate) approval_timeout: Option<Duration>,
}

impl PolicyOptions {
    /// For calls that a model makes: writing asks, but for what the person at the command line has granted, and destroying asks
    /// always.
    pub(crate) fn of_session(&self, settings: &Settings) -> Policy {
        let granted = settings.grants.iter().filter(|grant| grant.origin != Origin::Default);
        let consent = consent(granted.map(|grant| &grant.value));
        let allowed = self.allow.iter().map(allow);
        Policy::by_effects().with_rules(rules(settings)).with_rules(consent).with_rules(allowed)
    }

    /// The rules of the file that the command line names.
    pub(crate) fn rules(&self) -> Result<Vec<Setting<Rule>>, ConfigError> {
        self.policy.as_deref().map_or_else(|| Ok(Vec::new()), config::rules)
    }
}

/// For one call that a person has typed: only rules ask. What they typed, they have named.
pub(crate) fn of_call(settings: &Settings, typed: &[Target]) -> Policy {
    let named = typed.iter().filter_map(|target| format!("{}/**", target.to_clause()).parse().ok());
    let named = named.map(|clause| Rule::for_target(Verdict::Allow, clause));
    Policy::new().with_rules(rules(settings)).with_rules(named)
}

/// The rules that a person's grant stands for: writing is not asked about, destroying is.
pub(crate) fn consent<'a>(granted: impl IntoIterator<Item = &'a Clause>) -> impl Iterator<Item = Rule> {
    granted.into_iter().filter(|clause| !always_asks(clause)).map(allow)
}

/// A flag for each target, with the clause that is for it alone.
pub(crate) fn flags(needed: &[Target], flag: impl Fn(&Target) -> &'static str) -> String {
    let one = |target: &Target| format!("{} {}", flag(target), shell::quoted(target.to_clause().as_str()));
    needed.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn rules(settings: &Settings) -> impl Iterator<Item = Rule> {
    settings.policy.iter().map(|rule| rule.value.clone())
}

fn allow(clause: &Clause) -> Rule {
    Rule::for_target(Verdict::Allow, clause.clone())
}

/// Whether a clause names what is asked about in spite of a grant. One for any access covers it, and consents to the rest.
fn always_asks(clause: &Clause) -> bool {
    let of = |access| {
        let target = Target::new(access, clause.scheme()?, "x").ok()?;
        Some(target.approval_default() == ApprovalDefault::AlwaysAsk)
    };
    clause.access().and_then(of).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ConfigOptions, Layer};

    fn options(allow: &[&str]) -> PolicyOptions {
        let allow = allow.iter().map(|clause| clause.parse().unwrap()).collect();
        PolicyOptions { allow, policy: None, approval_timeout: None }
    }

    fn granting(clauses: &[&str]) -> Settings {
        let grant = |clause: &&str| Setting::of_flag("--grant", clause.parse().unwrap());
        let mut flags = Layer::default();
        flags.bounds.grants = clauses.iter().map(grant).collect();
        ConfigOptions::none().settings(flags).unwrap()
    }

    fn verdict(policy: &Policy, target: &str) -> Verdict {
        policy.judge(&"t".parse().unwrap(), Some(&target.parse().unwrap())).verdict
    }

    #[test]
    fn a_grant_is_consent_to_write_and_never_to_destroy() {
        for granted in [&["fs:write:src/**", "fs:destroy:**", "world:write:**"][..], &["*:*:**"]] {
            let policy = options(&[]).of_session(&granting(granted));
            assert_eq!(verdict(&policy, "fs:write:src/a"), Verdict::Allow);
            assert_eq!(verdict(&policy, "fs:destroy:src/a"), Verdict::Ask);
            assert_eq!(verdict(&policy, "world:write:t"), Verdict::Ask);
        }
        assert_eq!(verdict(&options(&[]).of_session(&granting(&[])), "fs:write:src/a"), Verdict::Ask);
    }

    #[test]
    fn what_is_allowed_by_name_is_not_asked_about() {
        let policy = options(&["fs:destroy:tmp/**", "world:write:shell"]).of_session(&granting(&[]));
        assert_eq!(verdict(&policy, "fs:destroy:tmp/a"), Verdict::Allow);
        assert_eq!(verdict(&policy, "fs:destroy:src/a"), Verdict::Ask);
        assert_eq!(verdict(&policy, "world:write:shell"), Verdict::Allow);
    }
}
