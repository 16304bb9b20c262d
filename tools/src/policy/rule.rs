//! [`Rule`]: one line of a policy.

use std::fmt;

use globset::{GlobBuilder, GlobMatcher};
use protocol::{ApprovalDefault, Clause, Target, ToolName};
use serde::Deserialize;

use super::{InvalidRule, Verdict};

/// What somebody says about some calls: of these tools, on these targets.
///
/// The glob over names knows `*`, `?`, `[a-z]` and `{a,b}`; nothing in a name separates. A rule without tools is for all of them, and
/// one without a target for whatever they touch, and where they touch nothing.
///
/// What always asks (see [`ApprovalDefault`]) is allowed only by a rule that is clearly about it: whose target has no `*` for scheme or
/// access. `fs:*:tmp/**` allows no call to remove a file; `fs:destroy:tmp/**` does.
///
/// As data a rule has `verdict` (`allow`, `ask`, `deny`), `tool`, `target`, `reason`, and examples, which are checked when it is read:
///
/// ```
/// use tools::policy::{Rule, Verdict};
///
/// let rule: Rule = serde_json::from_value(serde_json::json!({
///     "verdict": "deny",
///     "tool": "fs.*",
///     "target": "fs:*:**/.env",
///     "reason": "secrets stay where they are",
///     "match": ["fs.read fs:read:.env", "fs.edit fs:write:web/.env"],
///     "not_match": ["fs.read fs:read:src/env.rs", "time.now"],
/// }))?;
/// assert_eq!(rule.verdict(), Verdict::Deny);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Draft")]
pub struct Rule {
    verdict: Verdict,
    tool: Option<Names>,
    target: Option<Clause>,
    reason: Option<String>,
}

/// A glob over names, with its text.
#[derive(Clone, Debug)]
struct Names {
    text: String,
    glob: GlobMatcher,
}

/// A rule as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Draft {
    verdict: Verdict,
    tool: Option<String>,
    target: Option<Clause>,
    reason: Option<String>,
    #[serde(default)]
    r#match: Vec<String>,
    #[serde(default)]
    not_match: Vec<String>,
}

impl Rule {
    /// A rule for some tools, some targets, or some tools on some targets.
    ///
    /// # Errors
    /// [`InvalidRule::Empty`] for neither, [`InvalidRule::Tool`] when the text is no glob.
    pub fn new(verdict: Verdict, tool: Option<&str>, target: Option<Clause>) -> Result<Self, InvalidRule> {
        if tool.is_none() && target.is_none() {
            return Err(InvalidRule::Empty);
        }
        let tool = tool.map(Names::compile).transpose()?;
        Ok(Self { verdict, tool, target, reason: None })
    }

    /// A rule for these targets, whatever the tool.
    pub fn of_target(verdict: Verdict, target: Clause) -> Self {
        Self { verdict, tool: None, target: Some(target), reason: None }
    }

    /// Says why, to whoever is refused.
    #[must_use]
    pub fn with_reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Checks that the rule applies to a call: a tool, a space and a target, or a tool alone for calls that touch nothing.
    ///
    /// # Errors
    /// [`InvalidRule::Unmatched`] when it does not, [`InvalidRule::Example`] when that is no call.
    pub fn with_match(self, example: &str) -> Result<Self, InvalidRule> {
        let (tool, target) = call(example)?;
        if self.applies(&tool, target.as_ref()) {
            return Ok(self);
        }
        let why = if self.matches(&tool, target.as_ref()) {
            ", since what destroys or may touch anything is allowed only by a target without `*` for scheme or access"
        } else {
            ""
        };
        Err(InvalidRule::Unmatched { rule: self.to_string(), example: example.to_owned(), why })
    }

    /// Checks that the rule does not apply to a call.
    ///
    /// # Errors
    /// [`InvalidRule::Matched`] when it does, [`InvalidRule::Example`] when that is no call.
    pub fn with_not_match(self, example: &str) -> Result<Self, InvalidRule> {
        let (tool, target) = call(example)?;
        if self.applies(&tool, target.as_ref()) {
            return Err(InvalidRule::Matched { rule: self.to_string(), example: example.to_owned() });
        }
        Ok(self)
    }

    /// What it says.
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// The targets that it is about; `None` if it is about any.
    pub(super) fn target(&self) -> Option<&Clause> {
        self.target.as_ref()
    }

    /// Why, where it says so.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// Whether it says something about a call of the tool that touches this, or nothing.
    pub fn applies(&self, tool: &ToolName, target: Option<&Target>) -> bool {
        self.matches(tool, target) && (self.verdict != Verdict::Allow || target.is_none_or(|it| self.may_allow(it)))
    }

    fn matches(&self, tool: &ToolName, target: Option<&Target>) -> bool {
        self.tool.as_ref().is_none_or(|names| names.glob.is_match(tool.as_str()))
            && self.target.as_ref().is_none_or(|clause| target.is_some_and(|target| clause.matches(target)))
    }

    fn may_allow(&self, target: &Target) -> bool {
        let is_clear = |clause: &Clause| clause.scheme().is_some() && clause.access().is_some();
        target.approval_default() < ApprovalDefault::AlwaysAsk || self.target.as_ref().is_some_and(is_clear)
    }
}

impl Names {
    fn compile(text: &str) -> Result<Self, InvalidRule> {
        let invalid = |reason: String| InvalidRule::Tool { glob: text.to_owned(), reason };
        if text.is_empty() {
            return Err(invalid("it is empty".to_owned()));
        }
        let glob = GlobBuilder::new(text).literal_separator(false).backslash_escape(true).build();
        let glob = glob.map_err(|error| invalid(error.kind().to_string()))?.compile_matcher();
        Ok(Self { text: text.to_owned(), glob })
    }
}

impl TryFrom<Draft> for Rule {
    type Error = InvalidRule;

    fn try_from(draft: Draft) -> Result<Self, InvalidRule> {
        let mut rule = Self::new(draft.verdict, draft.tool.as_deref(), draft.target)?;
        rule.reason = draft.reason;
        let rule = draft.r#match.iter().try_fold(rule, |rule, example| rule.with_match(example))?;
        draft.not_match.iter().try_fold(rule, |rule, example| rule.with_not_match(example))
    }
}

/// For people: `deny fs.* on fs:*:**/.env`.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tool = self.tool.as_ref().map_or("every tool", |names| &names.text);
        write!(f, "{} {tool}", self.verdict)?;
        self.target.as_ref().map_or(Ok(()), |clause| write!(f, " on {clause}"))
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        let names = |rule: &Self| rule.tool.as_ref().map(|names| names.text.clone());
        (self.verdict, names(self), &self.target, &self.reason)
            == (other.verdict, names(other), &other.target, &other.reason)
    }
}

impl Eq for Rule {}

/// The call that an example stands for.
fn call(example: &str) -> Result<(ToolName, Option<Target>), InvalidRule> {
    let invalid = |reason: String| InvalidRule::Example { example: example.to_owned(), reason };
    let (tool, target) = match example.split_once(' ') {
        Some((tool, target)) => (tool, Some(target)),
        None => (example, None),
    };
    let tool = ToolName::new(tool).map_err(|error| invalid(error.to_string()))?;
    let target =
        target.map(str::parse).transpose().map_err(|error: protocol::InvalidTarget| invalid(error.to_string()))?;
    Ok((tool, target))
}
