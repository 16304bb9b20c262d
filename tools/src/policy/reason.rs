//! [`Reason`]: a reason of a ruling.

use std::fmt;

use protocol::{ApprovalDefault, Clause, Origins};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::{Rule, SensitivePath, Verdict};

/// A reason of a [`Ruling`](super::Ruling). In JSON, an object with a `kind`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason<'a> {
    /// Allows: these clauses of one layer of the grant cover the target. There is one such reason for each layer, in order.
    Granted(Vec<&'a Clause>),
    /// Allows: the call touches nothing, and no rule is about it.
    Untouched,
    /// Denies, asks or allows, as the verdict of these rules says. They are distinct.
    Rules(Vec<&'a Rule>),
    /// Asks: a layer of the grant has no clause that covers the target.
    Ungranted,
    /// Asks: no rule is about the target, and the policy asks about its access by default.
    Default(ApprovalDefault),
    /// Asks: the target is a sensitive path. It is a setting, or neither the grant nor a rule names it.
    Sensitive(&'a SensitivePath),
    /// Asks: the command has [words](protocol::Words) that are not known before it runs. No clause and no rule lifts this.
    UnknownWords,
    /// Asks: the call reads a host that neither the grant nor a rule names. A read carries data out by its URL.
    ///
    /// - A clause of scheme `net` names the hosts that it covers if it has no wildcard in the host: `net:read:example.org`,
    ///   `net:*:localhost:*`. Every layer of the grant must have such a clause, so an intersection never names more than either side.
    /// - An allowing rule names a host if its target does, or if it has a tool without wildcards and a target of scheme `net`.
    UnnamedHost,
}

impl<'a> Reason<'a> {
    /// Returns the reason for a decision by these rules, or `None` if there are no rules.
    pub(super) fn from_rules(rules: impl IntoIterator<Item = &'a Rule>) -> Option<Self> {
        let rules: Vec<_> = rules.into_iter().collect();
        (!rules.is_empty()).then_some(Self::Rules(rules))
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Granted(_) => "granted",
            Self::Untouched => "untouched",
            Self::Rules(_) => "rules",
            Self::Ungranted => "ungranted",
            Self::Default(_) => "default",
            Self::Sensitive(_) => "sensitive",
            Self::UnknownWords => "unknown_words",
            Self::UnnamedHost => "unnamed_host",
        }
    }

    /// Returns the verdict that the reason leads to.
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::Granted(_) | Self::Untouched => Verdict::Allow,
            Self::Rules(rules) => rules
                .iter()
                .map(|rule| rule.verdict)
                .max()
                .unwrap_or(Verdict::Allow),
            Self::Ungranted
            | Self::Default(_)
            | Self::Sensitive(_)
            | Self::UnknownWords
            | Self::UnnamedHost => Verdict::Ask,
        }
    }
}

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Granted(clauses) => {
                let clauses = clauses.iter().map(|clause| clause.origins().locate(clause));
                write!(f, "the grant covers it by {}", join_items(clauses, "or"))
            }
            Self::Untouched => f.write_str("it touches nothing, and no rule is about it"),
            Self::Rules(rules) => {
                write!(
                    f,
                    "{} decides",
                    subject(rules, |rule| rule.origins().locate(rule))
                )
            }
            Self::Ungranted => f.write_str("no clause of the grant covers it"),
            Self::Default(ApprovalDefault::AlwaysAsk) => {
                f.write_str("no rule allows it, and this access always asks by default")
            }
            Self::Default(_) => f.write_str("no rule allows it, and this access asks by default"),
            Self::Sensitive(path) => {
                write!(f, "the sensitive path `{}`: {}", path.pattern, path.note)
            }
            Self::UnknownWords => {
                f.write_str("the command has parts that are not known before it runs")
            }
            Self::UnnamedHost => {
                f.write_str("no clause and no rule names the host without wildcards")
            }
        }
    }
}

/// Each clause and each rule is an object with its origins, if it has any.
impl Serialize for Reason<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", self.kind())?;
        match self {
            Self::Granted(clauses) => {
                let clauses = clauses
                    .iter()
                    .map(|clause| object("clause", clause, clause.origins()));
                map.serialize_entry("clauses", &clauses.collect::<Vec<_>>())?;
            }
            Self::Rules(rules) => {
                let rules = rules
                    .iter()
                    .map(|rule| object("rule", rule, rule.origins()));
                map.serialize_entry("rules", &rules.collect::<Vec<_>>())?;
            }
            Self::Default(default) => map.serialize_entry("default", default)?,
            Self::Sensitive(path) => {
                map.serialize_entry("pattern", &path.pattern)?;
                map.serialize_entry("sensitivity", &path.sensitivity)?;
                map.serialize_entry("note", &path.note)?;
            }
            Self::Untouched | Self::Ungranted | Self::UnknownWords | Self::UnnamedHost => {}
        }
        map.end()
    }
}

fn object(key: &str, item: impl fmt::Display, origins: &Origins) -> Value {
    let mut object = json!({key: item.to_string()});
    if !origins.is_empty() {
        object["origins"] = json!(origins);
    }
    object
}

fn join_items(items: impl Iterator<Item = String>, last: &str) -> String {
    let items: Vec<_> = items.collect();
    match items.split_last() {
        Some((end, rest)) if !rest.is_empty() => format!("{} {last} {end}", rest.join(", ")),
        _ => items.concat(),
    }
}

/// Returns the rules as the subject of a sentence, each in the words of `shown`.
pub(super) fn subject(rules: &[&Rule], shown: impl Fn(&Rule) -> String) -> String {
    let noun = if rules.len() == 1 {
        "the rule"
    } else {
        "each of the rules"
    };
    format!(
        "{noun} {}",
        join_items(rules.iter().map(|rule| shown(rule)), "and")
    )
}
