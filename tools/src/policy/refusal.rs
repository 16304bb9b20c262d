//! What a call is told that the policy stops.

use std::time::Duration;

use protocol::{Target, ToolName};

use super::Rule;
use crate::{ToolContext, ToolError};

impl ToolError {
    /// A rule is against it.
    pub(crate) fn forbidden(tool: &ToolName, target: Option<&Target>, rule: Option<&Rule>) -> Self {
        let mut reason = match rule {
            Some(rule) => format!("the rule `{rule}` is against it"),
            None => "the policy is against it".to_owned(),
        };
        if let Some(target) = target {
            reason += &format!(", for {target}");
        }
        if let Some(why) = rule.and_then(Rule::reason) {
            reason += &format!(" ({why})");
        }
        Self::Denied { tool: tool.to_string(), reason }
    }

    /// Somebody had to be asked, and gave no answer.
    pub(crate) fn unapproved(cx: &ToolContext, tool: &str, needed: Vec<Target>, waited: Option<Duration>) -> Self {
        let name = ToolName::new(tool).ok();
        let sensitive = |target: &Target| Some((target.clone(), cx.unnamed(name.as_ref(), target).next()?.clone()));
        let sensitive = needed.iter().filter_map(sensitive).collect();
        Self::Unapproved { tool: tool.to_owned(), needed, sensitive, waited }
    }
}
