//! [`Ruling`]: the decision about one target of a call.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use protocol::{ApprovalDefault, Grant, Target, ToolNames, UnspelledWord};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::json;

use super::reason::subject;
use super::{Policy, Reason, Rule, SensitivePaths, Sensitivity, Verdict, host};
use crate::join::join;

/// The ruling about a call without targets and without a policy, as text.
const UNTOUCHED: &str = "the call is allowed: it touches nothing, and no rule is about it";

/// The decision about one target of a call, or about a call without targets. The strictest verdict about a target holds for the call.
///
/// The pipeline decides by rulings, about the targets that the arguments name and about those that the tool discovers while it runs.
/// [`ToolContext::rulings`](crate::ToolContext::rulings) returns the former. In JSON, a ruling is an object with `target`, `verdict` and
/// `reasons`, the [shown](Self::shown_reasons) ones, and with `unspelled` if there are [such](Self::unspelled) clauses.
#[derive(Clone, Copy)]
pub struct Ruling<'a> {
    /// The target, or `None` for a call without targets.
    pub target: Option<&'a Target>,
    grant: &'a Grant,
    policy: Option<(&'a Policy, ToolNames<'a>)>,
    /// `None` for a call without targets, so that the first such call does not build the built-in table.
    paths: Option<&'a SensitivePaths>,
    /// The verdict.
    pub verdict: Verdict,
}

impl<'a> Ruling<'a> {
    /// Decides about the target, or about a call without targets. `policy` has the names of the called tool.
    pub(crate) fn new(
        grant: &'a Grant,
        policy: Option<(&'a Policy, ToolNames<'a>)>,
        touched: Option<(&'a Target, &'a SensitivePaths)>,
    ) -> Self {
        let (target, paths) = touched.unzip();
        let undecided = Self {
            target,
            grant,
            policy,
            paths,
            verdict: Verdict::Allow,
        };
        let verdict = if target.is_none() && policy.is_none() {
            Verdict::Allow
        // A denial decides before the grant is looked at, so that it also holds for what a person would be asked about.
        } else if undecided.rules(Verdict::Deny).next().is_some() {
            Verdict::Deny
        } else if undecided.asking().next().is_some() {
            Verdict::Ask
        } else {
            Verdict::Allow
        };
        Self {
            verdict,
            ..undecided
        }
    }

    /// Returns the reasons for the decision, at least one. They are complete:
    ///
    /// - *Denied*: one [`Reason::Rules`], all rules that deny. Without them the target is not denied.
    /// - *Asked about*: every reason to ask. Without the rules of a [`Reason::Rules`], the other reasons remain and no other is added; if
    ///   there are none, the target is allowed.
    /// - *Allowed*: every group of clauses and rules that it needs. Without all members of any one group, the target is asked about.
    ///
    /// A group has several members if each of them suffices, such as overlapping clauses: taking away one of them changes nothing.
    pub fn reasons(&self) -> Vec<Reason<'a>> {
        match self.verdict {
            Verdict::Deny => Reason::from_rules(self.rules(Verdict::Deny))
                .into_iter()
                .collect(),
            Verdict::Ask => self.asking().collect(),
            Verdict::Allow => self.allowing(),
        }
    }

    /// Returns the [reasons](Self::reasons) for text: a settings file is described once, however many patterns match it, and an
    /// ungranted host is not also unnamed.
    pub fn shown_reasons(&self) -> Vec<Reason<'a>> {
        let mut reasons = self.reasons();
        if reasons.contains(&Reason::Ungranted) {
            // The clause that grants the host would name it too.
            reasons.retain(|reason| *reason != Reason::UnnamedHost);
        }
        let mut is_described = false;
        reasons.retain(|reason| match (reason, self.target) {
            (Reason::Sensitive(path), Some(target))
                if path.sensitivity == Sensitivity::Settings && path.is_whole(target.value()) =>
            {
                !std::mem::replace(&mut is_described, true)
            }
            _ => true,
        });
        reasons
    }

    /// Returns the clauses of the grant and of allowing rules that match the command and do not cover it, each with its origins and the word
    /// that it does not spell. Empty if the target is not asked about.
    pub fn unspelled(&self) -> Vec<(String, UnspelledWord)> {
        let Some(target) = self.target.filter(|_| self.verdict == Verdict::Ask) else {
            return Vec::new();
        };
        let granted = self.grant.unspelled(target).into_iter();
        let granted = granted.map(|(clause, word)| (clause.origins().locate(clause), word));
        let rules = self.policy.into_iter().flat_map(|(policy, tool)| {
            policy
                .rules()
                .iter()
                .filter(move |rule| rule.is_for_tool(tool))
        });
        let rules = rules.filter_map(|rule| {
            Some((
                rule.origins().locate(rule.target()?),
                rule.unspelled(target)?,
            ))
        });
        let mut found: Vec<_> = granted.chain(rules).collect();
        found.sort_by(|(one, _), (other, _)| one.cmp(other));
        found.dedup_by(|(one, _), (other, _)| one == other);
        found
    }

    /// Returns the rules with this verdict that apply.
    fn rules(self, verdict: Verdict) -> impl Iterator<Item = &'a Rule> {
        let policy = self.policy.into_iter();
        policy.flat_map(move |(policy, tool)| policy.applying(verdict, tool, self.target))
    }

    /// Returns the default by which the policy asks about the target, or `None` if it does not.
    fn default(self) -> Option<ApprovalDefault> {
        self.policy
            .zip(self.target)
            .and_then(|((policy, _), target)| policy.asks_by_default(target))
    }

    /// Returns every reason to ask.
    fn asking(self) -> impl Iterator<Item = Reason<'a>> {
        let ungranted = self
            .target
            .filter(|target| !self.grant.permits(target))
            .map(|_| Reason::Ungranted);
        let rules = Reason::from_rules(self.rules(Verdict::Ask));
        let default = self
            .default()
            .filter(|_| self.rules(Verdict::Allow).next().is_none())
            .map(Reason::Default);
        // No default asks about a read, so one place is enough for both.
        let default = default.or_else(|| {
            let unnamed = self.target.filter(|target| self.is_unnamed_host(target));
            unnamed.map(|_| Reason::UnnamedHost)
        });
        let sensitive = move |(target, paths): (&'a Target, &'a SensitivePaths)| {
            paths.needing_approval(self.grant, self.policy, target)
        };
        let sensitive = self
            .target
            .zip(self.paths)
            .into_iter()
            .flat_map(sensitive)
            .map(Reason::Sensitive);
        let unknown = self
            .target
            .filter(|target| target.has_unknown_words())
            .map(|_| Reason::UnknownWords);
        ungranted
            .into_iter()
            .chain(rules)
            .chain(default)
            .chain(unknown)
            .chain(sensitive)
    }

    /// Returns true if the grant covers the target, and neither the grant nor a rule [names](Reason::UnnamedHost) its host.
    pub fn is_granted_but_unnamed(&self) -> bool {
        self.target
            .is_some_and(|target| self.is_unnamed_host(target) && self.grant.permits(target))
    }

    /// Returns true if the target is a host to read that neither the grant nor a rule names.
    fn is_unnamed_host(self, target: &Target) -> bool {
        host::is_read(target)
            && !host::is_named_in(self.grant, target)
            && !self
                .rules(Verdict::Allow)
                .any(|rule| host::is_named_by(rule, target))
    }

    /// Returns true if the target is a host to read that nobody asks about because a rule allows the tool each host.
    pub(crate) fn is_any_host(self) -> bool {
        self.target.is_some_and(|target| {
            self.verdict == Verdict::Allow
                && host::is_read(target)
                && !host::is_named_in(self.grant, target)
                && !self.rules(Verdict::Allow).any(|rule| {
                    rule.target()
                        .is_some_and(|clause| host::is_named_by_clause(clause, target))
                })
        })
    }

    /// Returns the reasons of a target that is neither denied nor asked about.
    fn allowing(self) -> Vec<Reason<'a>> {
        let allowing: Vec<_> = self.rules(Verdict::Allow).collect();
        let Some((target, paths)) = self.target.zip(self.paths) else {
            return vec![Reason::from_rules(allowing).unwrap_or(Reason::Untouched)];
        };
        let deciding = match self.default() {
            Some(_) => allowing,
            None if host::is_read(target) && !host::is_named_in(self.grant, target) => allowing
                .into_iter()
                .filter(|rule| host::is_named_by(rule, target))
                .collect(),
            // The rules decide nothing, except where they name a host or a sensitive path that the grant does not name.
            None => paths.naming_rules(self.grant, &allowing, target),
        };
        self.grant
            .layers()
            .map(|layer| {
                Reason::Granted(
                    layer
                        .iter()
                        .filter(|clause| clause.permits(target))
                        .collect(),
                )
            })
            .chain(Reason::from_rules(deciding))
            .collect()
    }

    /// Returns the decision about a call without the values of its targets, which the arguments contain: their access and scheme, the
    /// verdict and the reasons.
    pub(crate) fn summary_of(rulings: &[Self]) -> Cow<'static, str> {
        if let [
            Self {
                target: None,
                policy: None,
                ..
            },
        ] = rulings
        {
            return Cow::Borrowed(UNTOUCHED);
        }
        let mut seen = HashSet::new();
        let summaries = rulings.iter().map(|ruling| match ruling.target {
            Some(target) => format!(
                "{}:{} {}",
                target.scheme(),
                target.access(),
                ruling.decision()
            ),
            None => ruling.to_string(),
        });
        let summaries = summaries.filter(|summary| seen.insert(summary.clone()));
        join(summaries, " | ").into()
    }

    /// Returns the reason for a denial as text: the rules that deny. A model reads it, so it leaves out the origins.
    pub fn denial(&self) -> String {
        let rules: Vec<_> = self.rules(Verdict::Deny).collect();
        let target = self
            .target
            .map(|target| format!(", for {target}"))
            .unwrap_or_default();
        let whys: Vec<_> = rules
            .iter()
            .filter_map(|rule| rule.reason.as_deref())
            .collect();
        let whys = if whys.is_empty() {
            String::new()
        } else {
            format!(" ({})", whys.join("; "))
        };
        format!(
            "{} denies it{target}{whys}",
            subject(&rules, |rule| format!("`{rule}`"))
        )
    }

    /// Returns the verdict and the reasons as the rest of a sentence about a target, such as `is denied: …`.
    fn decision(&self) -> String {
        let verdict = match self.verdict {
            Verdict::Allow => "is allowed",
            Verdict::Ask => "is asked about",
            Verdict::Deny => "is denied",
        };
        let reasons: Vec<_> = self.shown_reasons().iter().map(Reason::to_string).collect();
        format!("{verdict}: {}", reasons.join("; "))
    }
}

/// Writes `fs:write:a is asked about: no clause of the grant covers it`.
impl fmt::Display for Ruling<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.target {
            Some(target) => write!(f, "{target} {}", self.decision()),
            None => write!(f, "the call {}", self.decision()),
        }
    }
}

impl fmt::Debug for Ruling<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ruling({self})")
    }
}

impl Serialize for Ruling<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let unspelled = self.unspelled();
        let mut ruling =
            serializer.serialize_struct("Ruling", 3 + usize::from(!unspelled.is_empty()))?;
        ruling.serialize_field("target", &self.target)?;
        ruling.serialize_field("verdict", &self.verdict)?;
        ruling.serialize_field("reasons", &self.shown_reasons())?;
        if !unspelled.is_empty() {
            ruling.serialize_field(
                "unspelled",
                &unspelled.iter().map(|(clause, word)| json!({"clause": clause, "word": word.word, "why": word.to_string()})).collect::<Vec<_>>(),
            )?;
        }
        ruling.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_of_a_call_without_targets_is_its_ruling() {
        let grant = Grant::default();
        let ruling = Ruling::new(&grant, None, None);
        assert_eq!(Ruling::summary_of(&[ruling]), ruling.to_string());
    }

    #[test]
    fn a_summary_has_each_decision_once_and_no_values_of_targets() {
        let grant = Grant::new(["fs:read:**".parse().unwrap()]);
        let texts = [
            "fs:read:canary",
            "fs:write:canary",
            "fs:read:canary2",
            "fs:write:canary2",
        ];
        let targets = texts.map(|target| target.parse::<Target>().unwrap());
        let rulings = targets
            .each_ref()
            .map(|target| Ruling::new(&grant, None, Some((target, SensitivePaths::built_in()))));
        let summary = Ruling::summary_of(&rulings);
        let (read, write) = summary.split_once(" | ").unwrap();
        assert!(
            read.starts_with("fs:read is allowed") && read.contains("`fs:read:**`"),
            "{summary}"
        );
        assert!(
            write.starts_with("fs:write is asked about") && !write.contains('|'),
            "{summary}"
        );
        assert!(!summary.contains("canary"), "{summary}");
    }
}
