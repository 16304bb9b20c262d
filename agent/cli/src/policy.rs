//! [`PolicyOptions`]: the options that allow, ask about or deny calls within the grant.

use std::path::PathBuf;

use agent::consent;
use clap::Args;
use host::ungranted::GRANT;
use tools::policy::{Rule, Verdict};
use tools::protocol::ApprovalDefault;
use tools::{Clause, Policy, Target};

use crate::config::{
    self, Origin, PERMISSIONS, ProgramSettings as _, Setting, Settings, SettingsError,
};
use host::shell;

/// The programs and other tasks that an agent of the session has started, which alone it can reach, with the tools for them.
const OWN_TASKS: [(&str, &str); 2] = [
    ("exec.{stop,write}", "program:write:**"),
    ("task.cancel", "task:write:**"),
];

/// The policy options of commands that run tools.
#[derive(Args, Clone, Debug)]
pub(crate) struct PolicyOptions {
    /// Grant the clause and never ask about its targets, even for destroys such as fs:destroy:tmp/**; repeatable
    #[arg(long, value_name = "CLAUSE", help_heading = PERMISSIONS)]
    allow: Vec<Clause>,

    /// Apply the rules (`[[policy]]` tables) of this TOML file; the strictest matching rule applies
    #[arg(long, value_name = "FILE", help_heading = PERMISSIONS)]
    pub(crate) policy: Option<PathBuf>,
}

impl PolicyOptions {
    /// Returns the policy for calls of a model: writes ask unless a flag or a file grants them, and destroys always ask. Tasks of the
    /// session do not ask, because their start did.
    pub(crate) fn session_policy(&self, settings: &Settings) -> Policy {
        let grants = settings.access().grants.iter();
        let granted: Vec<_> = grants
            // No person named a default, so it is no consent.
            .filter(|grant| grant.origin != Origin::Default)
            .map(|clause| clause.label_with(Clause::with_origin))
            .collect();
        let consent = consent::rules_from_grant(&granted);
        let allowed = self
            .clauses()
            .map(|clause| Rule::for_target(Verdict::Allow, clause.label_with(Clause::with_origin)));
        let own = |(tool, clause): (&str, &str)| {
            let rule = Rule::new(Verdict::Allow, Some(tool), Some(clause.parse().ok()?)).ok()?;
            Some(rule.with_origin("default"))
        };
        let own = OWN_TASKS.into_iter().filter_map(own);
        let harmless = settings
            .harmless()
            .iter()
            .map(|clause| Rule::for_target(Verdict::Allow, clause.clone().with_origin("default")));
        Policy::by_effects()
            .with_rules(settings.rules())
            .with_rules(consent)
            .with_rules(allowed)
            .with_rules(own)
            .with_rules(harmless)
    }

    /// Returns the clauses of `--allow`.
    pub(crate) fn clauses(&self) -> impl Iterator<Item = Setting<Clause>> {
        self.allow
            .iter()
            .map(|clause| Setting::from_flag("--allow", clause.clone()))
    }

    /// Returns the given flags as words of a shell.
    pub(crate) fn words(&self) -> impl Iterator<Item = String> {
        let allow = self.allow.iter();
        let allow = allow.map(|clause| format!("--allow {}", shell::quote(clause.as_str())));
        let policy = self
            .policy
            .iter()
            .map(|file| shell::path_flag("--policy", file));
        allow.chain(policy)
    }

    /// Returns the rules of the file of `--policy`.
    pub(crate) fn rules(&self) -> Result<Vec<Setting<Rule>>, SettingsError> {
        self.policy
            .as_deref()
            .map_or_else(|| Ok(Vec::new()), config::rules)
    }
}

/// Returns the policy for a call typed by a person: only rules ask.
pub(crate) fn call_policy(settings: &Settings, typed: &[Target]) -> Policy {
    Policy::new()
        .with_rules(settings.rules())
        .with_rules(consent::rules_from_typed(typed))
}

/// Returns the flag with which a target is permitted and not asked about.
pub(crate) fn consenting_flag(target: &Target) -> &'static str {
    if always_asks(target) {
        "--allow"
    } else {
        GRANT
    }
}

/// Returns true if a grant is no consent to touch the target.
pub(crate) fn always_asks(target: &Target) -> bool {
    target.approval_default() == ApprovalDefault::AlwaysAsk
        && consent::rules_from_grant([&target.to_clause()])
            .next()
            .is_none()
}

#[cfg(test)]
mod tests {
    use tools::{Grant, Host, ToolName};

    use super::*;
    use crate::config::Values;
    use host::settings::AccessKeys;

    fn options(allow: &[&str]) -> PolicyOptions {
        let allow = allow.iter().map(|clause| clause.parse().unwrap()).collect();
        PolicyOptions {
            allow,
            policy: None,
        }
    }

    fn granting(clauses: &[&str]) -> Settings {
        let grant = |clause: &&str| Setting::from_flag("--grant", clause.parse().unwrap());
        let mut flags = Values::default();
        flags.of_mut::<AccessKeys>().grants = clauses.iter().map(grant).collect();
        Settings::from_flags(flags).unwrap()
    }

    fn verdict(policy: &Policy, target: &str) -> Verdict {
        verdict_for("t", policy, target)
    }

    fn verdict_for(tool: &str, policy: &Policy, target: &str) -> Verdict {
        let cx = Host::new()
            .with_grant(Grant::all())
            .with_policy(policy.clone());
        cx.rulings(
            &tool.parse::<ToolName>().unwrap(),
            &[target.parse().unwrap()],
        )
        .next()
        .unwrap()
        .verdict
    }

    #[test]
    fn a_grant_is_consent_to_write_and_never_to_destroy() {
        for granted in [
            &["fs:write:src/**", "fs:destroy:**", "world:write:**"][..],
            &["*:*:**"],
        ] {
            let policy = options(&[]).session_policy(&granting(granted));
            assert_eq!(verdict(&policy, "fs:write:src/a"), Verdict::Allow);
            assert_eq!(verdict(&policy, "fs:destroy:src/a"), Verdict::Ask);
            assert_eq!(verdict(&policy, "world:write:t"), Verdict::Ask);
        }
        assert_eq!(
            verdict(
                &options(&[]).session_policy(&granting(&[])),
                "fs:write:src/a"
            ),
            Verdict::Ask
        );
    }

    #[test]
    fn a_program_that_was_started_is_used_without_a_question_unless_a_rule_asks() {
        let policy = options(&[]).session_policy(&granting(&[]));
        assert_eq!(
            verdict_for("exec.write", &policy, "program:write:t1"),
            Verdict::Allow
        );
        assert_eq!(
            verdict_for("other.write", &policy, "program:write:t1"),
            Verdict::Ask
        );
        assert_eq!(
            verdict_for("task.cancel", &policy, "task:write:t1"),
            Verdict::Allow
        );
        assert_eq!(
            verdict_for("other.cancel", &policy, "task:write:t1"),
            Verdict::Ask
        );
        let rule = Rule::for_target(Verdict::Ask, "program:write:**".parse().unwrap());
        let policy = vec![Setting::from_flag("--policy", rule)];
        let mut flags = Values::default();
        flags.of_mut::<AccessKeys>().policy = policy;
        let settings = Settings::from_flags(flags).unwrap();
        let policy = options(&[]).session_policy(&settings);
        assert_eq!(
            verdict_for("exec.stop", &policy, "program:write:t1"),
            Verdict::Ask
        );
    }

    #[test]
    fn a_target_allowed_by_name_is_not_asked_about() {
        let policy =
            options(&["fs:destroy:tmp/**", "world:write:shell"]).session_policy(&granting(&[]));
        assert_eq!(verdict(&policy, "fs:destroy:tmp/a"), Verdict::Allow);
        assert_eq!(verdict(&policy, "fs:destroy:src/a"), Verdict::Ask);
        assert_eq!(verdict(&policy, "world:write:shell"), Verdict::Allow);
    }
}
