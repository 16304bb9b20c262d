//! `cron run`

use std::cell::OnceCell;
use std::sync::Arc;

use host::sessions::{SessionEnd, SessionInput, Sessions};
use host::{Arguments, CommandContext, CommandError, Exit, program};
use serde_json::Value;
use tools::{CancellationToken, ToolCall, counted};

use super::job_scope::JobScope;
use crate::job::{DueRun, Job, Outcome, RunEnd, Work};
use crate::jobs::Jobs;
use crate::serve::{JobServer, POLL, SystemClock};

/// Runs the jobs that are due: those of now, or all until the command has to end.
pub(super) async fn run(
    arguments: &Arguments,
    cx: &dyn CommandContext,
) -> Result<Exit, CommandError> {
    let is_once = arguments.is_given("once");
    let token = cx.interruption()?;
    let jobs = Jobs::of_user(cx.workspace()?)?;
    let sessions = cx.sessions()?;
    let settings = sessions.settings(None).await?;
    if !is_once {
        // A server says at its start what it could not run later.
        if sessions.has_provider(&settings) {
            sessions.check_model(&settings)?;
        }
        for job in jobs.list().await?.iter().flatten() {
            if !job.is_paused {
                check(&*sessions, job).await?;
            }
        }
    }
    let failed = OnceCell::new();
    let ending = token.child_token();
    let mut exit = Exit::Success;
    // Before a job is taken, so that no run is used up that could not begin.
    let check = async |job: &Job| {
        let Err(error) = check(&*sessions, job).await else {
            return true;
        };
        cx.note(&format!("job {} stays due", job.id));
        let _ = failed.set(error);
        false
    };
    let mut server = JobServer {
        jobs: &jobs,
        clock: SystemClock,
        poll: POLL,
        check,
    };
    let mut run = async |due: &DueRun| {
        cx.note(&format!("job {}, due at {}", due.job.id, due.due));
        let (end, output) = run_job(&*sessions, &jobs, due, &token).await;
        // The hints about refused calls are printed already.
        let reason = end.note.as_ref().filter(|_| end.outcome == Outcome::Failed);
        let reason = reason.map(|note| format!("; {note}")).unwrap_or_default();
        cx.note(&format!("job {}: {}{reason}", due.job.id, end.outcome));
        exit = exit_after(exit, end.outcome);
        if let Err(error) = output {
            // The next runs are left to a server that can write its output.
            let _ = failed.set(error);
            ending.cancel();
        }
        end
    };
    if is_once {
        let served = server.serve_due(&ending, &mut run).await?;
        if served.unreadable > 0 {
            let jobs = counted(served.unreadable as u64, "job");
            let program = program::name();
            cx.warn(&format!(
                "paused {jobs} that cannot be read; {program} cron log has the reason"
            ));
            exit = exit_after(exit, Outcome::Failed);
        }
        return failed.into_inner().map_or(Ok(exit), Err);
    }
    let program = program::name();
    cx.note(&format!(
        "serving the jobs of this workspace until Ctrl-C; {program} cron list shows them"
    ));
    server.serve(&ending, run).await?;
    failed.into_inner().map_or(Ok(Exit::Success), Err)
}

/// Checks the settings of today, and the provider that a run of the job would have.
///
/// # Errors
/// Returns the error that opening its session would return.
async fn check(sessions: &dyn Sessions, job: &Job) -> Result<(), CommandError> {
    let scope = JobScope(job.clone());
    let settings = sessions.settings(Some(Arc::new(scope))).await?;
    sessions.check_model(&settings)
}

/// Runs a job. Returns the error of the output too, without which the run goes on.
async fn run_job(
    sessions: &dyn Sessions,
    jobs: &Jobs,
    due: &DueRun,
    token: &CancellationToken,
) -> (RunEnd, Result<(), CommandError>) {
    let run = run_session(sessions, jobs, due, token).await;
    let end = run.unwrap_or_else(SessionEnd::failed);
    let (outcome, error) = match end.answer {
        Err(error) if error.exit == Exit::Cancelled => (Outcome::CutOff, None),
        Err(error) => (Outcome::Failed, Some(error.to_string())),
        Ok(_) if !end.hints.is_empty() => (Outcome::Refused, None),
        Ok(_) => match end.failure {
            None => (Outcome::Done, None),
            Some(failure) => (Outcome::Failed, Some(format!("the call failed: {failure}"))),
        },
    };
    let notes = error.into_iter().chain(end.protected).chain(end.hints);
    let notes: Vec<_> = notes.collect();
    let note = (!notes.is_empty()).then(|| notes.join("; "));
    (RunEnd { outcome, note }, end.output)
}

/// Runs the session of a job. Settings are read anew, so that they hold from the next run on.
async fn run_session(
    sessions: &dyn Sessions,
    jobs: &Jobs,
    due: &DueRun,
    token: &CancellationToken,
) -> Result<SessionEnd, CommandError> {
    let input = match due.job.spec.work.clone() {
        Work::Prompt(prompt) => SessionInput::Prompt(prompt),
        Work::Call { tool, arguments } => {
            SessionInput::Call(ToolCall::new("1", tool, Value::Object(arguments)))
        }
    };
    let scope = Arc::new(JobScope(due.job.clone()));
    let mut session = sessions.open(scope, token.clone()).await?;
    jobs.set_session(due, session.context().session()).await?;
    let end = session.run(input).await?;
    if !session.is_stored().await {
        // A session without a prompt is removed, and the next one may have its ID.
        jobs.set_session(due, None).await?;
    }
    Ok(end)
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
