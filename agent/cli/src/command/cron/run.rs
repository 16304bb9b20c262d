//! `toolcrib cron run`

use std::sync::Arc;

use agent::Direct;
use clap::Args;
use jiff::Timestamp;
use serde_json::Value;
use tools::{CancellationToken, Target, ToolCall};
use tools_builtin::cron::{DueRun, Job, JobServer, Jobs, Outcome, RunEnd, Work};

use crate::console::Console;
use crate::error::Error;
use crate::exit::Exit;
use crate::output_format::OutputOption;
use crate::prompt_runner::RunInput;
use crate::refusal::{self, Ungranted};
use crate::session::{JobBounds, OpenSession, UnattendedOptions};
use crate::wording::counted;
use crate::{interrupt, jobs, notice, policy, program};

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
        interrupt::cancel_on_termination(token.clone())?;
        let jobs = jobs::open(self.options.agent.host.root.workspace()?)?;
        self.check_model(&jobs).await?;
        let (mut server, mut exit) = (JobServer::new(&jobs), Exit::Success);
        let mut run = async |due: &DueRun| {
            notice::note(&format!("job {}, due at {}", due.job.id, due.due));
            let end = self.run_job(&jobs, due, &token, &console).await;
            notice::note(&format!("job {}: {}", due.job.id, end.outcome));
            exit = exit_after(exit, end.outcome);
            end
        };
        if self.once {
            let served = server.serve_due(&token, &mut run).await?;
            if served.unreadable > 0 {
                let (jobs, program) = (counted(served.unreadable as u64, "job"), program::name());
                notice::warning(&format!("paused {jobs} that cannot be read; {program} cron log has the reason"));
                exit = exit_after(exit, Outcome::Failed);
            }
            return Ok(exit);
        }
        let program = program::name();
        notice::note(&format!("serving the jobs of this workspace until Ctrl-C; {program} cron list shows them"));
        server.serve(&token, run).await?;
        Ok(Exit::Success)
    }

    /// Checks the provider if a job needs it, whose run would else be used up. A server checks one that is configured in any case.
    async fn check_model(&self, jobs: &Jobs) -> Result<(), Error> {
        let settings = self.options.settings().await?;
        let now = Timestamp::now();
        let needs_model = |job: &&Job| {
            let is_prompt = matches!(job.spec.work, Work::Prompt(_));
            is_prompt && !job.is_paused && (!self.once || job.next.is_some_and(|next| next <= now))
        };
        let listed = jobs.list().await?;
        let is_configured = settings.provider.is_some();
        match listed.iter().flatten().find(needs_model) {
            Some(job) if !is_configured => Err(Error::NoProvider(job.id)),
            None if self.once || !is_configured => Ok(()),
            _ => self.options.check_model(&settings),
        }
    }

    async fn run_job(&self, jobs: &Jobs, due: &DueRun, token: &CancellationToken, console: &Arc<Console>) -> RunEnd {
        let mut hints = Vec::new();
        let ended = self.run_session(jobs, due, token, console, &mut hints).await;
        let note = (!hints.is_empty()).then(|| hints.join("; "));
        match ended {
            Err(Error::Cancelled) => RunEnd { outcome: Outcome::CutOff, note },
            Err(error) => {
                let note = std::iter::once(error.to_string()).chain(note).collect::<Vec<_>>().join("; ");
                RunEnd { outcome: Outcome::Failed, note: Some(note) }
            }
            _ if !hints.is_empty() => RunEnd { outcome: Outcome::Refused, note },
            Ok(Exit::Success) => RunEnd { outcome: Outcome::Done, note },
            Ok(_) => RunEnd {
                outcome: Outcome::Failed,
                note: Some("the call failed; the session has its result".to_owned()),
            },
        }
    }

    /// Runs the session of a job. Settings are read anew, so that they hold from the next run on.
    async fn run_session(
        &self,
        jobs: &Jobs,
        due: &DueRun,
        token: &CancellationToken,
        console: &Arc<Console>,
        hints: &mut Vec<String>,
    ) -> Result<Exit, Error> {
        let spec = &due.job.spec;
        let (prompt, is_call) = match &spec.work {
            Work::Prompt(prompt) => (prompt.clone(), false),
            Work::Call { tool, arguments } => {
                let call = ToolCall::new("1", tool.as_str(), Value::Object(arguments.clone()));
                (Direct::prompt(&[call]), true)
            }
        };
        let tools = spec.tools.iter().cloned().collect();
        let grant = spec.grant.clone().with_origin(format!("job {}", due.job.id));
        let origin = format!("the session that made job {}", due.job.id);
        let rules = spec.rules.iter().map(|rule| rule.clone().with_origin(&*origin)).collect();
        let (paths, principal, is_exposed) = (spec.paths.clone(), spec.principal.clone(), spec.exposed);
        let options = self.options.for_job(JobBounds { id: due.job.id, grant, tools, rules, paths, principal, is_exposed, is_call });
        // The run of a job has a token of its own, because failing output cancels it.
        let token = token.child_token();
        let opened =
            options.open(self.output.format, console.clone(), Arc::new(how_to_grant), token.clone(), None).await?;
        let OpenSession {
            telemetry: _telemetry, recording: _recording, servers: _servers, runner, mut session, ..
        } = opened;
        if let Some(id) = session.context().session() {
            jobs.set_session(due, id).await?;
        }
        runner.run_collecting(&mut session, RunInput::Prompt(prompt), token, hints).await
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

/// Returns the hint about refused targets of a job.
fn how_to_grant(&Ungranted { needed, first: made, .. }: &Ungranted<'_>) -> String {
    let is_beyond = |target: &&Target| refusal::is_beyond(made, [*target]);
    let beyond: Vec<_> = needed.iter().filter(is_beyond).cloned().collect();
    // A job keeps no consent of the session that made it, so a grant is all that counts there.
    let asks = |target: &&Target| !is_beyond(target) || policy::always_asks(target);
    let asking: Vec<_> = needed.iter().filter(asks).cloned().collect();
    let add = format!("add {} to `cron run`", policy::consenting_flags(&asking));
    if beyond.is_empty() {
        return format!("to allow it in jobs, {add}");
    }
    let anew = format!("make it anew in a session with {}", policy::flags(&beyond, |_| "--grant"));
    let add = if asking.is_empty() { String::new() } else { format!(", and {add}") };
    format!("the job keeps to the grant under which it was made; {anew}{add}")
}
