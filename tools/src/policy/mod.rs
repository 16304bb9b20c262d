//! [`Policy`]: which calls run, which are asked about, and which are refused, inside of what is granted.

mod error;
mod rule;
mod sensitive;
mod verdict;

use protocol::{ApprovalDefault, Clause, Target, ToolName};
use serde::Deserialize;

pub use error::InvalidRule;
pub use rule::Rule;
pub use sensitive::{SensitivePath, SensitivePaths, Sensitivity};
pub use verdict::Verdict;

/// Rules about calls, and what holds where there is none. The grant is the outer wall: no rule lets a call touch what is not
/// granted.
///
/// For each target of a call the strictest rule that applies to it holds; the strictest of these verdicts is that of the call.
/// Where no rule applies to a target, a policy [by effects](Self::by_effects) has the default for what is done to it: reading
/// runs, writing asks, and destroying always asks. A [new](Self::new) one leaves that to the grant.
///
/// As data it is the list of its rules, and by effects.
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

/// What a policy says about a call on one target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Judgement<'a> {
    /// What happens.
    pub verdict: Verdict,
    /// The rule that says so; none where it is the default.
    pub rule: Option<&'a Rule>,
}

impl Judgement<'_> {
    /// Returns the reason of a denial, in words.
    pub(crate) fn denial(&self, target: Option<&Target>) -> String {
        let mut reason = match self.rule {
            Some(rule) => format!("the rule `{rule}` is against it"),
            None => "the policy is against it".to_owned(),
        };
        if let Some(target) = target {
            reason += &format!(", for {target}");
        }
        if let Some(why) = self.rule.and_then(Rule::reason) {
            reason += &format!(" ({why})");
        }
        reason
    }
}

impl Policy {
    /// No rules, and nothing is asked about that is granted.
    pub fn new() -> Self {
        Self::default()
    }

    /// No rules: reading runs, writing asks, and destroying always asks.
    pub fn by_effects() -> Self {
        Self { rules: Vec::new(), is_by_effects: true }
    }

    /// Adds a rule. The order of rules means nothing.
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

    /// The rules.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Decides about a call of the tool that touches this, or, with none, about one that touches nothing.
    pub fn judge(&self, tool: &ToolName, target: Option<&Target>) -> Judgement<'_> {
        let applying = self.rules.iter().filter(|rule| rule.applies(tool, target));
        match applying.max_by_key(|rule| rule.verdict()) {
            Some(rule) => Judgement { verdict: rule.verdict(), rule: Some(rule) },
            None => Judgement { verdict: self.default_for(target), rule: None },
        }
    }

    /// The clauses of the rules that allow the call.
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

/// These rules, and by effects where none applies.
impl From<Vec<Rule>> for Policy {
    fn from(rules: Vec<Rule>) -> Self {
        Self::by_effects().with_rules(rules)
    }
}
