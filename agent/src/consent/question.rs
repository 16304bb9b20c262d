//! [`ApprovalQuestion`]: the request to approve a call, and its text.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use serde_json::Value;
use tools::policy::{Reason, Sensitivity};
use tools::protocol::{ApprovalDefault, Normaliser, has_other_script};
use tools::visible::visible;
use tools::{Approval, Basis, Json, Preview, Target};

use super::remembered::is_only_unnamed;

/// The remark on a call whose content is not the one that was approved before.
pub const CHANGED: &str = "asked again: its files are not those that you allowed before";

/// The text in place of one that the preview shows.
const IN_PREVIEW: &str = "… (see the preview)";

/// The bytes of a text that arguments show beside a preview that has it, too.
const MAX_SHORT: usize = 100;

/// A question to a person about one call.
///
/// Its `Display` is the question as plain text with all targets and arguments, in which no character is invisible.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ApprovalQuestion<'a> {
    /// The call. Its texts are untrusted: escape them with [`visible`] before a person sees them.
    pub approval: Approval<'a>,
    /// The content that the call depends on, to which an approval for the session is bound.
    pub basis: Basis,
    /// True if an approval of the call, or one for the session, was given for other content.
    pub has_changed: bool,
}

impl<'a> ApprovalQuestion<'a> {
    pub(super) fn new(approval: Approval<'a>) -> Self {
        Self {
            approval,
            basis: Basis::Arguments,
            has_changed: approval.has_changed,
        }
    }
}

impl ApprovalQuestion<'_> {
    /// Returns true if an approval may cover the session, so that [`ApprovalAnswer::Session`](super::ApprovalAnswer::Session) can be offered.
    /// Destroying something, an unbounded effect, a command with unknown words or unknown code, a settings file, a file that runs by
    /// itself or a [concern](tools::Concern) about the call asks each time.
    pub fn may_last(&self) -> bool {
        if self.basis == Basis::Unknown {
            return false;
        }
        let paths = self.approval.cx.sensitive_paths();
        let has_concerns = !self.approval.concerns.is_empty();
        !has_concerns
            && self.approval.targets.iter().all(|target| {
                target.approval_default() < ApprovalDefault::AlwaysAsk
                    && target.command().is_none_or(|command| command.is_known())
                    && paths
                        .find_target(target)
                        .is_none_or(|path| path.sensitivity < Sensitivity::RunsByItself)
            })
    }

    /// Returns true if a rule of the user may answer the question from now on, so that [`ApprovalAnswer::Always`](super::ApprovalAnswer::Always)
    /// can be offered:
    ///
    /// - The one target is the tool itself, which has effects without bounds and no [concern](tools::Concern) about this call.
    /// - No rule asks about it.
    /// - The session itself makes the call, and has read no text of strangers, who could have chosen it.
    pub fn may_be_kept(&self) -> bool {
        let approval = &self.approval;
        approval.targets == [Target::unbounded(approval.tool)] && self.is_asked_by_default()
    }

    /// Returns true if a clause of the user may answer the question from now on: the approval [may last](Self::may_last), and the other
    /// conditions of [`may_be_kept`](Self::may_be_kept) hold for its one target.
    pub fn may_be_granted(&self) -> bool {
        self.approval.targets.len() == 1 && self.may_last() && self.is_asked_by_default()
    }

    /// Returns true if no rule, concern or sub-agent is the reason for the question, and the session has read no text of strangers.
    fn is_asked_by_default(&self) -> bool {
        let approval = &self.approval;
        let is_default =
            |reason: &Reason<'_>| matches!(reason, Reason::Ungranted | Reason::Default(_));
        let mut rulings = approval.rulings();
        approval.concerns.is_empty()
            // A rule holds for later sessions, and a stranger's text may have led to this call.
            && !approval.cx.is_exposed()
            && approval.cx.agent().is_none()
            && rulings.all(|ruling| ruling.reasons().iter().all(is_default))
    }

    /// Returns true if an approval of any kind holds for the hosts in this session: the only reason to ask is that neither the grant nor a
    /// rule [names](tools::policy::Reason::UnnamedHost) them. The question says so.
    pub fn holds_for_hosts(&self) -> bool {
        let mut rulings = self.approval.rulings();
        self.approval.concerns.is_empty() && rulings.all(|ruling| is_only_unnamed(&ruling))
    }

    /// Returns the arguments without the long texts of which the preview has every line, so that who reads both has read all. These are
    /// untrusted, too.
    pub fn arguments_beside(&self, preview: &Preview) -> Json {
        let mut arguments = self.approval.arguments.value().clone();
        elide(&mut arguments, preview.text());
        arguments.into()
    }

    /// Returns true if nobody can decide about the call without its preview: it changes a file that runs by itself or decides what tools
    /// may do, and its arguments need not have the content.
    pub fn needs_preview(&self) -> bool {
        self.approval
            .targets
            .iter()
            .filter_map(|target| self.approval.cx.sensitive_paths().find_target(target))
            .any(|path| path.sensitivity >= Sensitivity::RunsByItself)
    }

    /// Returns the arguments that are URLs of the hosts to approve. A URL carries data out, so show each whole, also if the other
    /// arguments are cut. They are untrusted.
    pub fn urls(&self) -> Vec<&str> {
        let mut urls = Vec::new();
        push_texts(self.approval.arguments.value(), &mut urls);
        let is_host =
            |target: &Target, host: &str| target.scheme() == "net" && target.value() == host;
        urls.retain(|url| {
            let host = Normaliser::Host.apply(url);
            host.is_ok_and(|host| self.approval.targets.iter().any(|it| is_host(it, &host)))
        });
        urls
    }

    /// Returns the verb of the question: `asks for`, or `asks to run` if the call has no targets.
    pub fn verb(&self) -> &'static str {
        if self.approval.targets.is_empty() {
            "asks to run"
        } else {
            "asks for"
        }
    }

    /// Returns the name of the tool, and of the sub-agent that calls it, with invisible characters escaped: `fs.write of the sub-agent
    /// tests`.
    pub fn caller(&self) -> String {
        let tool = visible(self.approval.tool);
        match self.approval.cx.agent() {
            Some(agent) => format!("{tool} of the sub-agent {}", visible(agent)),
            None => tool.into_owned(),
        }
    }

    /// Returns the remarks to show after a target, with invisible characters escaped: an unbounded effect, a command that runs others,
    /// letters of another script, the kind of a sensitive file, an unnamed host, a target outside of the grant, and the concerns about it.
    /// Empty if there are none.
    pub fn remarks(&self, target: &Target) -> String {
        self.remarks_lasting(target, "in this session")
    }

    /// Returns the [remarks](Self::remarks), with the time for which an approval holds for hosts.
    fn remarks_lasting(&self, target: &Target, time: &str) -> String {
        let scope = match target.command() {
            Some(command) if command.runs_programs() => " (it runs other programs)",
            None if target.scheme() == "world" => " (it may touch anything)",
            _ => "",
        };
        let sensitive = self
            .approval
            .sensitive(target)
            .map(|path| format!(", {}", path.describe(target.value())));
        let granted = match self.approval.cx.grant().unspelled(target).pop() {
            Some((_, word)) => format!(" (not granted: {})", visible(&word.to_string())),
            None if self.approval.cx.grant().permits(target) => String::new(),
            None => " (not granted)".to_owned(),
        };
        let rulings = self.approval.rulings();
        let mut rulings = rulings.filter(|ruling| ruling.target == Some(target));
        let unnamed = if !rulings.any(|ruling| ruling.is_granted_but_unnamed()) {
            String::new()
        } else if self.holds_for_hosts() {
            format!(" (no grant names this host; an approval holds for it {time})")
        } else {
            " (no grant names this host)".to_owned()
        };
        let script = has_other_script(target.value()).then_some(" (letters of another script)");
        let concerns = self.approval.concerns.iter();
        let concerns = concerns.filter(|concern| concern.target == *target);
        let concerns: String = concerns
            .map(|concern| format!(", because {}", concern.reason))
            .collect();
        format!(
            "{scope}{}{}{unnamed}{granted}{}",
            script.unwrap_or_default(),
            visible(&sensitive.unwrap_or_default()),
            visible(&concerns)
        )
    }

    /// Returns a target with its remarks, if it has any, for an answer that another process may receive.
    pub(super) fn remarked_for_later(&self, target: &Target) -> Option<String> {
        let time = match self.approval.cx.session() {
            Some(_) => "in this session; a program that resumes it later asks again",
            None => "in this run; a program that resumes it later asks again",
        };
        let remarks = self.remarks_lasting(target, time);
        (!remarks.is_empty()).then(|| format!("{}{remarks}", visible(&target.to_string())))
    }
}

/// Replaces the long texts whose lines another text has.
fn elide(value: &mut Value, shown: &str) {
    match value {
        Value::String(text) => {
            let is_shown =
                || text.len() <= shown.len() && text.lines().all(|line| shown.contains(line));
            if text.len() > MAX_SHORT && is_shown() {
                *text = IN_PREVIEW.to_owned();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| elide(item, shown)),
        Value::Object(fields) => fields.values_mut().for_each(|field| elide(field, shown)),
        _ => {}
    }
}

/// Appends each text of a JSON value.
fn push_texts<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| push_texts(item, texts)),
        Value::Object(fields) => fields.values().for_each(|field| push_texts(field, texts)),
        _ => {}
    }
}

impl fmt::Display for ApprovalQuestion<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {}:", self.caller(), self.verb())?;
        for target in self.approval.targets {
            let remarks = self.remarks(target);
            writeln!(f, "  {}{remarks}", visible(&target.to_string()))?;
        }
        if self.has_changed {
            writeln!(f, "  {CHANGED}")?;
        }
        let arguments = self.approval.arguments.to_string();
        write!(f, "with {}", visible(&arguments))
    }
}

/// The future of an [`Asker`]'s answer.
pub type ApprovalAnswerFuture<'a> = Pin<Box<dyn Future<Output = ApprovalAnswer> + Send + 'a>>;

/// Shows a question to a person and returns the answer. [`SessionConsent`](super::SessionConsent) asks one question at a time.
pub trait Asker: Send + Sync {
    /// Asks about one call. The future is dropped if the call ends before the answer, for example at the approval timeout.
    fn ask<'a>(&'a self, question: ApprovalQuestion<'a>) -> ApprovalAnswerFuture<'a>;
}

/// A person's answer to a question about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalAnswer {
    /// Approves this call.
    Once,
    /// Approves this call and later calls of the tool on the same targets. Approves only this call if the approval
    /// [may not last](ApprovalQuestion::may_last).
    Session,
    /// Approves this call and later calls of the tool, because the asker has written a rule of the user that permits them. Approves only
    /// this call if the approval [may not be kept](ApprovalQuestion::may_be_kept).
    Always,
    /// Denies this call.
    No {
        /// The reason, for the model.
        reason: String,
    },
}
