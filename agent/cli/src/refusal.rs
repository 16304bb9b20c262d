//! [`Refusal`]: a call that was not let run, and what would let it.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tools::policy::{Rule, Sensitivity, Verdict};
use tools::{ErrorCode, Target, ToolError, ToolName, ToolResult};

use crate::config::Setting;

/// A call that was refused for what it touches, or for what a rule says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    tool: ToolName,
    /// What it was refused for; nothing where the call touches nothing.
    targets: Vec<Target>,
    /// The targets that no flag allows: settings of the program.
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
    /// The refusal that a result tells of a call of this tool on these targets; `None` where it failed for another reason.
    pub(crate) fn told(tool: &str, touched: &[Target], code: ErrorCode, result: &ToolResult) -> Option<Self> {
        let error = result.structured.as_ref()?.value().get("error")?;
        let list = |key| error.get(key).and_then(Value::as_array).into_iter().flatten();
        let needed = || list("needed").filter_map(|target| target.as_str()?.parse().ok()).collect();
        let is_setting = |told: &&Value| told.get("sensitivity").is_some_and(|it| *it == json!(Sensitivity::Settings));
        let settings = list("sensitive").filter(is_setting);
        let settings = settings.filter_map(|told| told.get("target")?.as_str()?.parse().ok()).collect();
        let (cause, targets) = match code {
            ErrorCode::PermissionDenied => (Cause::Ungranted, needed()),
            ErrorCode::Unapproved => (Cause::Unapproved, needed()),
            ErrorCode::Denied => (Cause::Denied, touched.to_vec()),
            _ => return None,
        };
        Some(Self { tool: tool.parse().ok()?, targets, settings, cause })
    }

    /// The refusal that an error is, if it is one.
    pub(crate) fn of(error: &ToolError, touched: &[Target]) -> Option<Self> {
        Self::told(error.tool_name(), touched, error.code(), &ToolResult::from(error))
    }

    /// The rules behind it: no flag changes what they say.
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

/// What would have let the calls run: flags or a command, as the caller words it, and for what a rule of a file says, that rule.
pub(crate) fn hints(
    refusals: &[Refusal],
    rules: &[Setting<Rule>],
    how_to_grant: impl Fn(&[Target]) -> String,
) -> Vec<String> {
    let mut needed = BTreeSet::new();
    let settings: BTreeSet<_> = refusals.iter().flat_map(|refusal| &refusal.settings).collect();
    let mut behind: Vec<&Setting<Rule>> = Vec::new();
    for refusal in refusals {
        let is_flag_of_use = |target: &&Target| match refusal.cause {
            Cause::Ungranted => true,
            Cause::Unapproved => !refusal.settings.contains(target) && refusal.rule(Some(target), rules).is_none(),
            Cause::Denied => false,
        };
        needed.extend(refusal.targets.iter().filter(is_flag_of_use).cloned());
        for rule in refusal.rules(rules) {
            if !behind.contains(&rule) {
                behind.push(rule);
            }
        }
    }
    let needed: Vec<_> = needed.into_iter().collect();
    let flags = (!needed.is_empty()).then(|| how_to_grant(&needed));
    let settings = settings.into_iter().map(|target| {
        format!("no flag allows {target}, since it decides what tools may do; change the file yourself, or answer on a terminal")
    });
    flags.into_iter().chain(settings).chain(behind.into_iter().map(how_to_change)).collect()
}

fn how_to_change(Setting { value: rule, origin }: &Setting<Rule>) -> String {
    match rule.verdict() {
        Verdict::Deny => format!("the rule `{rule}` at {origin} is against it; to allow it, change the rule"),
        _ => format!(
            "the rule `{rule}` at {origin} asks about it, whatever is granted; change the rule, or answer on a terminal"
        ),
    }
}
