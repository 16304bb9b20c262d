//! [`Policy`]: rules that allow, ask about or deny calls within a grant.

mod host;
mod reason;
mod rule;
mod ruling;
mod sensitive;

use protocol::{ApprovalDefault, Target, ToolNames};
use serde::Deserialize;

pub use self::rule::{InvalidRule, Rule, ToolGlob, Verdict};
pub use reason::Reason;
pub use ruling::Ruling;
pub use sensitive::{SensitivePath, SensitivePaths, Sensitivity};

/// A list of rules about calls, with a default. No rule allows access beyond the grant.
///
/// The verdict about a call is found in three steps:
///
/// 1. For each target, the strictest applicable rule decides.
/// 2. If no rule applies to a target, the default decides. [`by_effects`](Self::by_effects) allows reads and asks about writes and
///    destruction; [`new`](Self::new) allows everything that is granted.
/// 3. The strictest verdict about a target is the verdict about the call.
///
/// A command with [unknown words](Reason::UnknownWords) is always asked about. A [sensitive path](SensitivePaths) and a host that is read are asked about until a clause or a rule [names](Reason::UnnamedHost) them.
///
/// A policy is deserialized from the list of its rules; its default is then `by_effects`.
///
/// ```
/// use tools::policy::Verdict;
/// use tools::{Grant, Host, Policy, ToolName};
///
/// let policy: Policy = serde_json::from_str(r#"[
///     {"verdict": "allow", "target": "fs:write:src/**"},
///     {"verdict": "deny", "target": "fs:write:src/generated/**", "reason": "it is written by the build"}
/// ]"#)?;
/// let cx = Host::new().with_grant(Grant::all()).with_policy(policy);
/// let targets = ["fs:write:src/lib.rs", "fs:write:src/generated/a.rs", "fs:write:README.md", "fs:read:README.md"];
/// let targets: Vec<_> = targets.into_iter().map(str::parse).collect::<Result<_, _>>()?;
/// let tool = ToolName::new("fs.write")?;
/// let verdicts: Vec<_> = cx.rulings(&tool, &targets).map(|ruling| ruling.verdict).collect();
/// assert_eq!(verdicts, [Verdict::Allow, Verdict::Deny, Verdict::Ask, Verdict::Allow]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Vec<Rule>")]
#[must_use]
pub struct Policy {
    rules: Vec<Rule>,
    is_by_effects: bool,
}

impl Policy {
    /// Creates a policy without rules that allows every granted call, except on [sensitive paths](SensitivePaths) and
    /// [unnamed hosts](Reason::UnnamedHost).
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a policy without rules that allows reads, asks about writes and always asks about destruction. It asks about reads of
    /// [unnamed hosts](Reason::UnnamedHost).
    pub fn by_effects() -> Self {
        Self {
            rules: Vec::new(),
            is_by_effects: true,
        }
    }

    /// Adds rules. Their order has no effect. Of equal rules one remains, with the origins of all.
    pub fn with_rules(mut self, rules: impl IntoIterator<Item = Rule>) -> Self {
        for rule in rules {
            match self.rules.iter_mut().find(|present| **present == rule) {
                Some(present) => present.merge_origins(&rule),
                None => self.rules.push(rule),
            }
        }
        self
    }

    /// Returns the rules, which are distinct.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns the rules with this verdict that apply to a call of the tool on one target.
    fn applying<'a>(
        &'a self,
        verdict: Verdict,
        tool: ToolNames<'a>,
        target: Option<&'a Target>,
    ) -> impl Iterator<Item = &'a Rule> {
        self.rules
            .iter()
            .filter(move |rule| rule.verdict == verdict && rule.applies(tool, target))
    }

    /// Returns the default by which the policy asks about a target without an allowing rule, or `None` if it does not ask.
    fn asks_by_default(&self, target: &Target) -> Option<ApprovalDefault> {
        let default = target.approval_default();
        (self.is_by_effects && default > ApprovalDefault::Run).then_some(default)
    }
}

/// Creates a policy of these rules, with the default of [`Policy::by_effects`].
impl From<Vec<Rule>> for Policy {
    fn from(rules: Vec<Rule>) -> Self {
        Self::by_effects().with_rules(rules)
    }
}
