//! [`Refusal`]: a refused call, and the hints that would permit it.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tools::policy::{Rule, Sensitivity, Verdict};
use tools::{ErrorCode, Target, ToolError, ToolName, ToolResult};

use crate::config::Setting;

/// A call refused for its targets or by a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    tool: ToolName,
    /// The refused targets; empty if the call has none.
    targets: Vec<Target>,
    /// The targets that no flag can allow: settings of the program.
    settings: Vec<Target>,
    cause: Cause,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Ungranted,
    Unapproved,
    Denied,
}

impl Refusal {
    /// Reads the refusal from the result of a call. Returns `None` if the call failed for another reason.
    pub(crate) fn from_result(tool: &str, touched: &[Target], code: ErrorCode, result: &ToolResult) -> Option<Self> {
        let error = result.structured.as_ref()?.value().get("error")?;
        let list = |key| error.get(key).and_then(Value::as_array).into_iter().flatten();
        let needed = || list("needed").filter_map(|target| target.as_str()?.parse().ok()).collect();
        let is_setting =
            |entry: &&Value| entry.get("sensitivity").is_some_and(|kind| *kind == json!(Sensitivity::Settings));
        let settings = list("sensitive").filter(is_setting);
        let settings = settings.filter_map(|entry| entry.get("target")?.as_str()?.parse().ok()).collect();
        let (cause, targets) = match code {
            ErrorCode::PermissionDenied => (Cause::Ungranted, needed()),
            ErrorCode::Unapproved => (Cause::Unapproved, needed()),
            ErrorCode::Denied => (Cause::Denied, touched.to_vec()),
            _ => return None,
        };
        Some(Self { tool: tool.parse().ok()?, targets, settings, cause })
    }

    /// Reads the refusal from an error. Returns `None` for other errors.
    pub(crate) fn from_error(error: &ToolError, touched: &[Target]) -> Option<Self> {
        Self::from_result(error.tool_name(), touched, error.code(), &ToolResult::from(error))
    }

    /// Returns the rules that cause the refusal; no flag overrides them.
    fn rules<'a>(&self, rules: &'a [Setting<Rule>]) -> Vec<&'a Setting<Rule>> {
        match &self.targets[..] {
            [] => self.rule(None, rules).into_iter().collect(),
            targets => targets.iter().filter_map(|target| self.rule(Some(target), rules)).collect(),
        }
    }

    fn rule<'a>(&self, target: Option<&Target>, rules: &'a [Setting<Rule>]) -> Option<&'a Setting<Rule>> {
        let verdict = if self.cause == Cause::Denied { Verdict::Deny } else { Verdict::Ask };
        rules.iter().find(|rule| rule.value.verdict() == verdict && rule.value.applies(&self.tool, target))
    }
}

/// Returns the hints that would permit the calls: flags or a command, worded by `how_to_grant`, and the rules to change.
pub(crate) fn hints(
    refusals: &[Refusal],
    rules: &[Setting<Rule>],
    how_to_grant: impl Fn(&[Target]) -> String,
) -> Vec<String> {
    let mut needed = BTreeSet::new();
    let settings: BTreeSet<_> = refusals.iter().flat_map(|refusal| &refusal.settings).collect();
    let mut causes: Vec<&Setting<Rule>> = Vec::new();
    for refusal in refusals {
        let can_be_granted = |target: &&Target| match refusal.cause {
            Cause::Ungranted => true,
            Cause::Unapproved => !refusal.settings.contains(target) && refusal.rule(Some(target), rules).is_none(),
            Cause::Denied => false,
        };
        needed.extend(refusal.targets.iter().filter(can_be_granted).cloned());
        for rule in refusal.rules(rules) {
            if !causes.contains(&rule) {
                causes.push(rule);
            }
        }
    }
    let needed: Vec<_> = needed.into_iter().collect();
    let flags = (!needed.is_empty()).then(|| how_to_grant(&needed));
    let settings = settings.into_iter().map(|target| {
        format!("no flag allows {target}, because it decides what tools may do; edit the file yourself, or approve on a terminal")
    });
    flags.into_iter().chain(settings).chain(causes.into_iter().map(how_to_change)).collect()
}

fn how_to_change(Setting { value: rule, origin }: &Setting<Rule>) -> String {
    match rule.verdict() {
        Verdict::Deny => format!("the rule `{rule}` at {origin} denies it; to allow it, change the rule"),
        _ => format!(
            "the rule `{rule}` at {origin} asks about it even if granted; change the rule, or approve on a terminal"
        ),
    }
}
