//! [`PromptRunner`]: runs a prompt and shows its progress.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;

use agent::refusal::Refusal;
use agent::{
    Direct, Driver, FailureKind, Outcome, Prompt, Run, RunHandle, Selection, Session, Step,
    StopReason, Summary,
};
use host::sessions::SessionEnd;
use host::ungranted::Ungranted;
use terminal::{stderr, stdout};
use tools::policy::{Rule, Verdict};
use tools::{CancellationToken, Grant, Host, Target};

use crate::detail::Detail;
use crate::error::Error;
use crate::observer::{CallFailure, Observer};
use crate::output::OutputFormat;
use crate::provider_choice::DIRECT;
use crate::refusal::{self, HowToGrant};
use crate::session_view::SessionView;
use crate::stream_line::{self, SessionLine};
use crate::wording::where_tools_are;
use crate::{notice, output, policy, program};
use host::exit::Exit;

/// Runs the prompts of a command and shows their progress.
pub(crate) struct PromptRunner {
    pub(crate) driver: Driver,
    /// The name of the provider.
    pub(crate) provider: String,
    /// The configured model.
    pub(crate) model: Option<String>,
    /// The form of standard output.
    pub(crate) format: OutputFormat,
    /// The part of a run that standard error shows.
    pub(crate) detail: Detail,
    /// The output for progress and questions.
    pub(crate) view: Arc<SessionView>,
    /// Words the hint for refused targets.
    pub(crate) how_to_grant: HowToGrant,
    /// The grant that a resumed session began with.
    pub(crate) first_grant: Option<Grant>,
    /// The grant of the flags and settings of today, of which a resumed session may have a part.
    pub(crate) todays_grant: Grant,
    /// The flags with which a chat goes on with the session. `None` in a chat, and if the session is not recorded.
    pub(crate) resume: Option<String>,
    /// The policy rules of the files, which no grant overrides.
    pub(crate) rules: Vec<Rule>,
}

/// The input of a run.
pub(crate) enum RunInput {
    /// A new prompt.
    Prompt(Prompt),
    /// The run of an earlier process.
    Resume(Box<Run>),
    /// A shorter form of the conversation, without a prompt.
    Compact,
}

/// The end of a run.
struct RunReport {
    /// The text of the answer. It is empty if there is none.
    answer: String,
    /// The exit code, or the error of the run.
    ended: Result<Exit, Error>,
    /// The error of the first failed call, if there is no model that could react to it.
    failure: Option<String>,
    /// The hints about refused calls.
    hints: Vec<String>,
    /// The protected files that programs created or changed, each as a sentence.
    protected: Vec<String>,
    /// The first error of the output.
    output: Result<(), Error>,
}

impl PromptRunner {
    /// Runs to the end, or until the handle cancels it, or the output fails.
    pub(crate) async fn run(
        &self,
        session: &mut Session,
        input: RunInput,
        handle: RunHandle,
    ) -> Result<Exit, Error> {
        let observer = self.observer(handle.token().clone());
        observer.session(self.session_line(session))?;
        if let RunInput::Resume(run) = &input {
            self.print_stored_answer(run)?;
        }
        let report = self.report(session, input, handle, observer).await;
        report.output.and(report.ended)
    }

    /// Gives the session the conversation of a run that has ended, so that a new prompt goes on with it.
    ///
    /// # Errors
    /// Returns [`Error::Unanswered`] if the run would go on.
    pub(crate) async fn enter(&self, session: &mut Session, run: Run) -> Result<(), Error> {
        if !matches!(run.clone().reopen().step(), Step::Done(_)) {
            let hint = self
                .resume
                .as_ref()
                .map(|flags| format!("{} run {flags}", program::name()));
            return Err(Error::Unfinished {
                error: Box::new(Error::Unanswered),
                hint: hint.unwrap_or_default(),
            });
        }
        // Nothing is left of it to be run.
        self.driver
            .resume(session, run)
            .await
            .map_err(Error::Driver)?;
        Ok(())
    }

    /// Runs to the end, or until the token is cancelled. The run goes on if the output fails.
    pub(crate) async fn run_unattended(
        &self,
        session: &mut Session,
        prompt: String,
        token: CancellationToken,
    ) -> SessionEnd {
        let observer = self.observer(CancellationToken::new());
        let begun = observer.session(self.session_line(session));
        let input = RunInput::Prompt(prompt.into());
        let report = self.report(session, input, token.into(), observer).await;
        SessionEnd {
            answer: report.ended.map(|_| report.answer).map_err(Into::into),
            failure: report.failure,
            hints: report.hints,
            protected: report.protected,
            output: begun.and(report.output).map_err(Into::into),
        }
    }

    /// Returns an observer that cancels the token if the output fails.
    fn observer(&self, token: CancellationToken) -> Arc<Observer> {
        // Without a model the answer has the results, so a terminal would show each failure twice.
        let has_results =
            self.is_direct() && io::stdout().is_terminal() && io::stderr().is_terminal();
        let mut observer = Observer::new(self.format, self.detail, self.view.clone(), token);
        observer.is_direct = self.is_direct();
        observer.has_results_in_answer = has_results;
        Arc::new(observer)
    }

    /// Runs to the end, or until the handle cancels it. The observer shows the events.
    async fn report(
        &self,
        session: &mut Session,
        input: RunInput,
        handle: RunHandle,
        observer: Arc<Observer>,
    ) -> RunReport {
        let is_text = self.format == OutputFormat::Text;
        let animation = observer.animate();
        let events = observer.clone();
        // An interrupted run without a model still shows why its calls failed.
        let before = session.messages().len();
        let driver = self.driver.clone().with_handle(handle);
        let driver = driver.with_events(move |event| events.event(&event));
        let is_resumed = matches!(input, RunInput::Resume(_));
        let has_prompt = !matches!(input, RunInput::Compact);
        let ended = match input {
            RunInput::Prompt(prompt) => driver.run(session, prompt).await,
            RunInput::Resume(run) => driver.resume(session, *run).await,
            RunInput::Compact => driver.compact(session).await,
        };
        drop(animation);
        let failures = observer.finish();
        if !has_prompt && !failures.is_compacted {
            notice::note("the conversation has no older part that a summary would shorten");
        }
        let mut written = failures.output.map_or(Ok(()), Err);
        // A replayed call emits no event. A chat goes on after the replayed answer.
        let is_replayed = is_resumed && self.resume.is_some();
        let failure = failures
            .first
            .or_else(|| CallFailure::from_messages(session.messages()).filter(|_| is_replayed));
        let failure = failure.filter(|_| self.is_direct());
        let outcome = ended.as_ref().ok().map(|summary| &summary.outcome);
        let has_ended_early = !matches!(
            outcome,
            Some(Outcome::Answer { .. } | Outcome::WaitingForApproval { .. })
        );
        if self.is_direct() && is_text && has_ended_early && session.messages().len() > before {
            // Without a model, the results are the answer, also of a run that ends before it.
            let results = Direct::results(session.messages(), session.tools());
            written = written.and_then(|()| {
                results.map_or(Ok(()), |results| Ok(stdout::write_untrusted(&results)?))
            });
        }
        let is_answered = is_resumed && matches!(outcome, Some(Outcome::Answer { .. }));
        let hints = self.hints(session, &failures.refusals, is_answered);
        hints.iter().for_each(|hint| notice::hint(hint));
        // Not a hint about a refused call, which a job would count as refused.
        let unknown = failure.as_ref();
        let unknown = unknown.filter(|failure| failure.exit == Exit::NotFound);
        if let Some(CallFailure { tool, .. }) = unknown {
            notice::hint(&how_to_find(tool, session.selection()));
        }
        let fault = ended.as_ref().err().and_then(|error| error.kind());
        if fault == Some(FailureKind::ContextLength) {
            notice::hint(
                "the prompt, the system text and the definitions of the tools do not fit into the model's context; offer fewer tools \
                 (--select GLOB, or /select GLOB in a chat), begin a new conversation (/clear in a chat), or start the model with a larger \
                 context",
            );
        }
        let mut answer = String::new();
        match outcome {
            Some(Outcome::Answer { text, .. }) => {
                answer.clone_from(text);
                if text.trim().is_empty() && is_text && has_prompt {
                    stderr::write_line("(no answer)");
                }
            }
            Some(Outcome::WaitingForApproval { requests }) if is_text => {
                written = written.and_then(|()| requests.iter().try_for_each(output::json));
            }
            _ => {}
        }
        let exit = ended.map_err(Error::Driver).and_then(summary_exit);
        let ended = exit.map(|exit| failure.as_ref().map_or(exit, |failure| failure.exit));
        RunReport {
            answer,
            ended,
            failure: failure.map(|failure| failure.error),
            hints,
            protected: failures.protected,
            output: written,
        }
    }

    /// Returns the hints about refused calls. `is_answered` is true if the session was resumed and has its answer now.
    pub(crate) fn hints(
        &self,
        session: &Session,
        refusals: &[Refusal],
        is_answered: bool,
    ) -> Vec<String> {
        let host = session.context().host().unwrap_or_else(Host::new);
        let today = host.with_grant(self.todays_grant.clone());
        let how_to_grant = |needed: &[Target]| {
            let missing = needed.iter().filter(|target| {
                let refusals = refusals.iter();
                let mut of_target = refusals.filter(|refusal| refusal.targets.contains(target));
                of_target.any(|refusal| {
                    let mut rulings = today.rulings(&refusal.tool, std::slice::from_ref(*target));
                    rulings.any(|ruling| ruling.verdict > Verdict::Allow)
                })
            });
            let missing: Vec<_> = missing.cloned().collect();
            let first = self.first_grant.as_ref();
            let answered = self.resume.as_deref().filter(|_| is_answered);
            (self.how_to_grant)(&Ungranted {
                needed,
                missing: &missing,
                first,
                answered,
                consenting_flag: policy::consenting_flag,
            })
        };
        refusal::hints(refusals, &self.rules, how_to_grant)
    }

    /// Returns true if there is no model that could react to a failed call, so that the failure decides the exit code.
    pub(crate) fn is_direct(&self) -> bool {
        self.provider == DIRECT
    }

    fn session_line<'a>(&'a self, session: &'a Session) -> SessionLine<'a> {
        let tools = session.tools().definitions();
        SessionLine {
            version: stream_line::VERSION,
            program: program::name(),
            program_version: program::version(),
            provider: &self.provider,
            model: self.model.as_deref(),
            session: session.context().session(),
            tools: tools.map(|tool| &*tool.name).collect(),
        }
    }

    /// Prints the answer of a run that is already done, because resuming it emits no text.
    fn print_stored_answer(&self, run: &Run) -> Result<(), Error> {
        if let Step::Done(summary) = run.step()
            && let Outcome::Answer { text, .. } = summary.outcome
            && self.format == OutputFormat::Text
        {
            let program = program::name();
            let resume = self.resume.as_ref();
            let next = resume.map(|resume| {
                format!("; add a prompt, or go on in a chat: {program} chat {resume}")
            });
            let next = next.unwrap_or_default();
            notice::note(&format!("the session is already answered{next}"));
            // Results of tools are no Markdown.
            if self.is_direct() {
                return Ok(stdout::write_untrusted(&text)?);
            }
            stdout::answer(&text)?;
        }
        Ok(())
    }
}

/// Returns the hint about a tool that the session does not have.
fn how_to_find(tool: &str, selection: &Selection) -> String {
    match tools::get(tool) {
        Ok(entry) if !selection.matches(&entry) => {
            format!(
                "the session does not select {tool}: it selects {selection}; add --select {tool}, or change the selection"
            )
        }
        _ => where_tools_are(),
    }
}

fn summary_exit(summary: Summary) -> Result<Exit, Error> {
    match summary.outcome {
        Outcome::Answer {
            stop: StopReason::Refusal,
            ..
        } => Err(Error::Run("the model refused to answer".to_owned())),
        Outcome::Answer { stop, .. } => {
            match stop {
                StopReason::Length => {
                    notice::warning("the answer was cut off at the model's length limit")
                }
                StopReason::Other(reason) => {
                    notice::warning(&format!("the model stopped with the reason {reason}"))
                }
                _ => {}
            }
            Ok(Exit::Success)
        }
        Outcome::Budget(exhausted) => Err(Error::Budget(exhausted)),
        Outcome::Loop(repeated) => Err(Error::Loop(repeated)),
        Outcome::WaitingForApproval { requests } => Err(Error::Waiting(requests.len())),
        Outcome::Cancelled => Err(Error::Cancelled),
        Outcome::Failed { message, .. } => Err(Error::Run(message)),
        _ => Err(Error::Run("unknown outcome".to_owned())),
    }
}
