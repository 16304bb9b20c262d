//! [`Ruling`]: the decision about one target of a call, with its reasons.

use std::fmt;

use protocol::{ApprovalDefault, Clause, Grant, Target, ToolName};

use super::{Policy, Rule, SensitivePath, SensitivePaths, Verdict};

/// The decision about one target of a call, or about a call without targets, with its reasons. The pipeline decides by these
/// rulings, so decision and explanation cannot differ. The strictest verdict about a target holds for the call.
///
/// [`ToolContext::rulings`](crate::ToolContext::rulings) returns them. The reasons are complete:
///
/// - *Denied*: one [`Reason::Rules`], all rules that deny. Without them the target is not denied.
/// - *Asked about*: every reason to ask. Without the rules of a [`Reason::Rules`], the other reasons remain and no other is added; if
///   there are none, the target is allowed.
/// - *Allowed*: every group of clauses and rules that it needs. Without all members of any one group, the target is asked about.
///
/// A group has several members if each of them suffices, such as overlapping clauses: taking away one of them changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ruling<'a> {
    /// The target, or `None` for a call without targets.
    pub target: Option<&'a Target>,
    /// The reasons, at least one.
    pub reasons: Vec<Reason<'a>>,
}

/// A reason of a [`Ruling`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason<'a> {
    /// Allows: these clauses of one layer of the grant cover the target. There is one such reason for each layer, in order.
    Granted(Vec<&'a Clause>),
    /// Allows: the call touches nothing, and no rule is about it.
    Untouched,
    /// Denies, asks or allows, as the verdict of these rules says.
    Rules(Vec<&'a Rule>),
    /// Asks: a layer of the grant has no clause that covers the target.
    Ungranted,
    /// Asks: no rule is about the target, and the policy asks about its access by default.
    Default(ApprovalDefault),
    /// Asks: the target is a sensitive path. It is a setting, or neither the grant nor a rule names it.
    Sensitive(&'a SensitivePath),
}

impl<'a> Ruling<'a> {
    pub(crate) fn new(
        grant: &'a Grant,
        policy: Option<&'a Policy>,
        paths: &'a SensitivePaths,
        tool: &ToolName,
        target: Option<&'a Target>,
    ) -> Self {
        let all = policy.map_or(&[][..], Policy::rules);
        let (mut denying, mut asking, mut allowing) = (Vec::new(), Vec::new(), Vec::new());
        for rule in all.iter().filter(|rule| rule.applies(tool, target)) {
            match rule.verdict() {
                Verdict::Deny => denying.push(rule),
                Verdict::Ask => asking.push(rule),
                Verdict::Allow => allowing.push(rule),
            }
        }
        if !denying.is_empty() {
            return Self { target, reasons: vec![Reason::Rules(denying)] };
        }
        let mut granted = Vec::new();
        let mut asks = Vec::new();
        for layer in grant.layers().filter(|_| target.is_some()) {
            let covering: Vec<_> = layer.iter().filter(|clause| target.is_some_and(|it| clause.matches(it))).collect();
            if covering.is_empty() { asks = vec![Reason::Ungranted] } else { granted.push(Reason::Granted(covering)) }
        }
        if !asking.is_empty() {
            asks.push(Reason::Rules(asking));
        }
        let default = target.filter(|_| policy.is_some_and(|policy| policy.default_for(target) == Verdict::Ask));
        if let (Some(target), true) = (default, allowing.is_empty()) {
            asks.push(Reason::Default(target.approval_default()));
        }
        let sensitive = target.into_iter().flat_map(|it| paths.needing_approval(grant, policy, Some(tool), it));
        asks.extend(sensitive.map(Reason::Sensitive));
        if !asks.is_empty() {
            return Self { target, reasons: asks };
        }
        let Some(touched) = target else {
            let reason = if allowing.is_empty() { Reason::Untouched } else { Reason::Rules(allowing) };
            return Self { target, reasons: vec![reason] };
        };
        if default.is_none() {
            // The rules decide nothing, except where they name a sensitive path that the grant does not name.
            allowing = paths.naming_rules(grant, &allowing, touched);
        }
        granted.extend((!allowing.is_empty()).then_some(Reason::Rules(allowing)));
        Self { target, reasons: granted }
    }

    /// Returns the verdict: the strictest of the reasons.
    pub fn verdict(&self) -> Verdict {
        self.reasons.iter().map(Reason::verdict).max().unwrap_or(Verdict::Ask)
    }

    /// Returns the decision without the value of the target, which the arguments contain: its access and scheme, the verdict and the
    /// reasons.
    pub fn summary(&self) -> String {
        let subject = match self.target {
            Some(target) => format!("{}:{}", target.scheme(), target.access()),
            None => "the call".to_owned(),
        };
        let reasons: Vec<String> = self.reasons.iter().map(Reason::to_string).collect();
        format!("{subject} {}: {}", outcome(self.verdict()), reasons.join("; "))
    }

    /// Returns the summaries of all rulings about a call, without repetitions.
    pub fn summary_of(rulings: &[Self]) -> String {
        let mut summaries: Vec<_> = rulings.iter().map(Self::summary).collect();
        summaries.dedup();
        summaries.join(" | ")
    }

    /// Returns the reason for a denial as text, or `None` if the target is not denied.
    pub(crate) fn denial(&self) -> Option<String> {
        match &self.reasons[..] {
            [Reason::Rules(rules)] => {
                let rule = rules.last().filter(|rule| rule.verdict() == Verdict::Deny)?;
                Some(super::denial(Some(rule), self.target))
            }
            _ => None,
        }
    }
}

impl Reason<'_> {
    /// Returns the verdict that the reason leads to.
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::Granted(_) | Self::Untouched => Verdict::Allow,
            Self::Rules(rules) => rules.iter().map(|rule| rule.verdict()).max().unwrap_or(Verdict::Allow),
            Self::Ungranted | Self::Default(_) | Self::Sensitive(_) => Verdict::Ask,
        }
    }
}

/// Returns the verdict in words that follow a target.
fn outcome(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "is allowed",
        Verdict::Ask => "is asked about",
        Verdict::Deny => "is denied",
    }
}

/// Writes `fs:write:a is asked about: no clause of the grant covers it`.
impl fmt::Display for Ruling<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.target {
            Some(target) => write!(f, "{target}")?,
            None => f.write_str("the call")?,
        }
        write!(f, " {}: ", outcome(self.verdict()))?;
        for (index, reason) in self.reasons.iter().enumerate() {
            write!(f, "{}{reason}", if index == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Granted(clauses) => write!(f, "the grant covers it by {}", quoted(clauses, "or")),
            Self::Untouched => f.write_str("it touches nothing, and no rule is about it"),
            Self::Rules(rules) => write!(f, "{} decides", quoted_rules(rules)),
            Self::Ungranted => f.write_str("no clause of the grant covers it"),
            Self::Default(ApprovalDefault::AlwaysAsk) => {
                f.write_str("no rule allows it, and this access always asks by default")
            }
            Self::Default(_) => f.write_str("no rule allows it, and this access asks by default"),
            Self::Sensitive(path) => write!(f, "the sensitive path `{}`: {}", path.pattern(), path.note()),
        }
    }
}

fn quoted(items: &[impl fmt::Display], last: &str) -> String {
    let items: Vec<_> = items.iter().map(|item| format!("`{item}`")).collect();
    match items.split_last() {
        Some((end, rest)) if !rest.is_empty() => format!("{} {last} {end}", rest.join(", ")),
        _ => items.concat(),
    }
}

fn quoted_rules(rules: &[&Rule]) -> String {
    let noun = if rules.len() == 1 { "the rule" } else { "each of the rules" };
    format!("{noun} {}", quoted(rules, "and"))
}
