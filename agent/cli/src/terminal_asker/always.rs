//! [`Always`]: the answer that writes a clause of the user for the project of the session.

use std::path::PathBuf;
use std::sync::Mutex;

use agent::consent::ApprovalQuestion;
use host::{folders, settings, shell};
use terminal::{mark_rows, stderr::width};
use tools::policy::Verdict;
use tools::{Access, Clause, Host, IgnorePoison as _, Target};

use crate::config::{Origin, Setting, Settings, SettingsError};
use crate::notice::{STRONG, paint};
use crate::policy::PolicyOptions;
use crate::program;
use tools::visible::visible;

/// The files of the examples.
const EXAMPLE: &str = "another-file";

/// Writes clauses of the user for the project of a session. It decides by the settings that later sessions in the project will have.
#[derive(Debug)]
pub(crate) struct Always {
    /// The settings of later sessions, and the clauses that were written in this one.
    state: Mutex<(Settings, Vec<Clause>)>,
    policy: PolicyOptions,
    root: PathBuf,
}

/// A clause that the person may write.
#[derive(Debug)]
pub(super) struct Proposal {
    entry: settings::Always,
    /// A call that the clause allows, too. It is the call itself if the clause covers no other target.
    also: Target,
    /// A call that is still asked about.
    other: Target,
    is_exact: bool,
    /// The settings with the clause.
    settings: Settings,
}

impl Always {
    /// Creates the answer for sessions with these settings and rules. Returns `None` without a root or a file of the user.
    pub(crate) fn new(settings: &Settings, policy: &PolicyOptions) -> Option<Self> {
        folders::settings()?;
        Some(Self {
            root: settings.root()?.to_owned(),
            state: Mutex::new((settings.clone(), Vec::new())),
            policy: policy.clone(),
        })
    }

    /// Returns true if a clause that was written in this session answers the question.
    pub(super) fn answers(&self, asked: &ApprovalQuestion<'_>) -> bool {
        let [target] = asked.approval.targets else {
            return false;
        };
        let (settings, written) = &*self.state.lock().ignore_poison();
        written.iter().any(|clause| clause.permits(target))
            && self.verdict(settings, asked, target) == Verdict::Allow
    }

    /// Returns the clause that the person may write in answer to the question. Returns `None` if none says what the person would expect, or if
    /// the call would be asked about in spite of it.
    pub(super) fn proposal(&self, asked: &ApprovalQuestion<'_>) -> Option<Proposal> {
        let [target] = asked.approval.targets else {
            return None;
        };
        let before = self.state.lock().ignore_poison().0.clone();
        let clause = lasting_clause(target)?;
        let is_exact = clause == target.to_clause();
        let root = self.root.clone();
        let entry = settings::Always { root, clause };
        let path = folders::settings()?.into();
        let written = Setting::new(entry.clone(), Origin::File { path, line: 0 });
        let settings = before.clone().with_always([written]);
        let verdicts = |target: &Target| {
            let verdict = |settings| self.verdict(settings, asked, target);
            (verdict(&before), verdict(&settings))
        };
        if verdicts(target) != (Verdict::Ask, Verdict::Allow) {
            return None;
        }
        let near = neighbours(target, &entry.clause);
        let find = |wanted| {
            near.iter()
                .find(|near| *near != target && verdicts(near) == wanted)
                .cloned()
        };
        Some(Proposal {
            also: if is_exact {
                target.clone()
            } else {
                find((Verdict::Ask, Verdict::Allow))?
            },
            other: find((Verdict::Ask, Verdict::Ask))?,
            entry,
            is_exact,
            settings,
        })
    }

    /// Writes the clause, and returns the text that says so.
    pub(super) fn write(&self, proposal: Proposal) -> Result<String, SettingsError> {
        let path = proposal.entry.write()?;
        let clause = proposal.entry.clause;
        let note = format!(
            "{} permits {clause} in {} from now on; to take it back: {} always --remove {}",
            path.display(),
            self.root.display(),
            program::name(),
            shell::quote(clause.as_str())
        );
        let mut state = self.state.lock().ignore_poison();
        state.0 = proposal.settings;
        state.1.push(clause);
        Ok(note)
    }

    /// Returns the decision about a target in a session with these settings.
    fn verdict(
        &self,
        settings: &Settings,
        asked: &ApprovalQuestion<'_>,
        target: &Target,
    ) -> Verdict {
        let approval = &asked.approval;
        let host = Host::new()
            .with_grant(settings.grant())
            .with_policy(self.policy.session_policy(settings))
            .with_sensitive_paths(approval.cx.sensitive_paths().clone());
        let rulings = host.rulings(approval.tool, std::slice::from_ref(target));
        let verdicts = rulings.map(|ruling| ruling.verdict);
        verdicts.max().unwrap_or(Verdict::Ask)
    }
}

impl Proposal {
    /// Returns the question whether the clause is to be written.
    pub(super) fn question(&self) -> String {
        let width = width();
        let row = |text: &str| mark_rows(&visible(text), STRONG, width);
        let path = folders::settings().unwrap_or_default();
        let is_file = self.entry.clause.scheme() == Some("fs");
        let also = match (self.is_exact, is_file) {
            (true, true) => "It allows each change of this file by any tool:",
            (true, false) => "It allows this command by any tool, and in any folder:",
            (false, _) => "It also allows, for example:",
        };
        // The walls of programs are made of the same clauses.
        let programs = if is_file {
            "Programs that run here may write there, too.\n"
        } else {
            ""
        };
        format!(
            "This clause goes into {}, for {} alone:\n{}{also}\n{}It does not allow, for example:\n{}{programs}{} [y] yes, [n] no: ",
            visible(&path.to_string_lossy()),
            visible(&self.entry.root.to_string_lossy()),
            row(self.entry.clause.as_str()),
            row(&self.also.to_string()),
            row(&self.other.to_string()),
            paint(STRONG, "Write it?"),
        )
    }
}

/// Returns the clause for a target that a person may permit for good: that of a command, or of the folder of a file below the root, or of a
/// file in the root.
fn lasting_clause(target: &Target) -> Option<Clause> {
    if let Some(command) = target.command() {
        return format!("exec:{}:{}", target.access(), command.lasting_pattern()?)
            .parse()
            .ok();
    }
    if (target.scheme(), target.access()) != ("fs", Access::Write) {
        return None;
    }
    match target.value().rsplit_once('/') {
        Some((folder, _)) => {
            let folder = Target::new(Access::Write, "fs", folder).ok()?;
            format!("{}/**", folder.to_clause()).parse().ok()
        }
        None => Some(target.to_clause()),
    }
}

/// Returns targets near this one, which the clause may cover or leave out: those that say most about it come first.
fn neighbours(target: &Target, clause: &Clause) -> Vec<Target> {
    let base = clause.pattern().trim_end_matches("**").trim_end();
    let values: Vec<String> = if target.command().is_some() {
        let words = clause
            .unpermitted_words()
            .into_iter()
            .chain([EXAMPLE, "-v"]);
        let commands = words.map(|word| format!("{base} {word}"));
        commands
            .chain(["git push".to_owned(), format!("rm {EXAMPLE}")])
            .collect()
    } else {
        let name = target.value().rsplit('/').next().unwrap_or_default();
        let folder = target.value().trim_end_matches(name);
        let others = [folder, "", &format!("{folder}another-folder/")].map(str::to_owned);
        others.map(|folder| folder + EXAMPLE).into()
    };
    let targets = values
        .iter()
        .map(|value| Target::new(target.access(), target.scheme(), value));
    targets.filter_map(Result::ok).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use agent::consent::{ApprovalAnswer, ApprovalAnswerFuture, Asker, SessionConsent};
    use clap::Parser;
    use serde_json::{Value, json};
    use tools::{Catalog, Effects, Grant, Policy, Tool, ToolContext};

    use super::*;
    use crate::config::Values;
    use host::settings::AccessKeys;

    #[derive(Parser)]
    struct Options {
        #[command(flatten)]
        policy: PolicyOptions,
    }

    /// Permits what a clause answers.
    struct Answered(Always);

    impl Asker for Answered {
        fn ask<'a>(&'a self, asked: ApprovalQuestion<'a>) -> ApprovalAnswerFuture<'a> {
            let reason = String::new();
            let answer = if self.0.answers(&asked) {
                ApprovalAnswer::Once
            } else {
                ApprovalAnswer::No { reason }
            };
            Box::pin(async { answer })
        }
    }

    #[test]
    fn only_a_clause_that_was_written_answers_a_question_of_the_session() {
        let mut catalog = Catalog::new();
        let effects: Effects = serde_json::from_value(json!({"writes": ["fs:{path}"]})).unwrap();
        let parameters = json!({"type": "object", "required": ["path"], "properties": {"path": {"type": "string"}}});
        let tool = Tool::new("write", "Writes.", parameters).unwrap();
        let tool = tool.with_effects(effects);
        catalog
            .register(tool, async |_: ToolContext, _: Value| "written")
            .unwrap();
        let policy = Options::parse_from(["x"]).policy;
        let root = std::env::temp_dir();
        for (grants, written, expected) in [
            (&["fs:write:**"][..], &[][..], false),
            (&["fs:write:**"], &["fs:write:b/**"], false),
            (&["fs:write:**"], &["fs:write:a/**"], true),
            (&[], &["fs:write:a/**"], false),
        ] {
            let clause = |text: &&str| text.parse::<Clause>().unwrap();
            let mut flags = Values::default();
            flags.of_mut::<AccessKeys>().grants = grants
                .iter()
                .map(|text| Setting::from_flag("--grant", clause(text)))
                .collect();
            let settings = Settings::from_flags(flags).unwrap().with_root(root.clone());
            let always = Always::new(&settings, &policy).unwrap();
            always.state.lock().unwrap().1 = written.iter().map(clause).collect();
            // Later sessions may do more than this one, which a smaller grant holds.
            let host = Host::new()
                .with_grant(Grant::parse(["fs:read:**"]).unwrap())
                .with_policy(Policy::by_effects())
                .with_approver(Arc::new(SessionConsent::new(Answered(always))));
            let call = catalog.execute(&host, "write", json!({"path": "a/b"}));
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            assert_eq!(
                runtime.block_on(call).is_ok(),
                expected,
                "{grants:?} {written:?}"
            );
        }
    }
}
