//! Refused calls, for people: the reason, and the [`Remedy`] that would permit them.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Value, json};
use tools::policy::{Rule, Sensitivity, Verdict};
use tools::{ErrorCode, Target, ToolError, ToolErrorKind, ToolName, ToolResult, join};

/// A call refused for its targets or by a rule.
///
/// ```
/// use agent::refusal::{Refusal, remedies};
/// use tools::policy::{Rule, Verdict};
/// use tools::{ToolError, ToolErrorKind};
///
/// let error = ToolError::new("fs.write", ToolErrorKind::Denied { reason: "by a rule".to_owned() });
/// let refusal = Refusal::from_error(&error, &["fs:write:a".parse()?]).unwrap();
/// let rule = Rule::for_target(Verdict::Deny, "fs:write:**".parse()?).with_origin("settings.toml:3");
/// let remedies = remedies(&[refusal], [&rule]);
/// assert!(remedies[0].to_string().contains("at settings.toml:3 denies it"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The tool.
    pub tool: ToolName,
    /// The refused targets; empty if the call has none.
    pub targets: Vec<Target>,
    /// The targets that no grant can allow: settings of the host, and URLs that carry out text.
    settings: Vec<Target>,
    cause: Cause,
}

/// A change that would permit refused calls. A host may word a remedy itself, for example as flags. `Display` has general words and
/// names the [origins](Rule::origins) of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy<'a> {
    /// Grant these targets. Those that [always ask](Target::approval_default) also need an allow rule.
    Grant(Vec<Target>),
    /// Approve the call on this target each time, or edit the file by hand. No grant allows it: it is a setting of the host, or a command
    /// with [parts that are not known](Target::has_unknown_words) before it runs.
    Approve(Target),
    /// Change the rule, which no grant overrides.
    ChangeRule(&'a Rule),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Ungranted,
    Unapproved,
    Denied,
}

impl Refusal {
    /// Reads the refusal from the result of a call that touches these targets. Both are in [`Event`](crate::Event)s. Returns `None`
    /// if the call failed for another reason.
    pub fn from_result(
        tool: &str,
        touched: &[Target],
        code: ErrorCode,
        result: &ToolResult,
    ) -> Option<Self> {
        let error = result.structured.as_ref()?.value().get("error")?;
        let list = |key| {
            let listed = error.get(key).and_then(Value::as_array);
            listed.into_iter().flatten()
        };
        let needed = || {
            let needed = list("needed").filter_map(Value::as_str);
            needed.filter_map(|target| target.parse().ok()).collect()
        };
        let settings = json!(Sensitivity::Settings);
        let settings = list("sensitive").filter(|entry| entry["sensitivity"] == settings);
        let unnamed = error.get("concern");
        let unnamed = unnamed.filter(|entry| entry["can_be_named"] == false);
        let settings = settings
            .chain(unnamed)
            .filter_map(|entry| entry.get("target")?.as_str()?.parse().ok())
            .collect();
        let (cause, targets) = match code {
            ErrorCode::PermissionDenied => (Cause::Ungranted, needed()),
            ErrorCode::Unapproved => (Cause::Unapproved, needed()),
            ErrorCode::Denied => (Cause::Denied, touched.to_vec()),
            _ => return None,
        };
        Some(Self {
            tool: tool.parse().ok()?,
            targets,
            settings,
            cause,
        })
    }

    /// Reads the refusal from the error of a call that touches these targets. Returns `None` for other errors.
    pub fn from_error(error: &ToolError, touched: &[Target]) -> Option<Self> {
        Self::from_result(
            error.tool_name(),
            touched,
            error.code(),
            &ToolResult::from(error),
        )
    }

    /// Returns the positions of the rules that cause the refusal.
    fn rules(&self, rules: &[&Rule]) -> Vec<usize> {
        match &self.targets[..] {
            [] => self.rule(None, rules).into_iter().collect(),
            targets => targets
                .iter()
                .filter_map(|target| self.rule(Some(target), rules))
                .collect(),
        }
    }

    fn rule(&self, target: Option<&Target>, rules: &[&Rule]) -> Option<usize> {
        let verdict = if self.cause == Cause::Denied {
            Verdict::Deny
        } else {
            Verdict::Ask
        };
        let mut rules = rules.iter();
        rules.position(|rule| rule.verdict == verdict && rule.applies(&self.tool, target))
    }
}

/// Returns the changes that would permit the calls, each once. `rules` are the rules of the policy that a person can change.
pub fn remedies<'a>(
    refusals: &[Refusal],
    rules: impl IntoIterator<Item = &'a Rule>,
) -> Vec<Remedy<'a>> {
    let rules: Vec<_> = rules.into_iter().collect();
    let mut needed = BTreeSet::new();
    let settings = refusals.iter().flat_map(|refusal| &refusal.settings);
    let settings: BTreeSet<_> = settings.collect();
    let mut causes = Vec::new();
    for refusal in refusals {
        let ungranted = refusal.targets.iter().filter(|target| match refusal.cause {
            Cause::Ungranted => true,
            Cause::Unapproved => {
                !refusal.settings.contains(target) && refusal.rule(Some(target), &rules).is_none()
            }
            // No grant overrides a rule that denies.
            Cause::Denied => false,
        });
        needed.extend(ungranted.cloned());
        for rule in refusal.rules(&rules) {
            if !causes.contains(&rule) {
                causes.push(rule);
            }
        }
    }
    // A clause for such a command would permit nothing, so no grant is advised.
    let (unknown, needed): (Vec<_>, Vec<_>) =
        needed.into_iter().partition(Target::has_unknown_words);
    let grant = (!needed.is_empty()).then_some(Remedy::Grant(needed));
    let approve = unknown.into_iter().chain(settings.into_iter().cloned());
    let approve = approve.map(Remedy::Approve);
    let change = causes.into_iter();
    let change = change.map(|index| Remedy::ChangeRule(rules[index]));
    grant.into_iter().chain(approve).chain(change).collect()
}

/// Returns the message of an error for a person. The messages of refusals advise a model, such as not to retry; other errors
/// keep theirs.
pub fn for_person(error: &ToolError) -> String {
    let tool = error.tool_name();
    match error.kind() {
        ToolErrorKind::PermissionDenied { needed, granted } => {
            format!(
                "{tool} needs {}, but the grant is {}",
                join(needed, ", "),
                granted.excerpt(needed)
            )
        }
        ToolErrorKind::Denied { reason } => format!("{tool} was not run: {reason}"),
        ToolErrorKind::Unapproved {
            waited,
            sensitive,
            unnamed,
            concern,
            ..
        } => {
            let reason = match waited {
                None => "it needs approval, and there is no one to ask".to_owned(),
                Some(waited) => format!("the approval request timed out after {waited:?}"),
            };
            let host = |target: &Target| format!("; no grant names the host `{}`", target.value());
            let warnings: String = sensitive
                .iter()
                .map(|(target, path)| {
                    format!(
                        "; `{}` is {}",
                        target.value(),
                        path.describe(target.value())
                    )
                })
                .chain(unnamed.iter().map(host))
                .collect();
            let concern = concern
                .as_ref()
                .map(|concern| format!("; {}", concern.reason))
                .unwrap_or_default();
            format!("{tool} was not run: {reason}{warnings}{concern}")
        }
        _ => error.to_string(),
    }
}

impl fmt::Display for Remedy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Grant(targets) => {
                // As clauses, in which the brackets of an address or a file name are escaped.
                let clauses = join(targets.iter().map(Target::to_clause), ", ");
                write!(f, "to allow it, grant {clauses}")
            }
            // A clause would not allow such a command, so none is advised.
            Self::Approve(target) if target.has_unknown_words() => write!(
                f,
                "no grant allows {target}, because the command has parts that are not known before it runs; approve the call"
            ),
            Self::Approve(target) => write!(
                f,
                "no grant allows {target}, because it decides what tools may do; edit the file yourself, or approve the call"
            ),
            Self::ChangeRule(rule) => {
                let origins = rule.origins();
                let verdict = rule.verdict;
                let at = (!origins.is_empty()).then(|| format!(" at {origins}"));
                let at = at.unwrap_or_default();
                let words = match verdict {
                    Verdict::Deny => "denies it; to allow it, change the rule",
                    _ => "asks about it even if granted; change the rule, or approve the call",
                };
                write!(f, "the rule `{rule}`{at} {words}")
            }
        }
    }
}
