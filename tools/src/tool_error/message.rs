//! The texts of errors.

use std::fmt;
use std::time::Duration;

use protocol::Target;

use super::ToolErrorKind;
use crate::policy::{SensitivePath, Sensitivity};
use crate::{Source, Violation};

/// A kind of error in words, about a tool where there is a name.
pub(super) struct Message<'a> {
    pub(super) kind: &'a ToolErrorKind,
    pub(super) tool: Option<&'a str>,
}

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tool = self.tool.map_or("the tool", display_name);
        match self.kind {
            ToolErrorKind::NotFound { near } => match self.tool {
                Some(name) => write!(f, "there is no tool named {name:?}{}", suggested(near)),
                None => write!(f, "there is no tool of that name{}", suggested(near)),
            },
            ToolErrorKind::Conflict { sources } => write!(
                f,
                "{tool} is declared by {}; unlink or rename one of them, or settle it with replace",
                Source::listed(sources)
            ),
            ToolErrorKind::InvalidArguments { violations } => {
                write!(f, "the arguments of {tool} do not fit: {}", listed(violations))
            }
            ToolErrorKind::PermissionDenied { needed, granted } => write!(
                f,
                "{tool} needs {}, and what is granted is {granted}; ask for the grant, or work inside what is granted",
                joined(needed)
            ),
            ToolErrorKind::Denied { reason } => write!(
                f,
                "the call of {tool} was denied: {reason}; do not repeat it, find another way or ask what is wanted"
            ),
            ToolErrorKind::Unapproved { needed, sensitive, waited } => {
                f.write_str(&unapproved(tool, needed, sensitive, *waited))
            }
            ToolErrorKind::Replaced => write!(
                f,
                "{tool} was replaced while its call was being approved; look at what it is now, and call it again"
            ),
            ToolErrorKind::Unavailable { reason } => write!(f, "{tool} is not available here: {reason}"),
            ToolErrorKind::Overloaded { retry_after } => {
                write!(f, "{tool} has too much to do; try again{}", after(*retry_after))
            }
            ToolErrorKind::Timeout { limit } => write!(
                f,
                "{tool} took longer than {limit:?} and was stopped; ask for less at a time, or allow more time"
            ),
            ToolErrorKind::Cancelled => write!(f, "the call of {tool} was cancelled"),
            ToolErrorKind::Panicked { message } => write!(
                f,
                "{tool} panicked: {message}; this is a fault of the tool, try other arguments or another tool"
            ),
            ToolErrorKind::ExecutionFailed { message } => write!(f, "{tool} failed: {message}"),
            ToolErrorKind::Transient { message, retry_after } => {
                write!(f, "{tool} failed: {message}; that should pass, try again{}", after(*retry_after))
            }
            ToolErrorKind::InvalidOutput { violations } => {
                write!(f, "{tool} gave a result that its definition does not allow: {}", listed(violations))
            }
            ToolErrorKind::OutcomeUnknown => write!(
                f,
                "whether {tool} has done this already is not known: the call was begun before and its end is not on record, so \
                 it was not run again; find out what is there now, and call it anew only if that is needed"
            ),
            ToolErrorKind::Diverged { place } => write!(
                f,
                "the journal has another call than this one of {tool} at {place}; resume the run that was stored, or give the \
                 session another name"
            ),
            ToolErrorKind::Internal { message } => write!(f, "cannot run {tool}: {message}"),
        }
    }
}

/// Returns a name as texts show it.
pub(super) fn display_name(tool: &str) -> &str {
    if tool.trim().is_empty() { "<unnamed>" } else { tool }
}

fn joined(targets: &[Target]) -> String {
    targets.iter().map(Target::to_string).collect::<Vec<_>>().join(", ")
}

/// Violations as one text.
pub(crate) fn listed(violations: &[Violation]) -> String {
    violations.iter().map(Violation::to_string).collect::<Vec<_>>().join("; ")
}

fn suggested(near: &[String]) -> String {
    match near {
        [] => "; list the tools to see what there is: a session has those that were selected, and a crate that nothing names is \
               not linked"
            .to_owned(),
        near => format!("; did you mean {}?", near.join(" or ")),
    }
}

fn unapproved(
    tool: &str,
    needed: &[Target],
    sensitive: &[(Target, SensitivePath)],
    waited: Option<Duration>,
) -> String {
    let targets = joined(needed);
    let what = if targets.is_empty() { "run".to_owned() } else { format!("touch {targets}") };
    match waited {
        None if !sensitive.is_empty() => {
            let told = |(target, path): &(Target, SensitivePath)| {
                let way = match path.sensitivity() {
                    Sensitivity::Settings => "no grant allows it, so leave it to a person".to_owned(),
                    _ => format!("ask for a grant that names it, such as {}", target.to_clause()),
                };
                format!("`{}` is {}; {way}", target.value(), path.describe(target.value()))
            };
            let told: Vec<_> = sensitive.iter().map(told).collect();
            format!(
                "{tool} may {what} only when a person approves of it: {}; or call the tool with that very path where a person \
                 can be asked",
                told.join("; ")
            )
        }
        None => format!(
            "{tool} may {what} only when somebody approves of it, and nobody can be asked here; find another way, or have it \
             allowed beforehand"
        ),
        Some(waited) => format!(
            "nobody answered within {waited:?} whether {tool} may {what}, so it was not run; go on without it, or call it again \
             when somebody is there"
        ),
    }
}

fn after(wait: Option<Duration>) -> String {
    wait.map_or_else(|| " later".to_owned(), |wait| format!(" in {wait:?}"))
}
