//! `toolcrib cron run`

use crate::config::ProgramSettings as _;
use std::cell::OnceCell;
use std::sync::Arc;

use agent::Direct;
use clap::Args;
use serde_json::Value;
use tools::{CancellationToken, Target, ToolCall};
use tools_builtin::cron::{DueRun, Job, JobServer, Jobs, Outcome, RunEnd, Schedule, Work};

use crate::console::Console;
use crate::error::Error;
use crate::exit::Exit;
use crate::output_format::OutputOption;
use crate::prompt_runner::RunReport;
use crate::refusal::{self, Ungranted};
use crate::session::{JobBounds, OpenSession, UnattendedOptions};
use crate::{interrupt, notice, policy, program};
use tools::counted;

/// Run the jobs of this workspace that are due, each in a session of its own, until Ctrl-C
///
/// A job has the tools and the grant of the session that made it, as far as these flags and the settings allow them today. Nobody is
/// asked: a call that needs a question is refused, and `cron log` says so. A second `cron run` takes jobs that this one is not running.
#[derive(Args, Debug)]
pub(super) struct RunJobsArgs {
    /// Run the jobs that are due now, and end: with code 1 if a job failed, or else 5 if one was refused. A timer that does so at
    /// least once an hour misses none
    #[arg(long)]
    once: bool,

    #[command(flatten)]
    options: UnattendedOptions,

    #[command(flatten)]
    output: OutputOption,
}

impl RunJobsArgs {
    pub(super) async fn run(self) -> Result<Exit, Error> {
        let console: Arc<Console> = Arc::default();
        let token = interrupt::token(&console)?;
        interrupt::cancel_on_termination(token.clone());
        let jobs = Jobs::of_user(self.options.agent.host.root.workspace()?)?;
        let settings = self.options.settings().await?;
        if !self.once {
            // A server says at its start what it could not run later.
            if settings.program().provider.is_some() {
                self.options.check_model(&settings)?;
            }
            for job in jobs
                .list()
                .await?
                .iter()
                .flatten()
                .filter(|job| !job.is_paused)
            {
                self.check(job).await?;
            }
        }
        let (failed, ending, mut exit) = (OnceCell::new(), token.child_token(), Exit::Success);
        let check = async |job: &Job| {
            let Err(error) = self.check(job).await else {
                return true;
            };
            notice::note(&format!("job {} stays due", job.id));
            let _ = failed.set(error);
            false
        };
        let mut server = JobServer::new(&jobs).with_check(check);
        let mut run = async |due: &DueRun| {
            notice::note(&format!("job {}, due at {}", due.job.id, due.due));
            let (end, output) = self.run_job(&jobs, due, &token, &console).await;
            // The hints about refused calls are printed already.
            let reason = end.note.as_ref().filter(|_| end.outcome == Outcome::Failed);
            let reason = reason.map(|note| format!("; {note}")).unwrap_or_default();
            notice::note(&format!("job {}: {}{reason}", due.job.id, end.outcome));
            exit = exit_after(exit, end.outcome);
            if let Err(error) = output {
                // The next runs are left to a server that can write its output.
                let _ = failed.set(error);
                ending.cancel();
            }
            end
        };
        if self.once {
            let served = server.serve_due(&ending, &mut run).await?;
            if served.unreadable > 0 {
                let (jobs, program) = (counted(served.unreadable as u64, "job"), program::name());
                notice::warning(&format!(
                    "paused {jobs} that cannot be read; {program} cron log has the reason"
                ));
                exit = exit_after(exit, Outcome::Failed);
            }
            return failed.into_inner().map_or(Ok(exit), Err);
        }
        let program = program::name();
        notice::note(&format!(
            "serving the jobs of this workspace until Ctrl-C; {program} cron list shows them"
        ));
        server.serve(&ending, run).await?;
        failed.into_inner().map_or(Ok(Exit::Success), Err)
    }

    /// Checks the settings of today, and the provider that a run of the job would have.
    ///
    /// # Errors
    /// Returns the error that opening its session would return.
    async fn check(&self, job: &Job) -> Result<(), Error> {
        let options = self.options.for_job(bounds(job));
        let (settings, _) = options.settings().await?;
        options.check_model(&settings)
    }

    /// Runs a job. Returns the error of the output too, without which the run goes on.
    async fn run_job(
        &self,
        jobs: &Jobs,
        due: &DueRun,
        token: &CancellationToken,
        console: &Arc<Console>,
    ) -> (RunEnd, Result<(), Error>) {
        let run = self.run_session(jobs, due, token, console).await;
        let not_run = |error| {
            let (hints, protected) = (Vec::new(), Vec::new());
            RunReport {
                ended: Err(error),
                failure: None,
                hints,
                protected,
                output: Ok(()),
            }
        };
        let RunReport {
            ended,
            failure,
            hints,
            protected,
            output,
        } = run.unwrap_or_else(not_run);
        let (outcome, error) = match ended {
            Err(Error::Cancelled) => (Outcome::CutOff, None),
            Err(error) => (Outcome::Failed, Some(error.to_string())),
            _ if !hints.is_empty() => (Outcome::Refused, None),
            Ok(Exit::Success) => (Outcome::Done, None),
            Ok(_) => (
                Outcome::Failed,
                failure.map(|failure| format!("the call failed: {failure}")),
            ),
        };
        let notes: Vec<_> = error.into_iter().chain(protected).chain(hints).collect();
        (
            RunEnd {
                outcome,
                note: (!notes.is_empty()).then(|| notes.join("; ")),
            },
            output,
        )
    }

    /// Runs the session of a job. Settings are read anew, so that they hold from the next run on.
    async fn run_session(
        &self,
        jobs: &Jobs,
        due: &DueRun,
        token: &CancellationToken,
        console: &Arc<Console>,
    ) -> Result<RunReport, Error> {
        let prompt = match &due.job.spec.work {
            Work::Prompt(prompt) => prompt.clone(),
            Work::Call { tool, arguments } => Direct::prompt(&[ToolCall::new(
                "1",
                tool.as_str(),
                Value::Object(arguments.clone()),
            )]),
        };
        let options = self.options.for_job(bounds(&due.job));
        let was_once = matches!(due.job.spec.schedule, Schedule::Once(_));
        let how_to_grant = Arc::new(move |needed: &Ungranted<'_>| how_to_grant(needed, was_once));
        let opened = options
            .open(
                self.output.format,
                console.clone(),
                how_to_grant,
                token.clone(),
                None,
            )
            .await?;
        let OpenSession {
            traces: _traces,
            recording: _recording,
            servers: _servers,
            runner,
            mut session,
            ..
        } = opened;
        jobs.set_session(due, session.context().session()).await?;
        let report = runner.run_job(&mut session, prompt, token.clone()).await;
        if matches!(session.stored_run().await, Ok(None)) {
            // A session without a prompt is removed, and the next one may have its ID.
            jobs.set_session(due, None).await?;
        }
        Ok(report)
    }
}

/// Returns the limits of a session that runs the job.
fn bounds(job: &Job) -> JobBounds {
    let (id, spec) = (job.id, &job.spec);
    let origin = format!("the session that made job {id}");
    JobBounds {
        id,
        grant: spec.grant.clone().with_origin(format!("job {id}")),
        tools: spec.tools.iter().cloned().collect(),
        rules: spec
            .rules
            .iter()
            .map(|rule| rule.clone().with_origin(&*origin))
            .collect(),
        paths: spec.paths.clone(),
        principal: spec.principal.clone(),
        is_exposed: spec.exposed,
        is_call: matches!(spec.work, Work::Call { .. }),
    }
}

/// Returns the exit code after one more run: that of a cancellation, or else of a failure, or else of a refusal.
fn exit_after(earlier: Exit, outcome: Outcome) -> Exit {
    match (earlier, outcome) {
        (Exit::Cancelled, _) | (_, Outcome::CutOff) => Exit::Cancelled,
        (Exit::Failed, _) | (_, Outcome::Failed) => Exit::Failed,
        (Exit::Refused, _) | (_, Outcome::Refused) => Exit::Refused,
        _ => Exit::Success,
    }
}

/// Returns the hint about refused targets of a job, which may have been for one time.
fn how_to_grant(
    &Ungranted {
        needed,
        first: made,
        ..
    }: &Ungranted<'_>,
    was_once: bool,
) -> String {
    let is_beyond = |target: &&Target| refusal::is_beyond(made, [*target]);
    let beyond: Vec<_> = needed.iter().filter(is_beyond).cloned().collect();
    // A job keeps no consent of the session that made it, so a grant is all that counts there.
    let asks = |target: &&Target| !is_beyond(target) || policy::always_asks(target);
    let asking: Vec<_> = needed.iter().filter(asks).cloned().collect();
    let add = format!("add {} to `cron run`", policy::consenting_flags(&asking));
    if beyond.is_empty() {
        let anew = if was_once {
            ", and make the job anew, which was for one time"
        } else {
            ""
        };
        return format!("to allow it in jobs, {add}{anew}");
    }
    let anew = format!(
        "make it anew in a session with {}",
        policy::flags(&beyond, |_| "--grant")
    );
    let add = if asking.is_empty() {
        String::new()
    } else {
        format!(", and {add}")
    };
    format!("the job keeps to the grant under which it was made; {anew}{add}")
}
