//! [`PolicyOptions`]: which of the granted calls run, are asked about and are refused.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde::Deserialize;
use tools::{Caution, Clause, Policy, Rule, Target, Verdict};

use crate::config::{Origin, Setting, Settings};
use crate::error::Error;
use crate::{duration, shell};

/// The options of every command that runs tools.
#[derive(Args, Debug)]
pub(crate) struct PolicyOptions {
    /// Grants what the clause covers and does not ask about it, not even where it destroys something, if the clause says so, such
    /// as fs:destroy:tmp/**; repeatable
    #[arg(long, value_name = "CLAUSE")]
    allow: Vec<Clause>,

    /// A TOML file with tables `[[policy]]`: rules that allow, ask about or deny calls, the strictest of which holds
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,

    /// How long a question waits for its answer [default: 5m]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    approval_timeout: Option<Duration>,
}

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    #[serde(default)]
    policy: Vec<Rule>,
}

impl PolicyOptions {
    /// What the command line grants without being asked about.
    pub(crate) fn allowed(&self) -> impl Iterator<Item = &Clause> {
        self.allow.iter()
    }

    /// How long a question waits, where the command line says.
    pub(crate) fn patience(&self) -> Option<Duration> {
        self.approval_timeout
    }

    /// For calls that a model makes: writing asks, but for what the person at the command line has granted, and destroying asks
    /// always.
    pub(crate) fn of_session(&self, settings: &Settings) -> Policy {
        let granted = settings.grants.iter().filter(|grant| grant.origin != Origin::Default);
        let consent = consent(granted.map(|grant| &grant.value));
        let allowed = self.allow.iter().map(allow);
        Policy::by_effects().with_rules(rules(settings)).with_rules(consent).with_rules(allowed)
    }

    /// The rules of the file that the command line names.
    pub(crate) fn rules(&self) -> Result<Vec<Setting<Rule>>, Error> {
        let rules = self.policy.as_deref().map_or_else(|| Ok(Vec::new()), read)?;
        Ok(rules.into_iter().map(|rule| Setting::of_flag("--policy", rule)).collect())
    }
}

/// For one call that a person has typed: only rules ask.
pub(crate) fn of_call(settings: &Settings) -> Policy {
    Policy::new().with_rules(rules(settings))
}

/// The rules that a person's grant stands for: writing is not asked about, destroying is.
pub(crate) fn consent<'a>(granted: impl IntoIterator<Item = &'a Clause>) -> impl Iterator<Item = Rule> {
    granted.into_iter().filter(|clause| !always_asks(clause)).map(allow)
}

/// The flags that would have let a call run that nobody could be asked about, unless a rule of a file asks.
pub(crate) fn how_to_allow(needed: &[Target]) -> Option<String> {
    let flags = flags(needed, |_| "--allow");
    (!needed.is_empty()).then(|| format!("to allow it, add {flags}, unless it is a rule of your own that asks"))
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
    Rule::of_target(Verdict::Allow, clause.clone())
}

/// Whether a clause names what is asked about in spite of a grant. One for any access covers it, and consents to the rest.
fn always_asks(clause: &Clause) -> bool {
    let of = |access| {
        let target = Target::new(access, clause.scheme()?, "x").ok()?;
        Some(target.caution() == Caution::AlwaysAsk)
    };
    clause.access().and_then(of).unwrap_or(false)
}

fn read(path: &Path) -> Result<Vec<Rule>, Error> {
    let refused = |reason: String| Error::Policy { path: path.to_owned(), reason };
    let text = std::fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
    let Rules { policy } = toml::from_str(&text).map_err(|error| refused(error.to_string().trim_end().to_owned()))?;
    Ok(policy)
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

    #[test]
    fn a_hint_names_the_flag_for_exactly_what_was_asked_about() {
        let needed = ["fs:destroy:a b".parse().unwrap()];
        let hint = how_to_allow(&needed).unwrap();
        assert!(hint.starts_with("to allow it, add --allow 'fs:destroy:a b', unless"), "{hint}");
        assert_eq!(how_to_allow(&[]), None);
    }
}
