//! [`Policy`]: rules that allow, ask about or deny calls within a grant.

mod error;
mod rule;
mod ruling;
mod sensitive;
mod verdict;

use protocol::{ApprovalDefault, Clause, Target, ToolName};
use serde::Deserialize;

pub use error::InvalidRule;
pub use rule::Rule;
pub use ruling::{Reason, Ruling};
pub use sensitive::{SensitivePath, SensitivePaths, Sensitivity};
pub use verdict::Verdict;

/// A list of rules about calls, with a default. No rule allows access beyond the grant.
///
/// The verdict about a call is found in three steps:
///
/// 1. For each target, the strictest applicable rule decides.
/// 2. If no rule applies to a target, the default decides. [`by_effects`](Self::by_effects) allows reads and asks about writes and
///    destruction; [`new`](Self::new) allows everything that is granted.
/// 3. The strictest verdict about a target is the verdict about the call.
///
/// A policy is deserialized from the list of its rules; its default is then `by_effects`.
///
/// ```
/// use tools::policy::Verdict;
/// use tools::{Policy, Target, ToolName};
///
/// let policy: Policy = serde_json::from_str(r#"[
///     {"verdict": "allow", "target": "fs:write:src/**"},
///     {"verdict": "deny", "target": "fs:write:src/generated/**", "reason": "it is written by the build"}
/// ]"#)?;
/// let tool = ToolName::new("fs.write")?;
/// let verdict = |target: &str| Ok::<_, Box<dyn std::error::Error>>(policy.judge(&tool, Some(&target.parse()?)).verdict);
/// assert_eq!(verdict("fs:write:src/lib.rs")?, Verdict::Allow);
/// assert_eq!(verdict("fs:write:src/generated/a.rs")?, Verdict::Deny);
/// assert_eq!(verdict("fs:write:README.md")?, Verdict::Ask);
/// assert_eq!(verdict("fs:read:README.md")?, Verdict::Allow);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Vec<Rule>")]
pub struct Policy {
    rules: Vec<Rule>,
    is_by_effects: bool,
}

/// The verdict of a policy about a call on one target, with the deciding rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Judgement<'a> {
    /// The verdict.
    pub verdict: Verdict,
    /// The deciding rule, or `None` if the default decides.
    pub rule: Option<&'a Rule>,
}

impl Judgement<'_> {
    /// Returns the reason for a denial as text.
    pub(crate) fn denial(&self, target: Option<&Target>) -> String {
        denial(self.rule, target)
    }
}

/// Returns the reason for a denial by a rule as text.
fn denial(rule: Option<&Rule>, target: Option<&Target>) -> String {
    let mut reason = match rule {
        Some(rule) => format!("the rule `{rule}` denies it"),
        None => "the policy denies it".to_owned(),
    };
    if let Some(target) = target {
        reason += &format!(", for {target}");
    }
    if let Some(why) = rule.and_then(Rule::reason) {
        reason += &format!(" ({why})");
    }
    reason
}

impl Policy {
    /// Creates a policy without rules that allows every granted call.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a policy without rules that allows reads, asks about writes and always asks about destruction.
    pub fn by_effects() -> Self {
        Self { rules: Vec::new(), is_by_effects: true }
    }

    /// Adds a rule. The order of rules has no effect.
    #[must_use]
    pub fn with_rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Adds rules.
    #[must_use]
    pub fn with_rules(mut self, rules: impl IntoIterator<Item = Rule>) -> Self {
        self.rules.extend(rules);
        self
    }

    /// Returns the rules.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns the verdict about a call of the tool on one target. Pass `None` for a call without targets.
    pub fn judge(&self, tool: &ToolName, target: Option<&Target>) -> Judgement<'_> {
        let applying = self.rules.iter().filter(|rule| rule.applies(tool, target));
        match applying.max_by_key(|rule| rule.verdict()) {
            Some(rule) => Judgement { verdict: rule.verdict(), rule: Some(rule) },
            None => Judgement { verdict: self.default_for(target), rule: None },
        }
    }

    /// Returns the targets of the rules that allow the call.
    fn allowing(&self, tool: &ToolName, target: &Target) -> impl Iterator<Item = &Clause> {
        let is_allowing = move |rule: &&Rule| rule.verdict() == Verdict::Allow && rule.applies(tool, Some(target));
        self.rules.iter().filter(is_allowing).filter_map(Rule::target)
    }

    fn default_for(&self, target: Option<&Target>) -> Verdict {
        match target.map(Target::approval_default) {
            Some(caution) if self.is_by_effects && caution > ApprovalDefault::Run => Verdict::Ask,
            _ => Verdict::Allow,
        }
    }
}

/// Creates a policy of these rules, with the default of [`Policy::by_effects`].
impl From<Vec<Rule>> for Policy {
    fn from(rules: Vec<Rule>) -> Self {
        Self::by_effects().with_rules(rules)
    }
}
