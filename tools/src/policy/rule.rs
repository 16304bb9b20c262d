//! [`Rule`]: one rule of a policy.

use std::fmt;
use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};
use protocol::{ApprovalDefault, Clause, Origins, Target, ToolName, ToolNames, UnspelledWord};
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Serialize, Serializer};

/// A verdict about the calls of some tools on some targets.
///
/// - The tool glob supports `*`, `?`, `[a-z]` and `{a,b}`. `*` also matches the dots in a name.
/// - A rule without a tool applies to all tools.
/// - A rule without a target applies to all targets, and to calls without targets.
/// - A rule that allows applies to the commands that its target [permits](Clause::permits), and a rule that asks or denies to those that it
///   [concerns](Clause::concerns).
/// - Targets that always need approval (see [`ApprovalDefault`]) are allowed only by a target without `*` for scheme or access.
///   `fs:*:tmp/**` does not allow a call to remove a file; `fs:destroy:tmp/**` does.
///
/// A rule is deserialized from `verdict` (`allow`, `ask` or `deny`), `tool`, `target`, `reason`, and the examples `match` and
/// `not_match`, which are checked on reading:
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
/// assert_eq!(rule.verdict, Verdict::Deny);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "RuleData")]
pub struct Rule {
    /// The verdict.
    pub verdict: Verdict,
    tool: Option<ToolGlob>,
    target: Option<Clause>,
    /// The reason that a denied call's error contains.
    pub reason: Option<String>,
    origins: Origins,
}

/// A rule in its serialized form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleData {
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
    /// Creates a rule for a glob over tool names, for targets, or for both. The rule has the clause's origins.
    ///
    /// # Errors
    /// Returns [`InvalidRule::Empty`] if both are `None`, and [`InvalidRule::Tool`] if the text is not a glob.
    pub fn new(
        verdict: Verdict,
        tool: Option<&str>,
        target: Option<Clause>,
    ) -> Result<Self, InvalidRule> {
        if tool.is_none() && target.is_none() {
            return Err(InvalidRule::Empty);
        }
        let tool = tool.map(compile_tool).transpose()?;
        let origins = target
            .as_ref()
            .map(|target| target.origins().clone())
            .unwrap_or_default();
        Ok(Self {
            verdict,
            tool,
            target,
            reason: None,
            origins,
        })
    }

    /// Creates a rule for targets that applies to all tools. The rule has the clause's origins.
    pub fn for_target(verdict: Verdict, target: Clause) -> Self {
        Self {
            verdict,
            tool: None,
            origins: target.origins().clone(),
            target: Some(target),
            reason: None,
        }
    }

    /// Adds the place that sets the rule, for explanations.
    #[must_use]
    pub fn with_origin(mut self, origin: impl Into<Arc<str>>) -> Self {
        self.origins.add(origin);
        self
    }

    /// Checks that the rule applies to an example call: a tool and a target separated by a space, or a tool alone.
    ///
    /// # Errors
    /// Returns [`InvalidRule::Unmatched`] if the rule does not apply, and [`InvalidRule::Example`] if the example cannot be parsed.
    fn with_match(self, example: &str) -> Result<Self, InvalidRule> {
        let (tool, target) = call(example)?;
        if self.applies(&tool, target.as_ref()) {
            return Ok(self);
        }
        let why = if self.matches((&tool).into(), target.as_ref()) {
            ", since an operation that always needs approval is allowed only by a target without `*` for scheme or access"
        } else if target
            .as_ref()
            .is_some_and(|target| self.unspelled(target).is_some())
        {
            ", since a wildcard stands for a word by which the program does more; an allowing rule has to spell it"
        } else {
            ""
        };
        Err(InvalidRule::Unmatched {
            rule: self.to_string(),
            example: example.to_owned(),
            why,
        })
    }

    /// Checks that the rule does not apply to an example call.
    ///
    /// # Errors
    /// Returns [`InvalidRule::Matched`] if the rule applies, and [`InvalidRule::Example`] if the example cannot be parsed.
    fn with_not_match(self, example: &str) -> Result<Self, InvalidRule> {
        let (tool, target) = call(example)?;
        if self.applies(&tool, target.as_ref()) {
            return Err(InvalidRule::Matched {
                rule: self.to_string(),
                example: example.to_owned(),
            });
        }
        Ok(self)
    }

    /// Returns the targets of the rule, or `None` if it applies to all.
    pub fn target(&self) -> Option<&Clause> {
        self.target.as_ref()
    }

    /// Returns true if the rule applies only to tools of one name.
    pub(super) fn is_for_one_tool(&self) -> bool {
        self.tool
            .as_ref()
            .is_some_and(|glob| !glob.as_str().contains(['*', '?', '[', '{']))
    }

    /// Returns the places that set the rule.
    pub fn origins(&self) -> &Origins {
        &self.origins
    }

    pub(super) fn merge_origins(&mut self, other: &Self) {
        self.origins.merge(&other.origins);
    }

    /// Returns true if the rule applies to a call of the tool on this target. Pass `None` for a call without targets.
    ///
    /// A rule that names a [former name](protocol::Tool::was) of the tool applies to it.
    pub fn applies<'a>(&self, tool: impl Into<ToolNames<'a>>, target: Option<&Target>) -> bool {
        self.matches(tool.into(), target)
            && (self.verdict != Verdict::Allow || target.is_none_or(|it| self.may_allow(it)))
    }

    /// Returns true if the rule is about this tool, among others or not.
    pub(super) fn is_for_tool(&self, tool: ToolNames<'_>) -> bool {
        self.tool.as_ref().is_none_or(|glob| glob.matches(tool))
    }

    fn matches(&self, tool: ToolNames<'_>, target: Option<&Target>) -> bool {
        self.is_for_tool(tool)
            && self.target.as_ref().is_none_or(|clause| {
                target.is_some_and(|target| match self.verdict {
                    Verdict::Allow => clause.permits(target),
                    // A denial looks behind folders, options and launchers; a permission must not cover what it does not spell.
                    Verdict::Ask | Verdict::Deny => clause.concerns(target),
                })
            })
    }

    /// Returns the word that an allowing rule would have to spell to apply to the target.
    pub(super) fn unspelled(&self, target: &Target) -> Option<UnspelledWord> {
        self.target
            .as_ref()
            .filter(|_| self.verdict == Verdict::Allow)
            .and_then(|clause| clause.unspelled(target))
    }

    fn may_allow(&self, target: &Target) -> bool {
        let clause = self.target.as_ref();
        target.approval_default() < ApprovalDefault::AlwaysAsk
            || clause.is_some_and(|it| it.scheme().is_some() && it.access().is_some())
    }
}

impl TryFrom<RuleData> for Rule {
    type Error = InvalidRule;

    fn try_from(data: RuleData) -> Result<Self, InvalidRule> {
        let mut rule = Self::new(data.verdict, data.tool.as_deref(), data.target)?;
        rule.reason = data.reason;
        let rule = data
            .r#match
            .iter()
            .try_fold(rule, |rule, example| rule.with_match(example))?;
        data.not_match
            .iter()
            .try_fold(rule, |rule, example| rule.with_not_match(example))
    }
}

/// Writes the form that is read, without examples. The origins are left out.
impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut rule = serializer.serialize_struct("Rule", 4)?;
        rule.serialize_field("verdict", &self.verdict)?;
        rule.serialize_field("tool", &self.tool.as_ref().map(ToolGlob::as_str))?;
        rule.serialize_field("target", &self.target)?;
        rule.serialize_field("reason", &self.reason)?;
        rule.end()
    }
}

/// Formats the rule for people: `deny fs.* on fs:*:**/.env`.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tool = self.tool.as_ref().map_or("every tool", ToolGlob::as_str);
        write!(f, "{} {tool}", self.verdict)?;
        self.target
            .as_ref()
            .map_or(Ok(()), |clause| write!(f, " on {clause}"))
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        (self.verdict, &self.tool, &self.target, &self.reason)
            == (other.verdict, &other.tool, &other.target, &other.reason)
    }
}

impl Eq for Rule {}

/// Parses an example call.
fn compile_tool(glob: &str) -> Result<ToolGlob, InvalidRule> {
    ToolGlob::compile(glob).map_err(|reason| InvalidRule::Tool {
        glob: glob.to_owned(),
        reason,
    })
}

fn call(example: &str) -> Result<(ToolName, Option<Target>), InvalidRule> {
    read_call(example).map_err(|reason| InvalidRule::Example {
        example: example.to_owned(),
        reason,
    })
}

fn read_call(example: &str) -> Result<(ToolName, Option<Target>), String> {
    let (tool, target) = match example.split_once(' ') {
        Some((tool, target)) => (tool, Some(target)),
        None => (example, None),
    };
    let tool = ToolName::new(tool).map_err(|error| error.to_string())?;
    let target = target.map(str::parse::<Target>).transpose();
    Ok((tool, target.map_err(|error| error.to_string())?))
}

/// The decision of a rule about a call, ordered by strictness. Of several verdicts the greatest holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The call runs if it is granted.
    Allow,
    /// The call needs approval.
    Ask,
    /// The call is refused.
    Deny,
}

/// Writes `allow`, `ask` or `deny`.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// An error from creating a [`Rule`](super::Rule) or from checking it against its examples.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidRule {
    /// The rule names neither tools nor targets.
    #[error(
        "the rule has neither `tool` nor `target`; add one, such as `tool = \"*\"` for every tool"
    )]
    Empty,
    /// The glob over tool names is invalid.
    #[error("{glob:?} is not a glob over tool names: {reason}; write one such as `fs.*`")]
    Tool {
        /// The glob.
        glob: String,
        /// The error of the glob.
        reason: String,
    },
    /// The example does not describe a call.
    #[error(
        "the example {example:?} cannot be read: {reason}; write a tool and a target, such as `fs.read fs:read:src/a`, \
         or a tool alone"
    )]
    Example {
        /// The example.
        example: String,
        /// The error of the example.
        reason: String,
    },
    /// The rule does not apply to an example that it must apply to.
    #[error(
        "the rule `{rule}` does not apply to its example {example:?}{why}; change the rule or the example"
    )]
    Unmatched {
        /// The rule.
        rule: String,
        /// The example.
        example: String,
        /// The reason, or an empty string if the globs do not match.
        why: &'static str,
    },
    /// The rule applies to an example that it must not apply to.
    #[error(
        "the rule `{rule}` applies to its counterexample {example:?}; change the rule or the example"
    )]
    Matched {
        /// The rule.
        rule: String,
        /// The example.
        example: String,
    },
}

/// A glob over tool names, with its text. `*` also matches dots and slashes. Equality compares the texts.
#[derive(Clone)]
pub struct ToolGlob {
    text: String,
    glob: GlobMatcher,
}

impl ToolGlob {
    /// Compiles a glob.
    ///
    /// # Errors
    /// Returns the reason if the text is empty or no glob.
    pub fn compile(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("it is empty".to_owned());
        }
        // A tool name is not a path: it has no separators, and escapes are the same on every platform.
        let glob = GlobBuilder::new(text)
            .literal_separator(false)
            .backslash_escape(true)
            .build();
        let glob = glob
            .map_err(|error| error.kind().to_string())?
            .compile_matcher();
        Ok(Self {
            text: text.to_owned(),
            glob,
        })
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns true if the glob matches the name or a former name of the tool.
    pub fn matches<'a>(&self, tool: impl Into<ToolNames<'a>>) -> bool {
        tool.into()
            .iter()
            .any(|name| self.glob.is_match(name.as_str()))
    }
}

impl fmt::Debug for ToolGlob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

impl PartialEq for ToolGlob {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for ToolGlob {}
