//! The messages of errors.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use protocol::Target;

use super::{ToolError, ToolErrorKind};
use crate::concern::Concern;
use crate::join::join;
use crate::policy::{SensitivePath, Sensitivity};
use crate::source::Source;
use crate::spelling::Spelling;

/// The message of an error.
pub(super) struct Message<'a> {
    pub(super) kind: &'a ToolErrorKind,
    pub(super) tool: Option<&'a str>,
    pub(super) spelling: Spelling<'a>,
    /// True if the tool may have taken effect before the call was stopped.
    pub(super) is_unclear: bool,
}

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tool = match self.tool {
            None => Cow::Borrowed("the tool"),
            Some(name) if name.trim().is_empty() => Cow::Borrowed(UNNAMED),
            Some(name) => self.spelling.tool(name),
        };
        match self.kind {
            ToolErrorKind::NotFound { near } => {
                let near: Vec<_> = near.iter().map(|name| self.spelling.tool(name)).collect();
                match self.tool {
                    Some(name) => {
                        write!(
                            f,
                            "there is no tool named {:?}{}",
                            self.spelling.tool(name),
                            suggest(&near)
                        )
                    }
                    None => write!(f, "there is no tool with that name{}", suggest(&near)),
                }
            }
            ToolErrorKind::Conflict { sources } => write!(
                f,
                "{tool} is declared by {}; unlink or rename one of them, or register one with replace",
                Source::join(sources)
            ),
            ToolErrorKind::InvalidArguments { violations } => {
                let violations = violations.iter().map(|it| self.spelling.violation(it));
                let violations = join(violations, "; ");
                write!(f, "the arguments of {tool} do not fit: {violations}")
            }
            ToolErrorKind::PermissionDenied { needed, granted } => write!(
                f,
                "{tool} needs {}, but the grant is {}; ask for a wider grant, or work within this one{}",
                join(needed, ", "),
                granted.excerpt(needed),
                if needed.iter().any(Target::has_unknown_words) {
                    UNKNOWN
                } else {
                    ""
                }
            ),
            ToolErrorKind::Denied { reason } => {
                write!(
                    f,
                    "the call of {tool} was denied: {reason}; do not repeat it, find another way or ask the user"
                )
            }
            ToolErrorKind::Unapproved {
                needed,
                sensitive,
                unnamed,
                concern,
                waited,
            } => f.write_str(&explain_unapproved(
                &tool,
                needed,
                (sensitive, unnamed, concern.as_deref()),
                *waited,
            )),
            ToolErrorKind::Replaced => write!(
                f,
                "{tool} was replaced while its call was being approved; read its new definition, and call it again"
            ),
            ToolErrorKind::Outdated => write!(
                f,
                "{tool} was not run: the files that its approval was about have changed since; call it again to ask with their new \
                 content"
            ),
            ToolErrorKind::Unavailable { reason } => {
                write!(f, "{tool} is not available here: {reason}")
            }
            ToolErrorKind::Overloaded { retry_after } => {
                write!(
                    f,
                    "{tool} has too many calls; try again{}",
                    after(*retry_after)
                )
            }
            ToolErrorKind::Timeout { limit } => {
                let advice = if self.is_unclear {
                    UNCLEAR
                } else {
                    "request less at a time, or allow more time"
                };
                write!(
                    f,
                    "{tool} took longer than {limit:?} and was stopped; {advice}"
                )
            }
            ToolErrorKind::Cancelled if self.is_unclear => {
                write!(f, "the call of {tool} was cancelled; {UNCLEAR}")
            }
            ToolErrorKind::Cancelled => write!(f, "the call of {tool} was cancelled"),
            ToolErrorKind::Panicked { message } => write!(
                f,
                "{tool} panicked: {message}; this is a fault of the tool, try other arguments or another tool"
            ),
            ToolErrorKind::ExecutionFailed { message } => write!(f, "{tool} failed: {message}"),
            ToolErrorKind::Transient {
                message,
                retry_after,
            } => {
                write!(
                    f,
                    "{tool} failed: {message}; the failure is temporary, try again{}",
                    after(*retry_after)
                )
            }
            ToolErrorKind::InvalidOutput { violations } => {
                write!(
                    f,
                    "{tool} returned a result that does not fit its definition: {}",
                    join(violations, "; ")
                )
            }
            ToolErrorKind::OutcomeUnknown => write!(
                f,
                "an earlier call of {tool} has no recorded outcome, so it may have run, and it was not run again; check the \
                 current state, and repeat the call only if necessary"
            ),
            ToolErrorKind::Diverged { place } => write!(
                f,
                "journal mismatch at {place}: it recorded a different call to {tool}; resume the recorded run, or give the \
                 session another name"
            ),
            ToolErrorKind::Internal { message } => write!(f, "cannot run {tool}: {message}"),
        }
    }
}

/// The name of a tool whose name is blank.
const UNNAMED: &str = "<unnamed>";

/// The advice about a call that was stopped while its tool ran.
const UNCLEAR: &str =
    "its outcome is unclear, because it may have taken effect: check the current state";

/// Returns a name for messages, which is `<unnamed>` if it is blank.
pub(super) fn display_name(tool: &str) -> &str {
    if tool.trim().is_empty() {
        UNNAMED
    } else {
        tool
    }
}

/// The advice about commands with unknown words.
const UNKNOWN: &str = "; no grant covers a command with parts that are not known before it runs, so use plain commands, or ask the user to approve it";

/// The most names that are [similar](ToolError::near) to another one. More names are those of all tools.
const MOST_SIMILAR: usize = 3;

fn suggest(near: &[Cow<'_, str>]) -> String {
    if near.len() > MOST_SIMILAR {
        return format!("; the tools are {}", near.join(", "));
    }
    let unlisted = "use one of the tools that are offered; the tools of a crate that no code names are not linked";
    format!(
        "; {}",
        ToolError::did_you_mean(near).as_deref().unwrap_or(unlisted)
    )
}

fn explain_unapproved(
    tool: &str,
    needed: &[Target],
    (sensitive, unnamed, concern): (&[(Target, SensitivePath)], &[Target], Option<&Concern>),
    waited: Option<Duration>,
) -> String {
    let targets = join(needed, ", ");
    let action = if targets.is_empty() {
        "run".to_owned()
    } else {
        format!("access {targets}")
    };
    match waited {
        None if !sensitive.is_empty() || !unnamed.is_empty() || concern.is_some() => {
            let sensitive_paths = sensitive.iter().map(|(target, path)| {
                let way = match path.sensitivity {
                    Sensitivity::Settings => {
                        "no grant allows it, so leave it to a person".to_owned()
                    }
                    _ => format!(
                        "ask for a grant that names it, such as {}",
                        target.to_clause()
                    ),
                };
                format!(
                    "`{}` is {}; {way}",
                    target.value(),
                    path.describe(target.value())
                )
            });
            let hosts = unnamed.iter().map(|target| {
                let clause = target.to_clause();
                format!(
                    "the grant does not name the host `{}`; ask for a grant that names it, such as {clause}",
                    target.value()
                )
            });
            let concern = concern.map(|concern| format!("{}; {}", concern.reason, concern.remedy));
            let descriptions: Vec<_> = sensitive_paths.chain(hosts).chain(concern).collect();
            let named = match (sensitive, unnamed) {
                ([], []) => "these exact arguments",
                ([], _) => "that exact host",
                _ => "that exact path",
            };
            format!(
                "{tool} may {action} only with a person's approval: {}; or call the tool with {named} while a person \
                 is present",
                descriptions.join("; ")
            )
        }
        None => format!(
            "{tool} may {action} only with an approval, and there is no approver here; find another way, or ask for it to be \
             allowed beforehand"
        ),
        Some(waited) => format!(
            "{tool} was not run: no approval to {action} came within {waited:?}; continue without it, or call it again when a \
             person is present"
        ),
    }
}

fn after(wait: Option<Duration>) -> String {
    wait.map_or_else(|| " later".to_owned(), |wait| format!(" in {wait:?}"))
}
